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
DIGITS = "digits"
INTERVAL = "interval"
ORDER = "order"
FINDINGS = ["findings", "upheld", "not_upheld", "undecided", "p_upheld"]
_COLUMNS = [
    "paper",
    "part",
    *PROPERTIES,
    "expected",
    "cells",
    *AGREEMENTS,
    *FINDINGS,
    *PAIR_COUNTS,
    "order_share",
    "provenance",
    "reason",
    "note",
]
_COUNTS = ["cells", *AGREEMENTS, *FINDINGS[:-1], *PAIR_COUNTS]


def expected_agreement(properties: Mapping[str, str]) -> str:
    """Return what agreement a part of a paper may have at most.

    It is ``digits`` where all that is not code is the same; ``interval``, that the published number
    lies in our interval, where folds, seeds or raters are not the same or not known; and ``order``,
    that rows come in the paper's order, where data, encoder or schedule are others.

    properties : each of `PROPERTIES` -> one of `STATES`

    >>> expected_agreement(dict.fromkeys(PROPERTIES, "same") | {"folds": "unknown"})
    'interval'
    """
    if any(properties[name] == "other" for name in ("data", "encoder", "schedule")):
        return ORDER
    alike = all(properties[name] in ("same", "none") for name in PROPERTIES if name != "code")
    return DIGITS if alike else INTERVAL


def findings_upheld(holds: Iterable[str]) -> dict[str, float]:
    """Return how many findings of a paper are upheld, as `FINDINGS`. P is the number of those that
    are upheld over that of those that are upheld or not upheld, NaN without any.

    holds : of each finding ``yes``, ``no``, ``undecided``, or empty where there is no number

    >>> findings_upheld(["yes", "yes", "no", "undecided", ""])["p_upheld"]
    0.6666666666666666
    """
    answers = list(holds)
    upheld = answers.count("yes")
    not_upheld = answers.count("no")
    decided = upheld + not_upheld
    return {
        "findings": len(answers),
        "upheld": upheld,
        "not_upheld": not_upheld,
        "undecided": answers.count("undecided"),
        "p_upheld": upheld / decided if decided else float("nan"),
    }


def papers_table(tables: Mapping[str, pd.DataFrame], properties: str | Path) -> pd.DataFrame:
    """Return a row for each paper, followed by one for each of its parts.

    tables : by name ``reproducibility``, ``reproducibility_cells`` and ``claims``
    properties : the file of properties, whose head says what they are
    """
    parts = yaml.safe_load(Path(properties).read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = []
    for paper in dict.fromkeys(part["paper"] for part in parts):
        rows.append(_whole(paper, tables))
        for part in parts:
            if part["paper"] != paper:
                continue
            row = {name: part[name] for name in ("paper", "part", *PROPERTIES, "note")}
            row["expected"] = expected_agreement(part)
            row |= _agreements(cells_of(part, tables["reproducibility_cells"]))
            rows.append(row)
    table = pd.DataFrame(rows, columns=_COLUMNS)
    texts = dict.fromkeys([*PROPERTIES, "expected", "note"], "")
    return table.fillna(texts).astype(dict.fromkeys(_COUNTS, "Int64"))


def cells_of(part: Mapping[str, Any], cells: pd.DataFrame) -> pd.DataFrame:
    """Return the published cells that belong to a part of a paper.

    part : an entry of the file of properties; its ``tables``, and where it has them its
        ``schedules`` and what the cells' ``item`` is ``with`` or ``without``
    cells : the table ``reproducibility_cells``
    """
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
    counts["cells"] = len(cells)
    for origin in ("shipped", "computed"):
        if (cells["provenance"] == origin).any():
            return {**counts, "provenance": origin, "reason": ""}
    reasons = dict.fromkeys(cells["reason"]) if len(cells) else ["not_public"]
    words = [word for word in reasons if word]
    return {**counts, "provenance": "", "reason": " ".join(words)}


def _whole(paper: str, tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Return the row of a whole paper: its cells, findings and pairs of rows."""
    measures = tables["reproducibility"]
    claims = tables["claims"]
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
