"""The report: one HTML file with every table and figure, and where their numbers come from.

Stage: report. In: the catalogue, tables by `refless.report.tables.publish`, figures, the records of
texts. Out: ``report.html``, which opens offline and asks for nothing, and ``run/provenance.json``.
"""

import base64
import hashlib
import importlib.metadata
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from refless.citation import made_by
from refless.code_sums import PACKAGE, code_sum
from refless.experiments.reproducibility.cells import MEASURED, kind_of_measure
from refless.machine import processor
from refless.report.catalogue import Entry
from refless.report.curve_words import WRITERS, sentence_of
from refless.report.fill import as_html
from refless.report.render import VERDICTS, Part, marks_of, meanings_of, page, parts_of
from refless.report.tables import read_table
from refless.report.why import Cause, anchor, causes_of
from refless.store.files import json_text, write_together
from refless.store.records import read_record
from refless.store.sealed import read

SOURCES = ("computed", "shipped", "absent")
FRONT = "reproducibility_cells"
"""What stands on the first screen: a figure, and the verdicts of its table, counted."""
CLAIMS = "claims"
SAMENESS = "reproducibility_papers"
"""The table of what was the same as in the papers."""


@dataclass(frozen=True)
class Item:
    """A table or a figure of the report: the grids of the one, a picture of the other and what its
    curves say."""

    entry: Entry
    id: str
    label: str
    caption: str
    parts: list[Part] = field(default_factory=list)
    picture: str = ""
    sentence: str = ""
    rows: str = ""
    causes: list[Cause] = field(default_factory=list)

    @property
    def anchors(self) -> list[str]:
        """The address of each grid within the page; empty of one that has no id, or that of a grid
        before it."""
        ids = [part.id for part in self.parts]
        return [
            f"{self.id}-{name}" if name and name not in ids[:k] else ""
            for k, name in enumerate(ids)
        ]

    @property
    def meanings(self) -> list[str]:
        """What names in its cells mean: see `meanings_of`."""
        return list(meanings_of(self.parts))

    @property
    def marks(self) -> dict[str, str]:
        """What marks in its cells mean: see `marks_of`."""
        return marks_of(self.parts)


def make_report(
    results: str | Path,
    entries: Iterable[Entry],
    texts: Iterable[str | Path],
    settings: Mapping[str, Any],
    findings: str,
    why: Mapping[str, str],
) -> None:
    """Write the report of a folder of results, and what it says of the run for programs.

    results : has ``tables`` and ``figures``
    entries : what the report has, in this order within a paper
    texts : tables of texts, for the sums of the raw files
    settings : the whole configuration
    findings : what stands on its first screen, in Markdown; if empty, the table `claims` does
    why : by paper, why its numbers and ours differ, in Markdown
    Raises FormatError, StaleError: as `refless.store.sealed.read`.
    Raises OutputError: a file cannot be written.
    """
    results = Path(results)
    entries = list(entries)
    tables = [entry.name for entry in entries if entry.tabulated_by]
    records = {name: read_record(results / f"tables/{name}.csv") for name in tables}
    cells = read_table(results / f"tables/{FRONT}.csv")
    items = {
        item.id: item
        for entry in entries
        for item in _items(entry, results, records, cells, settings)
    }
    front = items.pop(f"{FRONT}-drawn")
    papers: dict[str, list[Item]] = {}
    for item in items.values():
        papers.setdefault(item.entry.paper, []).append(item)
    agreement = cells["agreement"][cells["measure"].map(kind_of_measure).isin(MEASURED)]
    made = made_by()
    html = page(
        papers=papers,
        front=front,
        findings=as_html(findings),
        why={paper: (anchor(paper), as_html(text)) for paper, text in why.items()},
        made=made,
        claims=items[CLAIMS].parts if CLAIMS in items else [],
        sameness=SAMENESS if SAMENESS in items else "",
        places=items[FRONT].anchors if FRONT in items else [],
        counts={verdict: int((agreement == verdict).sum()) for verdict in VERDICTS},
        sources={
            name: sum(
                record["metadata"]["provenance_counts"].get(name, 0) for record in records.values()
            )
            for name in SOURCES
        },
    )
    provenance = {
        **_provenance(made),
        "settings": dict(settings),
        "data": {Path(path).parent.name: read_record(path)["metadata"]["raw"] for path in texts},
        "tables": {
            name: {"files": record["files"]}
            | {key: record["metadata"][key] for key in ("rows", "provenance_counts")}
            for name, record in records.items()
        },
        "files": {"../report.html": hashlib.sha256(html.encode()).hexdigest()},
    }
    page_path = results / "report.html"
    record_path = results / "run/provenance.json"
    write_together({page_path: html, record_path: json_text(provenance)})


def _provenance(made: Mapping[str, str]) -> dict[str, Any]:
    """What was run where: command, code, packages, machine; ``made`` is `made_by`."""
    installed = {d.metadata["Name"].lower(): d.version for d in importlib.metadata.distributions()}
    return {
        "command": made["command"],
        "date": made["date"],
        "code": {
            "refless": made["version"],
            "commit": made["commit"],
            "sha256": code_sum(*sorted(PACKAGE.rglob("*.py"))),
        },
        "python": platform.python_version(),
        "packages": dict(sorted(installed.items())),
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "system": platform.platform(),
        },
    }


def _items(
    entry: Entry,
    results: Path,
    records: Mapping[str, Any],
    cells: pd.DataFrame,
    settings: Mapping[str, Any],
) -> Iterator[Item]:
    """The table and the figure of an entry, or the one that it is; ``cells`` say why numbers of the
    table differ."""
    label = f"{entry.item}: {entry.content}"
    caption = entry.caption
    if entry.tabulated_by:
        table = read_table(results / f"tables/{entry.name}.csv")
        metadata = records[entry.name]["metadata"]
        caption = metadata["caption"]
        parts = parts_of(entry, table, metadata["datasets"])
        counts = (f"{n} {name}" for name, n in metadata["provenance_counts"].items())
        causes = causes_of(cells, entry.name)
        rows = ", ".join(counts)
        yield Item(entry, entry.name, label, caption, parts, rows=rows, causes=causes)
    if entry.drawn_by:
        suffixes = ("-drawn", ", drawn") if entry.tabulated_by else ("", "")
        caption = entry.figure_caption or caption
        stem = results / f"figures/{entry.name}"
        picture = _picture(stem.with_suffix(".svg"))
        sentence = ""
        if entry.name in WRITERS:
            sentence = sentence_of(entry.name, read(stem.with_suffix(".csv")).content, settings)
        name = entry.name + suffixes[0]
        label = label + suffixes[1]
        yield Item(entry, name, label, caption, picture=picture, sentence=sentence)


def _picture(path: Path) -> str:
    """A drawing as an address, if it is the one that was drawn."""
    return f"data:image/svg+xml;base64,{base64.b64encode(read(path).content).decode()}"
