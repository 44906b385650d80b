"""The claims of the papers and of the findings: does the interval lie on the claimed side?

Stage: table. In: ``resources/published/claims.yaml`` and the finished tables with the draws of
their rows. Out: a row a claim: about a value, or about that value ``less`` another row's, on the
draws that both have.

Where several rows fit, those count that cover half of the texts. Of a ``row``, the one with the
best number, with the interval that so many need. Of a ``less``, ``of: every``: the rival that
leaves the least of the claim; ``of: best``: as `refless.evaluation.evaluate.lead`. ``than``: the
difference is less the same one in rows with these values.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from refless.evaluation.evaluate import LEAST_COVERAGE
from refless.statistics import IntervalEstimate
from refless.statistics.measure import Measure

_COLUMNS = [
    *("paper", "claim", "where", *Measure("ours").interval, "bound", "holds"),
    *("provenance", "reason"),
]
_SIDES = {"above": 1, "below": -1}

_Row = dict[Any, Any]


class Undecidable(Exception):
    """A claim has no number, or none with draws; a word of why."""


def claims_table(
    claims: Iterable[Mapping[str, Any]],
    tables: Mapping[str, pd.DataFrame],
    names: Mapping[str, str],
) -> pd.DataFrame:
    """A row a claim, as `_COLUMNS`.

    tables : by name, by `refless.report.tables.read_table`
    names : what a claim calls a data set, such as the paper's name of it -> its name here
    """
    rows = []
    for claim in claims:
        cells = {"paper": claim["paper"], "claim": claim["claim"], "bound": claim.get("bound", 0.0)}
        cells |= {"holds": "", "provenance": "", "reason": "", "where": claim["column"]}
        try:
            used, estimate = _estimate(claim, tables[claim["table"]], names)
        except Undecidable as error:
            rows.append({**cells, "reason": str(error)})
            continue
        sources = {row["provenance"] for rows_of in used for row in rows_of}
        cells["where"] = f"{claim['column']}: {_description(claim, used)}"
        cells["provenance"] = "shipped" if "shipped" in sources else "computed"
        cells["holds"] = claim_holds(estimate, claim["side"], cells["bound"])
        rows.append(cells | Measure("ours").cells(estimate))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _estimate(
    claim: Mapping[str, Any], table: pd.DataFrame, names: Mapping[str, str]
) -> tuple[list[list[_Row]], IntervalEstimate]:
    """The rows that decide a claim, and its number. Raises Undecidable: there is none."""
    if "than" in claim:
        setting = {name: value for name, value in claim.items() if name != "than"}
        other = {**setting, "row": claim["row"] | claim["than"]}
        used, gap = _estimate(setting, table, names)
        tests = len(_matching(table, claim["row"], claim["column"], names))
        return used, _corrected(gap - _estimate(other, table, names)[1], tests)
    column, sign = claim["column"], _SIDES[claim["side"]]
    candidates = _matching(table, claim["row"], column, names)
    best = max(candidates, key=lambda row: sign * row[column])
    tests, estimate = len(candidates), Measure(column).estimate(best)
    if "less" not in claim:
        return [[best]], _corrected(estimate, tests)
    less = dict(claim["less"])
    rule = less.pop("of", "every")
    rivals = _matching(table, claim["row"] | less, column, names)
    others = [Measure(column).estimate(rival) for rival in rivals]
    if rule == "best":
        values = _lead(_with_draws(estimate), [_with_draws(other) for other in others])
        return [[best], rivals], _corrected(IntervalEstimate.of(values[0], values[1:]), tests)
    gaps = [_corrected(estimate - other, tests) for other in others]
    if any(gap.draws is None for gap in gaps):
        raise Undecidable("no_draws")
    nearest = int(np.argmin([gap.low if sign > 0 else -gap.high for gap in gaps]))
    return [[best], [rivals[nearest]]], gaps[nearest]


def _matching(
    table: pd.DataFrame, values: Mapping[str, Any], column: str, names: Mapping[str, str]
) -> list[_Row]:
    """The rows with these values that have a number, and of several those that cover enough texts.
    Raises Undecidable: there is none."""
    for name, value in values.items():
        words = [str(each) for each in (value if isinstance(value, list) else [value])]
        words = [names.get(word, word) if name == "dataset" else word for word in words]
        table = table[table[name].fillna("").astype(str).isin(words)]
    reasons = [reason for reason in table.get("reason", ()) if reason]
    table = table[table[column].notna()]
    if len(table) > 1 and "coverage" in table:
        table = table[table["coverage"] >= LEAST_COVERAGE]
    if table.empty:
        raise Undecidable(reasons[0] if reasons else "not_configured")
    return table.to_dict("records")


def _with_draws(estimate: IntervalEstimate) -> np.ndarray:
    """The value and then the draws, shape (1 + draws,). Raises Undecidable: there are none."""
    if estimate.draws is None:
        raise Undecidable("no_draws")
    return np.append(estimate.value, estimate.draws)


def _lead(values: np.ndarray, rivals: Sequence[np.ndarray]) -> np.ndarray:
    """How far a number is ahead of the best of its rivals, or of 0, and on each draw of those that
    are the best there, float64 (1 + draws,)."""
    best = np.maximum(np.nan_to_num(np.stack(rivals)).max(axis=0), 0)
    return np.nan_to_num(values) - best


def _corrected(estimate: IntervalEstimate, tests: int) -> IntervalEstimate:
    """With the interval of the best of so many."""
    if tests == 1 or estimate.draws is None:
        return estimate
    return IntervalEstimate.of(estimate.value, estimate.draws, tests)


def _description(claim: Mapping[str, Any], used: list[list[_Row]]) -> str:
    """The values that name the row, and those in which others differ."""
    row, *others = (
        {
            name: " or ".join(dict.fromkeys(str(row[name]) for row in rows))
            for name in (*claim["row"], *claim.get("less", ()))
            if name != "of"
        }
        for rows in used
    )
    parts = [[*row.values()]]
    parts += [[value for name, value in other.items() if value != row[name]] for other in others]
    parts += [[str(value) for value in claim["than"].values()]] if "than" in claim else []
    words = (", ".join(value for value in part if value not in ("", "nan")) for part in parts)
    return " less ".join(words)


def claim_holds(estimate: IntervalEstimate, side: str, bound: float = 0.0) -> str:
    """``yes``: the interval lies on the side of the bound; ``no``: on the other; ``undecided``."""
    low, high = sorted(_SIDES[side] * (end - bound) for end in (estimate.low, estimate.high))
    return "yes" if low > 0 else "no" if high < 0 else "undecided"
