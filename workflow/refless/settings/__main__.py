"""Print docs/settings.md: every setting, made from the models. Stage: none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from refless.settings import Settings

HEAD = """# Settings

Every setting; those that are not in `config/config.yaml` have the default below. This page is made
by `python -m refless.settings` from the models in `workflow/refless/settings`: change a description
there and make the page again.

A file of your own (`snakemake --configfile mine.yaml`) or `--config mirror=/data` goes before
`config/config.yaml`, setting by setting; so the values there, in the column Default, are what you
get if you say nothing. `<name>` stands for a name of your choice.
"""
CONFIG = Path(__file__).parents[3] / "config/config.yaml"
TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true, false",
}
LIMITS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "minLength": "characters at least",
}


def document() -> str:
    """The page, as Markdown."""
    schema = Settings.model_json_schema(by_alias=True)
    values = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    return HEAD + "".join(_section(schema, schema["$defs"], "", values))


def _section(section: dict[str, Any], defs: dict[str, Any], path: str, values: Any) -> list[str]:
    """A heading and a table for a group of settings, then the same for the groups in it."""
    about = " ".join(section.get("description", "").partition("\n\n``")[0].split())
    properties = section.get("properties", {})
    required = section.get("required", [])
    inner: list[str] = []
    if not properties:
        return []
    parts = [
        f"\n## {f'`{path}`' if path else 'At the top'}\n\n{about}\n",
        "\n| Setting | Allowed | Default | Meaning |\n|---|---|---|---|\n",
    ]
    for name, own in properties.items():
        kind, groups = _kind(own, defs)
        value = values.get(name) if isinstance(values, dict) else None
        if value is None and name not in required:
            value = own.get("default")
        meaning = own.get("description") or (groups and groups[0]["description"]) or ""
        shown = "" if groups or value is None else f"`{_value(value)}`"
        if name in required and not groups:
            shown = shown or "must be given"
        cells = [f"`{name}`", kind, shown, meaning.replace("\n", " ")]
        parts.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n")
        for group in groups:
            named = own.get("type") == "object"
            below = f"{path}.{name}".lstrip(".") + (".<name>" if named else "")
            inner += _section(group, defs, below, None if named else value)
    return parts + inner


def _kind(own: dict[str, Any], defs: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """What a setting may be, in words, and the groups of settings that it holds."""
    if "anyOf" in own:
        options = [option for option in own["anyOf"] if option.get("type") != "null"]
        return _kind({**options[0]}, defs)
    if "$ref" in own:
        group = defs[own["$ref"].rpartition("/")[2]]
        return "settings, see below" if "properties" in group else "`{}`", [group]
    if "enum" in own or "const" in own:
        allowed = own.get("enum", [own.get("const")])
        return ", ".join(f"`{value}`" if value else "empty" for value in allowed), []
    if own.get("type") == "array":
        item, _ = _kind(own.get("items", {}), defs)
        low, high = own.get("minItems"), own.get("maxItems")
        size = f" of {low}" if low and low == high else f", {low} or more" if low else ""
        return f"list{size}: {item}", []
    if own.get("type") == "object":
        # under a pattern where names have one
        inside = next(iter(own.get("patternProperties", {}).values()), None)
        inside = inside or own["additionalProperties"]
        if inside is True:
            return "names with anything", []
        item, groups = _kind(inside, defs)
        return f"names, each with: {item}", groups
    words = [TYPES.get(own.get("type", ""), "")]
    words += [f"{text} {own[key]:g}" for key, text in LIMITS.items() if key in own]
    if "pattern" in own:
        words.append(f"of the form `{own['pattern']}`")
    return ", ".join(filter(None, words)), []


def _value(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    print(document(), end="")
