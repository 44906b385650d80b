"""What is wrong with a setting, and what is allowed there, in one line. Stage: none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# pydantic's name of a fault -> what is allowed
ALLOWED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "a text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a group of settings",
    "model_type": "a group of settings",
    "model_attributes_type": "a group of settings",
    "greater_than_equal": "at least {ge}",
    "greater_than": "above {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "below {lt}",
    "literal_error": "one of {expected}",
    "string_pattern_mismatch": "of the form {pattern}",
    "too_short": "at least {min_length} long",
    "too_long": "at most {max_length} long",
    "repetition": "without repetition",
}


def sentence(fault: Mapping[str, Any]) -> str:
    """One of pydantic's faults as a sentence that begins with the setting's path."""
    where = ".".join(str(part) for part in fault["loc"])
    about = fault.get("ctx", {})
    if fault["type"] == "missing":
        return f"{where} is missing; give it a value"
    if fault["type"] == "value_error":
        # of our own validators: the rest of a sentence, or of a path and then of a sentence
        rest = str(about["error"])
        return (where + rest if rest.startswith(".") else f"{where} {rest}").strip(" .")
    if where.endswith(".[key]"):
        where = where.removesuffix(".[key]").rpartition(".")[0]
        return f"{where} has {_shown(fault['input'])}; a name there must be {_allowed(fault)}"
    return f"{where} is {_shown(fault['input'])}; it must be {_allowed(fault)}"


def _allowed(fault: Mapping[str, Any]) -> str:
    known = ALLOWED.get(fault["type"])
    return known.format(**fault.get("ctx", {})) if known else fault["msg"]


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
