"""Print docs/settings.md: every setting, made from the models. Stage: none."""

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
LIMITS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most"}


def document() -> str:
    """The page, as Markdown."""
    schema = Settings.model_json_schema(by_alias=True)
    values = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    return HEAD + "".join(_section(schema, schema["$defs"], "", values))


def _section(section: dict[str, Any], defs: dict[str, Any], path: str, values: Any) -> list[str]:
    """A heading and a table for a group of settings, then the same for the groups in it."""
    title = f"`{path}`" if path else "At the top"
    parts = [f"\n## {title}\n\n{' '.join(section['description'].split())}\n"]
    parts.append("\n| Setting | Allowed | Default | Meaning |\n|---|---|---|---|\n")
    inner: list[str] = []
    for name, own in section["properties"].items():
        about, (own, named) = own, _plain(own, defs)
        value = values.get(name) if isinstance(values, dict) else None
        value = about.get("default") if value is None else value
        meaning = " ".join((about.get("description") or own.get("description", "")).split())
        if own.get("properties"):
            below = f"{path}.{name}".lstrip(".") + (".<name>" if named else "")
            inner += _section(own, defs, below, None if named else value)
        must = value is None and name in section.get("required", [])
        shown = "must be given" if must else "" if value is None else f"`{json.dumps(value)}`"
        cells = [f"`{name}`", _kind(own), "" if own.get("properties") else shown, meaning]
        parts.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n")
    return parts + inner


def _plain(own: dict[str, Any], defs: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """What a setting is without references and unions, and whether names stand before it."""
    own = own["anyOf"][0] if "anyOf" in own else own  # the other branch is none
    inside = own.get("additionalProperties") or {}
    named = list(own.get("patternProperties", {}).values()) + [inside] * isinstance(inside, dict)
    for group in [one for one in named if "$ref" in one]:
        return defs[group["$ref"].rpartition("/")[2]], True
    return defs[own["$ref"].rpartition("/")[2]] if "$ref" in own else own, False


def _kind(own: dict[str, Any]) -> str:
    """What a setting may be, in words."""
    if own.get("properties"):
        return "settings, see below"
    allowed = own.get("enum") or ([own["const"]] if "const" in own else [])
    words = [", ".join(f"`{value}`" if value else "empty" for value in allowed) or own["type"]]
    words += [f"{text} {own[key]:g}" for key, text in LIMITS.items() if key in own]
    return ", ".join([*words, *([f"of the form `{own['pattern']}`"] if "pattern" in own else [])])


if __name__ == "__main__":
    print(document(), end="")
