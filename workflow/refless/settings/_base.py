"""What all sections of the configuration share, and how a fault in one is told. Stage: none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic_core import PydanticCustomError

T = TypeVar("T", bound=Hashable)


class Section(BaseModel):
    """A group of settings: no other keys, no NaN, nothing changes after it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known_settings_only(cls, raw: Any) -> Any:
        if isinstance(raw, Mapping):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            for key in raw:
                if key not in known:
                    among = f"known are: {', '.join(known)}" if known else "none is known here"
                    raise ValueError(f".{key} is no setting; {among}")
        return raw


def _no_boolean(value: Any) -> Any:
    """Python takes True for 1; a setting that is true where a number belongs is a mistake."""
    if isinstance(value, bool):
        raise PydanticCustomError("float_type", "no number")
    return value


def _without_repetition(values: list[T]) -> list[T]:
    if len(set(values)) < len(values):
        raise PydanticCustomError("repetition", "without repetition")
    return values


# The check for true and false comes last, so that it is made first.
NO_BOOLEAN = BeforeValidator(_no_boolean)
Count = Annotated[int, Field(ge=1), NO_BOOLEAN]
AtLeastTwo = Annotated[int, Field(ge=2), NO_BOOLEAN]
Seed = Annotated[int, Field(ge=0), NO_BOOLEAN]
Draws = Annotated[int, Field(ge=1000), NO_BOOLEAN]
FewDraws = Annotated[int, Field(ge=100), NO_BOOLEAN]
Tau = Annotated[float, Field(gt=0, le=1), NO_BOOLEAN]
Share = Annotated[float, Field(ge=0, le=1), NO_BOOLEAN]
PositiveShare = Annotated[float, Field(gt=0, le=1), NO_BOOLEAN]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Kernel = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*\.[A-Za-z0-9._-]+$")]

Distinct = Annotated[list[T], AfterValidator(_without_repetition)]
Several = Annotated[list[T], Field(min_length=1), AfterValidator(_without_repetition)]
# What is tried in turn: of what is equally good the first is taken, so that the order must be one.
Grid = Annotated[
    list[T], Field(min_length=1), AfterValidator(_without_repetition), AfterValidator(sorted)
]


def require_known(where: str, named: Sequence[str], known: Sequence[str], what: str) -> None:
    """Make sure that a setting names only what there is.

    Raises
    ------
    ValueError : with the first name that is not among ``known``, of which ``what`` tells the kind.
    """
    for name in named:
        if name not in known:
            raise ValueError(
                f"{where} names {name!r}, which is not among {what} ({', '.join(known)})"
            )


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
