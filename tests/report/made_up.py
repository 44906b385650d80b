"""Results of two papers that nobody wrote, for tests of the report."""

from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from refless.experiments.published import beside_published
from refless.report import page, tables
from refless.report.catalogue import Column, Entry
from refless.store import sealed

MODELS = ("bleu", "rouge", "<meteor>", "bertscore")
WIDE = [f"column_{i}" for i in range(25)]
ENTRIES = (
    Entry(
        "first_table1",
        *("First Paper", "table 1", "models & <annotators>", "Intervals from {draws} draws."),
        tabulated_by="some.function",
        paper_row=("model", "dataset"),
        columns={"model": Column(), "dataset": Column(), "rho": Column(digits=3, full=True)},
    ),
    Entry(
        "first_wide",
        *("First Paper", "table 2", "more columns than a screen"),
        tabulated_by="some.function",
        columns={"name": Column(), **{name: Column(digits=2) for name in WIDE}},
    ),
    Entry(
        "first_figure1",
        *("First Paper", "figure 1", "a line", "What rises."),
        drawn_by="some.function",
    ),
    Entry(
        *("claims", "Both", "claims", "what holds"),
        tabulated_by="some.function",
        columns={"claim": Column()},
    ),
    Entry(
        *("reproducibility_cells", "Both", "cells", "all values", "At 0."),
        tabulated_by="some.function",
        drawn_by="some.function",
        columns={"agreement": Column()},
    ),
)
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 60" width="90pt" height="60pt">'
    '<path d="M0 60 L90 0" stroke="red"/></svg>'
)
ITEMS = [entry.name for entry in ENTRIES] + ["reproducibility_cells-drawn"]


def table1() -> pd.DataFrame:
    """A row a cell; one model and one data set without numbers."""
    random = np.random.default_rng(1)
    keys = [(model, dataset) for dataset in ("lost", "chat", "news") for model in MODELS]
    table = pd.DataFrame(keys, columns=["model", "dataset"])
    table["rho"] = random.uniform(0, 0.9, len(table))
    absent = (table["model"] == "bertscore") | (table["dataset"] == "lost")
    table["rho"] = table["rho"].mask(absent)
    table = table.assign(rho_low=table["rho"] - 0.2, rho_high=table["rho"] + 0.2)
    published = table[["model", "dataset"]].assign(rho=[f"0.{i}50" for i in range(len(table))])
    table = beside_published(table, published, ["model", "dataset"], ["rho"])
    return table.assign(provenance=absent.map({True: "", False: "computed"}))


def wide() -> pd.DataFrame:
    random = np.random.default_rng(2)
    table = pd.DataFrame(random.normal(size=(150, 25)), columns=WIDE)
    table.insert(0, "name", [f"row{i % 7}" for i in range(150)])
    return table.assign(provenance="shipped")


def make_results(folder: Path) -> Path:
    """Tables, figures and texts in a folder, and the report; returns its path."""
    verdicts = ["equal"] * 5 + ["inside"] * 2 + ["outside"]
    cells = pd.DataFrame({"agreement": verdicts}).assign(measure="mse", provenance="computed")
    cells = cells.assign(
        table="first_table1", explanation=[""] * 5 + ["may_be_chance"] * 2 + ["not_known"]
    )
    claims = pd.DataFrame({"claim": ["what rises, it is claimed"], "provenance": ["computed"]})
    contents = {"first_table1": table1(), "first_wide": wide()}
    contents |= {"reproducibility_cells": cells, "claims": claims}
    entries = {entry.name: entry for entry in ENTRIES}
    with mock.patch.object(tables, "catalogue", return_value=entries):
        for name, table in contents.items():
            tables.publish(name, table, folder / "tables", facts={"draws": 20})
    for name in ("first_figure1", "reproducibility_cells"):
        sealed.write_sidecar({folder / f"figures/{name}.svg": SVG.encode()}, {})
    texts = folder / "ratings/chat/texts.csv"
    metadata = {"raw": {"raw.csv": "0123abc"}}
    sealed.write(texts, pd.DataFrame({"id": ["1"], "text": ["secret words"]}), metadata)
    make_page(folder)
    return folder / "report.html"


def make_page(folder: Path, findings: str = "**It works.**") -> None:
    texts = [folder / "ratings/chat/texts.csv"]
    why = {"First Paper": "We *tried* it."}
    page.make_report(folder, ENTRIES, texts, {"mirror": ""}, findings, why)
