"""What was the same here as in each paper, what agreement that lets one expect, and what came out.

Stage: table. In: ``resources/published/properties.yaml``, and the tables of cells, measures and
claims. Out: a row a part of a paper, with its cells by agreement, and a row for the whole paper,
with its findings and the order of its rows.

Source: Belz (2025), "QRA++: Quantified Reproducibility Assessment for Common Types of Results in
Natural Language Processing": properties of an experiment, and P, the share of findings upheld.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from refless.experiments.reproducibility.cells import AGREEMENTS
from refless.experiments.reproducibility.order import PAIR_COUNTS

PROPERTIES = ["data", "code", "folds", "seeds", "schedule", "raters", "encoder"]
STATES = ("same", "other", "unknown", "none")
WHOLE = "all"
"""The row of a whole paper has this in place of the name of a part."""
DIGITS, INTERVAL, ORDER = "digits", "interval", "order"
FINDINGS = ["findings", "upheld", "not_upheld", "undecided", "p_upheld"]
_COLUMNS = [
    *("paper", "part", *PROPERTIES, "expected", "cells", *AGREEMENTS, *FINDINGS, *PAIR_COUNTS),
    *("order_share", "provenance", "reason", "note"),
]
_COUNTS = ["cells", *AGREEMENTS, *FINDINGS[:-1], *PAIR_COUNTS]


def expected_agreement(properties: Mapping[str, str]) -> str:
    """What agreement a part may have at most: the ``digits``, where all that is not code is the
    same; the published number in our ``interval``, where folds, seeds or raters are not the same or
    not known; the ``order`` of rows, where data, encoder or schedule are others.

    >>> expected_agreement(dict.fromkeys(PROPERTIES, "same") | {"folds": "unknown"})
    'interval'
    """
    if any(properties[name] == "other" for name in ("data", "encoder", "schedule")):
        return ORDER
    alike = all(properties[name] in ("same", "none") for name in PROPERTIES if name != "code")
    return DIGITS if alike else INTERVAL


def findings_upheld(holds: Iterable[str]) -> dict[str, float]:
    """`FINDINGS`, from whether each finding of a paper holds: ``yes``, ``no``, ``undecided``, or
    empty where there is no number. P is upheld over upheld and not upheld, NaN without any.

    >>> findings_upheld(["yes", "yes", "no", "undecided", ""])["p_upheld"]
    0.6666666666666666
    """
    answers = list(holds)
    upheld, refuted = answers.count("yes"), answers.count("no")
    counts = len(answers), upheld, refuted, answers.count("undecided")
    decided = upheld + refuted
    share = upheld / decided if decided else float("nan")
    return dict(zip(FINDINGS, (*counts, share), strict=True))


def papers_table(tables: Mapping[str, pd.DataFrame], properties: str | Path) -> pd.DataFrame:
    """A row for each paper, and one for each of its parts.

    tables : by name ``reproducibility``, ``reproducibility_cells`` and ``claims``
    properties : the file of properties, whose head says what they are
    """
    parts = yaml.safe_load(Path(properties).read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = []
    for paper in dict.fromkeys(part["paper"] for part in parts):
        rows.append(_whole(paper, tables))
        for part in (part for part in parts if part["paper"] == paper):
            names = {name: part[name] for name in ("paper", "part", *PROPERTIES, "note")}
            counts = _agreements(cells_of(part, tables["reproducibility_cells"]))
            rows.append(names | {"expected": expected_agreement(part)} | counts)
    table = pd.DataFrame(rows, columns=_COLUMNS)
    texts = dict.fromkeys([*PROPERTIES, "expected", "note"], "")
    return table.fillna(texts).astype(dict.fromkeys(_COUNTS, "Int64"))


def cells_of(part: Mapping[str, Any], cells: pd.DataFrame) -> pd.DataFrame:
    """The cells that belong to a part."""
    chosen = cells["table"].isin(part["tables"])
    if "schedules" in part:
        chosen &= cells["schedule"].fillna("").isin(part["schedules"])
    if "with" in part:
        chosen &= cells["item"].str.contains(part["with"], regex=False)
    if "without" in part:
        chosen &= ~cells["item"].str.contains(part["without"], regex=False)
    return cells[chosen]


def _agreements(cells: pd.DataFrame) -> dict[str, Any]:
    """Return how many cells there are, how many of them agree in which way, and where they come
    from."""
    counts: dict[str, Any] = {word: int((cells["agreement"] == word).sum()) for word in AGREEMENTS}
    origins = [
        origin for origin in ("shipped", "computed") if (cells["provenance"] == origin).any()
    ]
    reasons = dict.fromkeys(cells["reason"]) if len(cells) else ["not_public"]
    return {
        "cells": len(cells),
        **counts,
        "provenance": origins[0] if origins else "",
        "reason": "" if origins else " ".join(filter(None, reasons)),
    }


def _whole(paper: str, tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """The row of a paper: its cells, findings and pairs of rows."""
    measures, claims = tables["reproducibility"], tables["claims"]
    cells = tables["reproducibility_cells"]
    of_paper = measures[measures["paper"] == paper]
    pairs = {name: int(of_paper[name].sum()) for name in PAIR_COUNTS}
    row = {"paper": paper, "part": WHOLE, **_agreements(cells[cells["paper"] == paper])}
    row |= findings_upheld(claims.loc[claims["paper"] == paper, "holds"].fillna(""))
    row |= pairs
    row["order_share"] = pairs["as_published"] / pairs["pairs"] if pairs["pairs"] else None
    if row["findings"] and not row["provenance"]:  # its findings are measured on other data
        row |= {"provenance": "computed", "reason": ""}
    return row
