"""Print docs/settings.md: every setting, made from the models; with ``schema``, a JSON Schema of
the same in YAML, workflow/schemas/config.schema.yaml. Stage: none."""

import json
import sys
from pathlib import Path
from typing import Any

import yaml

from refless.settings import Settings

_HEAD = """# Settings

Every setting. This page is made by `python -m refless.settings` from the models in
`workflow/refless/settings`: change a description there and make the page again.

A file of your own (`snakemake --configfile mine.yaml`) or `--config mirror=/data` goes before
`config/config.yaml`, setting by setting. The column Default has what you get if you say nothing.
`<name>` stands for a name of your choice.
"""
_CONFIG = Path(__file__).parents[3] / "config/config.yaml"
_LIMITS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most"}


def document() -> str:
    """The page, as Markdown."""
    schema = Settings.model_json_schema(by_alias=True)
    values = yaml.safe_load(_CONFIG.read_text(encoding="utf-8"))
    return _HEAD + "".join(_section(schema, schema["$defs"], "", values))


def schema() -> str:
    """The schema, as others read it; runs validate with the models alone."""
    head = "# Made by `python -m refless.settings schema`. It documents; the models validate.\n"
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    made = dialect | Settings.model_json_schema(by_alias=True)
    return head + yaml.safe_dump(made, sort_keys=False, allow_unicode=True, width=100)


def _section(section: dict[str, Any], defs: dict[str, Any], path: str, values: Any) -> list[str]:
    """A heading and a table for a group of settings, then the same for the groups in it."""
    title = f"`{path}`" if path else "At the top"
    lines = [f"\n## {title}\n\n{' '.join(section['description'].split())}\n\n"]
    lines.append("| Setting | Value, or its keys | Default | Meaning |\n|---|---|---|---|\n")
    groups: list[str] = []
    for name, field in section["properties"].items():
        schema, named = _resolved(field, defs)
        value = values.get(name) if isinstance(values, dict) else None
        value = field.get("default") if value is None else value
        default = "" if value is None or "properties" in schema else f"`{json.dumps(value)}`"
        if value is None and name in section.get("required", []):
            default = "must be given"
        meaning = field.get("description") or schema.get("description", "")
        lines.append(_row(f"`{name}`", _kind(schema), default, " ".join(meaning.split())))
        if schema.get("properties"):
            below = f"{path}.{name}".lstrip(".") + (".<name>" if named else "")
            groups += _section(schema, defs, below, None if named else value)
    return lines + groups


def _row(*cells: str) -> str:
    """A row of a table of Markdown, in which a stroke within a cell is written as such."""
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |\n"


def _resolved(field: dict[str, Any], defs: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """A setting's schema without references and unions, and whether names stand before it."""
    field = field["anyOf"][0] if "anyOf" in field else field  # the other branch is none
    inside = [*field.get("patternProperties", {}).values(), field.get("additionalProperties")]
    for schema in inside:
        if isinstance(schema, dict) and "$ref" in schema:
            return defs[schema["$ref"].rpartition("/")[2]], True
    return defs[field["$ref"].rpartition("/")[2]] if "$ref" in field else field, False


def _kind(schema: dict[str, Any]) -> str:
    """What a setting may be, in words."""
    if keys := schema.get("properties"):
        return ", ".join(f"`{key}`" for key in keys)
    if schema.get("type") == "object":
        inside = schema.get("additionalProperties", schema.get("patternProperties"))
        return "a value for each name" if inside else "`{}`"
    if schema.get("type") == "array":
        return f"list of {schema['items'].get('type', 'string')}s"
    allowed = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    words = [", ".join(f"`{value}`" if value else "empty" for value in allowed) or schema["type"]]
    words += [f"{text} {schema[key]:g}" for key, text in _LIMITS.items() if key in schema]
    if "pattern" in schema:
        words.append(f"of the form `{schema['pattern']}`")
    return ", ".join(words)


if __name__ == "__main__":
    print(schema() if sys.argv[1:] == ["schema"] else document(), end="")
