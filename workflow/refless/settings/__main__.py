"""Print docs/settings.md: every setting, made from the models. Stage: none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from refless.settings import Settings

HEAD = """# Settings

Every setting. This page is made by `python -m refless.settings` from the models in
`workflow/refless/settings`: change a description there and make the page again.

A file of your own (`snakemake --configfile mine.yaml`) or `--config mirror=/data` goes before
`config/config.yaml`, setting by setting. The column Default has what you get if you say nothing.
`<name>` stands for a name of your choice.
"""
CONFIG = Path(__file__).parents[3] / "config/config.yaml"
TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true, false",
    "array": "list",
    "object": "names with values",
}
LIMITS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most"}


def document() -> str:
    """The page, as Markdown."""
    schema = Settings.model_json_schema(by_alias=True)
    values = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    return HEAD + "".join(_section(schema, schema["$defs"], "", values))


def _section(section: dict[str, Any], defs: dict[str, Any], path: str, values: Any) -> list[str]:
    """A heading and a table for a group of settings, then the same for the groups in it."""
    about = " ".join(section["description"].split())
    parts = [
        f"\n## {f'`{path}`' if path else 'At the top'}\n\n{about}\n",
        "\n| Setting | Allowed | Default | Meaning |\n|---|---|---|---|\n",
    ]
    inner: list[str] = []
    for name, own in section["properties"].items():
        own, named = _plain(own, defs)
        group = own if own.get("properties") else None
        value = values.get(name, own.get("default")) if isinstance(values, dict) else None
        value = own.get("default") if value is None else value
        must = name in section.get("required", []) and value is None and not group
        shown = "must be given" if must else "" if group or value is None else f"`{_json(value)}`"
        kind = "settings, see below" if group else _kind(own)
        meaning = " ".join(own.get("description", "").split())
        cells = [f"`{name}`", kind, shown, meaning]
        parts.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n")
        if group:
            below = f"{path}.{name}".lstrip(".") + (".<name>" if named else "")
            inner += _section(group, defs, below, None if named else value)
    return parts + inner


def _plain(own: dict[str, Any], defs: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """What a setting is without references and unions, and whether names stand before it."""
    about = {key: own[key] for key in ("description", "default") if key in own}
    named = False
    while True:
        # the other branch of a union says that there is none
        own = own["anyOf"][0] if "anyOf" in own else own
        if "$ref" in own:
            own = defs[own["$ref"].rpartition("/")[2]]
        elif (inside := own.get("patternProperties") or own.get("additionalProperties")) and (
            "$ref" in str(inside)
        ):
            own, named = next(iter(inside.values())) if "$ref" not in inside else inside, True
        else:
            return own | about, named


def _kind(own: dict[str, Any]) -> str:
    """What a setting may be, in words."""
    if "enum" in own or "const" in own:
        allowed = own.get("enum", [own.get("const")])
        return ", ".join(f"`{value}`" if value else "empty" for value in allowed)
    words = [TYPES.get(own.get("type", ""), "")]
    words += [f"{text} {own[key]:g}" for key, text in LIMITS.items() if key in own]
    if "pattern" in own:
        words.append(f"of the form `{own['pattern']}`")
    return ", ".join(filter(None, words))


def _json(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    print(document(), end="")
