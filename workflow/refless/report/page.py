"""The report: one HTML file with every table and figure, what they cost and where they come from.

Stage: report. In: the catalogue, tables by `refless.report.tables.publish`, figures, the records of
texts, Snakemake's benchmark files. Out: ``report.html``, which opens offline and asks for nothing,
``run/provenance.json`` and ``run/resources.csv``.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from refless.errors import StaleError
from refless.report.catalogue import Entry
from refless.report.tables import read_published, read_record
from refless.report.webpage import VERDICTS, View, read_view, render
from refless.store import inputs, provenance
from refless.store.beside import read_beside, write_beside
from refless.store.files import read_json, write_text
from refless.store.tables import write_table

TITLE = "refless: published numbers beside ours"
ORIGINS = ("computed", "shipped", "not available")
ANSWERS = {"yes": "hold", "no": "do not hold", "undecided": "undecided"}
CLAIM = ("paper", "claim", "holds")
LARGEST_SVG = 1_000_000
"""Bytes of a drawing above which the report has its picture in pixels instead."""


@dataclass(frozen=True)
class Item:
    """A table or a figure of the report.

    id : its name for links inside the page
    label : what it is called below its paper
    view : of a table
    picture : of a figure, an address with the whole picture in it
    """

    entry: Entry
    id: str
    label: str
    caption: str
    view: View | None = None
    picture: str = ""


@dataclass(frozen=True)
class Paper:
    """The items of one paper."""

    name: str
    items: list[Item]

    @property
    def id(self) -> str:
        """Its name for links inside the page."""
        return "paper-" + "".join(c if c.isalnum() else "-" for c in self.name.lower())

    @property
    def shown(self) -> list[Item]:
        """The items below its heading: all but the figures of the first screen."""
        return [item for item in self.items if not (item.entry.front and item.picture)]


def make_report(
    results: str | Path,
    entries: Iterable[Entry],
    texts: Iterable[str | Path],
    settings: Mapping[str, Any],
    numbers: str,
    told: Mapping[str, str] | None = None,
) -> None:
    """Write the report of a folder of results, and what it says of the run for programs.

    Parameters
    ----------
    results : has ``tables``, ``figures`` and ``benchmarks``
    entries : what the report has, in this order within a paper
    texts : tables of texts, for the sums of the raw files
    settings, numbers : see `refless.store.provenance.record`
    told : place of the record of a table or figure -> the sum of what its job would be told now
        (`refless.store.inputs.parameter_sum`)

    Raises
    ------
    FormatError : a file is missing or broken.
    StaleError : a table is not the one that was written, or a figure not the one that was drawn;
        or it was made under other settings, from other inputs or by other code.
    OutputError : a file cannot be written.
    """
    results, entries = Path(results), list(entries)
    _require_told(told or {})
    abouts = {
        entry.name: read_record(results / f"tables/{entry.name}.csv")
        for entry in entries
        if entry.table
    }
    record = provenance.record(settings, numbers, provenance.raw_sums(texts), abouts)
    cost = results / "run/resources.csv"
    of_cost = write_table(provenance.resources(results / "benchmarks"), cost)
    papers: dict[str, list[Item]] = {}
    for entry in entries:
        items = papers.setdefault(entry.paper, [])
        items += _items(entry, results, abouts.get(entry.name, {}).get("caption", entry.caption))
    found = [Paper(name, items) for name, items in papers.items()]
    shown = [item for paper in found for item in paper.shown]
    page = render(
        "report.html",
        title=TITLE,
        papers=found,
        pictures=[item for items in papers.values() for item in items if item not in shown],
        claims=_claims(results, entries),
        counts=_counts(results, entries),
        answers=ANSWERS,
        origins=_sum((about["source"] for about in abouts.values()), ORIGINS),
        resources=read_view(cost),
        record=record,
    )
    sums = {
        "../report.html": write_text(page, results / "report.html"),
        cost.name: of_cost,
    }
    write_beside(results / "run/provenance.json", record, sums)


def _counts(results: Path, entries: Iterable[Entry]) -> dict[str, int]:
    """Verdict -> number of published values, in the tables behind the first screen's figures."""
    tables = (
        read_published(results / f"tables/{entry.name}.csv", ("agreement",))
        for entry in entries
        if entry.front and entry.table and entry.figure
    )
    return _sum(Counter(table["agreement"]) for table in tables)


def _claims(results: Path, entries: Iterable[Entry]) -> dict[str, Any]:
    """The tables of claims on the first screen: name -> how many hold, how many of the
    undecided could not be tested, and which do not hold."""
    found = {}
    for entry in entries:
        if entry.front and entry.table and not entry.figure:
            table = read_published(results / f"tables/{entry.name}.csv", CLAIM)
            holds = table["holds"].value_counts(sort=False)
            empty = table["value"].isna() if "value" in table else pd.Series(False, table.index)
            by_paper = table[table["holds"] == "no"].groupby("paper", sort=False)["claim"]
            found[entry.name] = {
                "number": {answer: int(holds.get(answer, 0)) for answer in ANSWERS},
                "untested": int(empty[table["holds"] == "undecided"].sum()),
                "refuted": {paper: list(claims) for paper, claims in by_paper},
            }
    return found


def _require_told(told: Mapping[str, str]) -> None:
    """Make sure that tables and figures are what their jobs would make now: Snakemake passes over
    a change of settings or code if it is told to (--touch, --rerun-triggers), or if its own memory
    (.snakemake) was left behind.
    """
    for place, value in told.items():
        if Path(place).is_file() and read_json(place).get("told") != value:
            folder = Path(place).parent
            raise StaleError(
                "was made under other settings, or by other code",
                path=place,
                remedy=f"delete all of {folder} that is to be made anew (rm -r {folder}), and run"
                " again",
            )


def _items(entry: Entry, results: Path, caption: str) -> Iterator[Item]:
    """The table and the figure of an entry, or the one that it is."""
    label = f"{entry.item}: {entry.content}"
    if entry.table:
        view = read_view(results / f"tables/{entry.name}.csv", entry)
        yield Item(entry, entry.name, label, caption, view)
    if entry.figure:
        drawn = ("-drawn", ", drawn") if entry.table else ("", "")
        picture = _picture(results / "figures" / entry.name)
        yield Item(entry, entry.name + drawn[0], label + drawn[1], caption, picture=picture)


def _picture(stem: Path) -> str:
    """A figure as an address: its drawing, or its picture where that is too large."""
    kind, content = "svg+xml", _drawn(stem, "svg")
    if len(content) > LARGEST_SVG:
        kind, content = "png", _drawn(stem, "png")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def _drawn(stem: Path, ending: str) -> bytes:
    """One file of a figure, if it is the one that was drawn."""
    path = Path(f"{stem}.{ending}")
    record = read_beside(f"{stem}.json", path.name)
    inputs.require(record["inputs"], path)
    return path.read_bytes()


def _sum(counts: Iterable[Mapping[str, int]], names: Iterable[str] = VERDICTS) -> dict[str, int]:
    """Numbers added up by name."""
    found = list(counts)
    return {name: sum(one.get(name, 0) for one in found) for name in names}
