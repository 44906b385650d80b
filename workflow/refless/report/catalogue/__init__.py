"""The catalogue: what each table and figure is called, and how it is shown.

Stage: none. One YAML file a paper in this folder; an entry is a table or a figure. From it come the
named targets, the outputs of rules, the report's contents, and the Markdown and HTML of a table. A
new table is one function, one entry here, one rule.
"""

from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BeforeValidator, ConfigDict
from pydantic.dataclasses import dataclass

KNOWN = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=KNOWN)
class Column:
    """How one column is shown. A column ``x`` brings ``x_low``, ``x_high`` and ``paper_x`` along.

    label : its heading; by default its name with blanks
    digits : after the point, for numbers; or the column whose value tells by its own how many
    star : a column that is 1 where a star is put
    code : whether it is a name of code
    """

    label: str = ""
    digits: int | str | None = None
    star: str = ""
    code: bool = False


Columns = dict[str, Annotated[Column, BeforeValidator(lambda told: told or {})]]


@dataclass(frozen=True, config=KNOWN)
class Section:
    """One part of a table.

    title : its heading; ``{value}`` is the value of ``by``
    where : column -> values of the rows that it has
    by : a column; the section is repeated for each of its values
    columns : in place of the entry's
    """

    title: str = ""
    where: dict[str, list[str]] = field(default_factory=dict)
    by: str = ""
    columns: Columns = field(default_factory=dict)


@dataclass(frozen=True, config=KNOWN)
class Entry:
    """One table or figure.

    paper : under which it stands in the report
    item, content : e.g. ``table 1``; what is in it, in a few words
    caption : what a row is and what the columns are, in at most 60 words; ``{name}`` is filled in
        with facts of the run
    figure, table : which of them it is; an entry may be both, under one name
    paper_row : of a table with published values: the columns that name a row
    repeats : its published columns that are another table's: they count once
    columns : of a table, those that are shown; others are in the CSV alone
    sections : of a table; by default one with all rows
    """

    name: str
    paper: str
    item: str
    content: str
    caption: str = ""
    figure: bool = False
    table: bool = True
    paper_row: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    columns: Columns = field(default_factory=dict)
    sections: tuple[Section, ...] = (Section(),)

    @property
    def title(self) -> str:
        """The heading, e.g. ``BLEU Neighbors, table 1: models and annotators``."""
        return f"{self.paper}, {self.item}: {self.content}"


@cache
def catalogue() -> dict[str, Entry]:
    """Every entry by name, paper by paper, in the order of the files."""
    entries: dict[str, Any] = {}
    for path in sorted(Path(__file__).parent.glob("*.yaml")):
        entries |= yaml.safe_load(path.read_text(encoding="utf-8"))
    return {name: Entry(name=name, **told) for name, told in entries.items()}
