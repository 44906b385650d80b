"""Results of two papers that nobody wrote, for tests of the report."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from refless.report import page, tables
from refless.report.catalogue import Column, Entry
from refless.report.published import beside_published
from refless.store import signed
from refless.store.beside import write_beside
from refless.store.files import file_sum

MODELS = ("bleu", "rouge", "<meteor>", "bertscore")
ENTRIES = (
    Entry(
        "first_table1",
        *("First Paper", "table 1", "models & <annotators>", "Intervals from {draws} draws."),
        paper_row=("model", "task"),
        columns={"model": Column(), "rho": Column(digits=3)},
    ),
    Entry("first_wide", "First Paper", "table 2", "more columns than a screen"),
    Entry(
        "first_figure1",
        "First Paper",
        "figure 1",
        "a line",
        "What rises.",
        figure=True,
        table=False,
    ),
    Entry("second_table1", "Second, Paper", "table 1", "nothing published", figure=True),
    Entry("all_cells", "Both", "cells", "all values", "On the line.", figure=True, front=True),
    Entry("all_claims", "Both", "claims", "all claims", "Sentences.", front=True),
)
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 60" width="90pt" height="60pt">'
    '<path d="M0 60 L90 0" stroke="red"/></svg>'
)
ITEMS = [entry.name for entry in ENTRIES] + ["second_table1-drawn", "all_cells-drawn"]
DRAWN = ("first_figure1", "second_table1", "all_cells")
BENCHMARK = "s\tmax_rss\tcpu_time\n{}\t50.0\t1.0\n"


def table1() -> pd.DataFrame:
    """Two readings of each cell, one model without numbers."""
    random = np.random.default_rng(1)
    keys = [(model, task) for model in MODELS for task in ("chat", "news")]
    published = pd.DataFrame(
        {"model": model, "task": task, "rho": f"0.{i + 1}50"}
        for i, (model, task) in enumerate(keys)
    )
    rows = []
    for model, task in keys:
        for reading in ("published", "exact"):
            rho = np.nan if model == "bertscore" else random.uniform(0, 0.9)
            one = {"model": model, "task": task, "reading": reading, "rho": rho}
            one |= {"rho_low": rho - 0.2, "rho_high": rho + 0.2}
            rows.append(one | {"provenance": "" if np.isnan(rho) else "computed"})
    table = beside_published(pd.DataFrame(rows), published, ["model", "task"], ["rho"])
    return table.assign(note=[["a <note>; with a semicolon"], *[[]] * (len(table) - 1)])


def cells() -> pd.DataFrame:
    """Published values, as the first screen counts them."""
    verdicts = ["equal"] * 5 + ["inside"] * 2 + ["outside"]
    return pd.DataFrame({"agreement": verdicts}).assign(provenance="computed", note=[[]] * 8)


def claims() -> pd.DataFrame:
    """Claims of two papers; one does not hold, two are undecided, one of them without a number."""
    table = pd.DataFrame(
        [
            ("First Paper", "what is <said> holds", "yes", 0.5),
            ("First Paper", "what is <said> does not hold", "no", -0.5),
            ("Second, Paper", "who knows", "undecided", 0.1),
            ("Second, Paper", "who could know", "undecided", None),
        ],
        columns=["paper", "claim", "holds", "value"],
    )
    return table.assign(provenance="computed", note=[[]] * 4)


def wide() -> pd.DataFrame:
    """150 rows and 25 columns, with long notes."""
    random = np.random.default_rng(2)
    table = pd.DataFrame(random.normal(size=(150, 25)), columns=[f"column_{i}" for i in range(25)])
    table.insert(0, "name", [f"row{i % 7}" for i in range(150)])
    return table.assign(provenance="shipped", note=[["many words " * 30]] * 150)


def make_results(folder: Path) -> Path:
    """Tables, figure, benchmark files and texts in a folder, and the report; returns its path."""
    contents = {
        "first_table1": table1(),
        "first_wide": wide(),
        "second_table1": pd.DataFrame({"x": [1.5], "provenance": ["computed"], "note": [[]]}),
        "all_cells": cells(),
        "all_claims": claims(),
    }
    entries = {entry.name: entry for entry in ENTRIES}
    with mock.patch.object(tables, "catalogue", return_value=entries):
        for name, table in contents.items():
            tables.publish(name, table, folder / "tables", missing=[], facts={"draws": 20})
    (folder / "figures").mkdir()
    for name in DRAWN:
        (folder / f"figures/{name}.svg").write_text(SVG, encoding="utf-8")
        (folder / f"figures/{name}.png").write_bytes(b"a picture")
        files = [folder / f"figures/{name}.{kind}" for kind in ("svg", "png")]
        sums = {file.name: file_sum(file) for file in files}
        write_beside(folder / f"figures/{name}.json", {}, sums)
    for rule, seconds in (("fast", 1.0), ("slow", 20.0)):
        path = folder / f"benchmarks/{rule}/one.tsv"
        path.parent.mkdir(parents=True)
        path.write_text(BENCHMARK.format(seconds))
    texts = folder / "ratings/chat/texts.csv"
    about = {"kind": "texts", "of": {"task": "chat"}, "made_from": {"raw.csv": "0123abc"}}
    signed.write(texts, pd.DataFrame({"id": ["1"], "text": ["secret words"]}), about)
    make_page(folder)
    return folder / "report.html"


def make_page(folder: Path, told: dict[str, str] | None = None) -> None:
    """The report of `make_results`."""
    settings = {"mirror": "", "data": {"chat": {"loader": "tidy & <clean>"}}}
    texts = [folder / "ratings/chat/texts.csv"]
    page.make_report(folder, ENTRIES, texts, settings, "computed", told)
