"""The catalogue: what each table and figure is called, and how it is shown.

Stage: none. One YAML file a paper in this folder; an entry is a table or a figure. From it come the
named targets, the outputs of rules, the report's contents, and the Markdown and HTML of a table. A
new table is one function, one entry here, one rule.

An entry has

=========  ======================================================================================
paper      under which it stands in the report
item       e.g. ``table 1``
content    what is in it, in a few words
caption    what one sees, and how to read it; ``{name}`` is filled in with facts of the run that
           makes it. It says what the item shows, never a fixed conclusion.
figure     true for a figure
table      true for a table; by default what is no figure. An entry may be both, under one name
front      true for what stands on the report's first screen: a figure with its table, whose column
           ``agreement`` is counted, or a table of claims (``paper``, ``claim`` and ``holds``)
repeats    true for a table whose published numbers are another table's, or the columns of which
           this is so: they count once
with       the table that the same rule makes, and under whose target it stands
match      of a table: name in a reason's ``of`` -> column, where the two differ
paper_row  of a table with published values: the columns that name a row of the paper; the report
           counts the first row of each. Without it, each row is one of the paper.
columns    of a table: column -> how Markdown shows it (`Column`); others are in the CSV alone
sections   of a table: the parts of its Markdown (`Section`); by default one with all rows
=========  ======================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from refless.errors import FormatError


@dataclass(frozen=True)
class Column:
    """How one column is shown. A column ``x`` brings ``x_low``, ``x_high`` and ``paper_x`` along.

    label : its heading; by default its name with blanks
    digits : after the point, for numbers
    star : a column that is 1 where a star is put
    code : whether it is a name of code
    of : a column with the total, shown as ``12 of 40``
    bare : whether interval and published value are left out
    optional : whether tables that share the columns may lack it
    interval : ``y``, if its interval is that of ``y_low`` and ``y_high``
    """

    label: str = ""
    digits: int | None = None
    star: str = ""
    code: bool = False
    of: str = ""
    bare: bool = False
    optional: bool = False
    interval: str = ""


@dataclass(frozen=True)
class Section:
    """One part of a table's Markdown.

    title : its heading; ``{value}`` is the value of ``by``
    where : column -> value or values of the rows that it has
    first_of, rest_of : only the first row of each group of these columns, or all others
    has : a column that is not empty in the rows that it has
    by : a column; the section is repeated for each of its values
    pivot : ``rows`` (columns that name a line), ``columns`` (the column that goes across) and
        ``value`` (what stands in the cells)
    columns : in place of the entry's
    text : a sentence below the heading
    """

    title: str = ""
    where: dict[str, Any] = field(default_factory=dict)
    first_of: tuple[str, ...] = ()
    rest_of: tuple[str, ...] = ()
    has: str = ""
    by: str = ""
    pivot: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, Column] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class Entry:
    """One table or figure: see this module's text."""

    name: str
    paper: str
    item: str
    content: str
    caption: str = ""
    figure: bool = False
    table: bool = True
    made_with: str = ""
    front: bool = False
    repeats: bool | tuple[str, ...] = False
    match: dict[str, str] = field(default_factory=dict)
    paper_row: tuple[str, ...] = ()
    columns: dict[str, Column] = field(default_factory=dict)
    sections: tuple[Section, ...] = (Section(),)

    @property
    def title(self) -> str:
        """The heading, e.g. ``BLEU Neighbors, table 1: models and annotators``."""
        return f"{self.paper}, {self.item}: {self.content}"

    def every_column(self) -> dict[str, Column]:
        """The columns of the entry and of its sections; the first to name a column decides."""
        parts = (self.columns, *(section.columns for section in self.sections))
        return {name: column for part in reversed(parts) for name, column in part.items()}


@cache
def catalogue() -> dict[str, Entry]:
    """Every entry by name, paper by paper, in the order of the files."""
    found: dict[str, Entry] = {}
    for path in sorted(Path(__file__).parent.glob("*.yaml")):
        for name, raw in yaml.safe_load(path.read_text(encoding="utf-8")).items():
            try:
                found[name] = _entry(name, raw)
            except TypeError as error:  # a key that no field has, or one that is missing
                raise FormatError(
                    f"{name}: {str(error).partition(' ')[2]}",
                    path=path,
                    remedy="the keys of an entry are those that report/catalogue/__init__.py lists",
                ) from error
    return found


def tables() -> list[str]:
    """The names of all tables."""
    return [name for name, entry in catalogue().items() if entry.table]


def figures() -> list[str]:
    """The names of all figures."""
    return [name for name, entry in catalogue().items() if entry.figure]


def _entry(name: str, raw: dict[str, Any]) -> Entry:
    raw = dict(raw)
    raw["caption"] = " ".join(raw.get("caption", "").split())
    raw.setdefault("table", not raw.get("figure", False))
    raw["made_with"] = raw.pop("with", "")
    raw["paper_row"] = tuple(raw.get("paper_row", ()))
    raw["columns"] = _columns(raw.get("columns", {}))
    if "sections" in raw:
        raw["sections"] = tuple(
            Section(**{**section, "columns": _columns(section.get("columns", {}))})
            for section in raw["sections"]
        )
    return Entry(name, **raw)


def _columns(raw: dict[str, Any]) -> dict[str, Column]:
    return {name: Column(**(spec or {})) for name, spec in raw.items()}
