"""The catalogue: what each table and figure is called, what makes it, and how it is shown.

Stage: none. One YAML file a paper in this folder; an entry is a table or a figure. From it come the
named targets, the outputs of rules, the report's contents, and the Markdown and HTML of a table. A
new table is one function, one entry here, one rule.
"""

from collections.abc import Callable
from dataclasses import field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict
from pydantic.dataclasses import dataclass

from refless.resources import read_yaml

KNOWN = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=KNOWN)
class Column:
    """How one column is shown: as names, or as numbers, which have ``digits``."""

    label: str = ""  # its heading; by default its name with blanks
    join: tuple[str, ...] = ()  # further columns of names, behind a comma
    row_of: str = ""  # the column that says which table's row the value names
    mark: str = ""  # a column that is 1 where a name gets a †
    digits: int | str | None = None  # after the point; or a column whose value has as many
    full: bool = False  # with the difference from the paper's value, and the 95% interval
    star: bool = False  # it is 1 where the paper has a star
    p: bool = False  # a p-value
    paper: str = ""  # the column of the paper's values; by default ``paper_<name>``

    @property
    def names(self) -> bool:
        """Whether it holds names."""
        return self.digits is None and not self.star


Columns = dict[str, Annotated[Column, BeforeValidator(lambda entry: entry or {})]]


@dataclass(frozen=True, config=KNOWN)
class RowGroup:
    """Some rows of a grid, below a line of their own."""

    title: str = ""  # what the line says; without one there is no line
    where: dict[str, list[str]] = field(default_factory=dict)  # column -> values of the rows
    printed: bool | None = None  # whether the paper prints something in them; None: either


PAPER_FIRST = (RowGroup(printed=True), RowGroup("Not in the paper"))


@dataclass(frozen=True, config=KNOWN)
class Section:
    """One grid of a table."""

    title: str = ""  # ``{value}`` is the name of the value of ``by``
    id: str = ""  # by which the report links to it, behind the name of the table
    where: dict[str, list[str]] = field(default_factory=dict)  # column -> values of the rows
    by: str = ""  # a column; the grid is repeated for each of its values
    across: str = ""  # a column whose values stand side by side, each with its numbers
    columns: Columns = field(default_factory=dict)  # in place of the entry's
    rows: tuple[RowGroup, ...] = ()


@dataclass(frozen=True, config=KNOWN)
class Entry:
    """One table or figure; or both, under one name."""

    name: str
    paper: str  # under which it stands in the report
    item: str  # e.g. ``table 1``
    content: str  # what is in it, in a few words
    caption: str = ""  # in at most 60 words; ``{name}`` is filled in with facts of the run
    figure_caption: str = ""  # of the figure; by default the same
    tabulated_by: str = ""  # the function of the library that makes the table
    drawn_by: str = ""  # the function that draws the figure
    paper_row: tuple[str, ...] = ()  # columns that name a row with published values
    repeats: tuple[str, ...] = ()  # published columns that are another table's: they count once
    aside: tuple[str, ...] = ()  # columns that stand in the record and not in the CSV
    columns: Columns = field(default_factory=dict)  # those shown; others are in the CSV alone
    sections: tuple[Section, ...] = (Section(),)  # its grids; by default one with all rows

    @property
    def title(self) -> str:
        """The heading, e.g. ``BLEU Neighbors, table 1: models and annotators``."""
        return f"{self.paper}, {self.item}: {self.content}"


@cache
def catalogue() -> dict[str, Entry]:
    """Every entry by name, paper by paper, in the order of the files."""
    entries: dict[str, Any] = {}
    for path in sorted(Path(__file__).parent.glob("*.yaml")):
        entries |= read_yaml(path)
    return {name: Entry(name=name, **fields) for name, fields in entries.items()}


def module_of(function: str) -> str:
    """The file, below the package, of a function by its module and its own name."""
    return function.rpartition(".")[0].replace(".", "/") + ".py"


def function_of(name: str) -> Callable[..., Any]:
    """The function that an entry names by its module and its own name."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"refless.{module}"), function)
