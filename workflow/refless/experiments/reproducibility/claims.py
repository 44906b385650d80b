"""The claims of the papers and of the findings: does the interval lie on the claimed side?

Stage: table. In: ``resources/published/claims.yaml`` and the finished tables with the draws of
their rows. Out: a row a claim: about a value, or about that value ``less`` another row's, on the
draws that both have.

Where several rows fit, those count that cover half of the texts. Of a ``row``, the one with the
best number, with the interval that so many need. Of a ``less``, ``of: every``: the rival that
leaves the least of the claim; ``of: best``: as `refless.evaluation.differences.lead`. ``than``: the
difference is less the same one in rows with these values.

Both rows of a difference are taken with their predictions held fixed, and what other training texts
would add belongs to the difference: as much as the row needs that needs more of it
(`TRAINING_FACTOR`). ``training`` says another factor, 1 for these trained networks.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.evaluation.evaluate import LEAST_COVERAGE
from refless.statistics import IntervalEstimate
from refless.statistics.bootstrap import held_fixed
from refless.statistics.measure import TRAINING_FACTOR, Measure, number

_COLUMNS = [
    "paper",
    "claim",
    "where",
    *Measure("ours").interval,
    "bound",
    "holds",
    "provenance",
    "reason",
]
_SIDES = {"above": 1, "below": -1}
CORRELATIONS = ("pearson", "spearman", "pearson_by_system")
"""Columns whose draws were spread on Fisher's scale."""

_Row = dict[Any, Any]


class Undecidable(Exception):
    """A claim has no number, or none with draws. The message is a word for why."""


def claims_table(
    claims: Iterable[Mapping[str, Any]],
    tables: Mapping[str, pd.DataFrame],
    names: Mapping[str, str],
) -> pd.DataFrame:
    """Return a row for each claim, as `_COLUMNS`.

    claims : by `refless.resources.read_claims`
    tables : by name, by `refless.report.tables.read_table`
    names : what a claim calls a data set, such as the paper's name of it -> its name here
    """
    rows = []
    for claim in claims:
        cells = {
            "paper": claim["paper"],
            "claim": claim["claim"],
            "where": claim["column"],
            "bound": claim.get("bound", 0.0),
            "holds": "",
            "provenance": "",
            "reason": "",
        }
        try:
            used, estimate = _estimate(claim, tables[claim["table"]], names)
        except Undecidable as error:
            rows.append({**cells, "reason": str(error)})
            continue
        sources = {row["provenance"] for row in chain.from_iterable(used)}
        cells["where"] = f"{claim['column']}: {_description(claim, used)}"
        cells["provenance"] = "shipped" if "shipped" in sources else "computed"
        cells["holds"] = claim_holds(estimate, claim["side"], cells["bound"])
        rows.append(cells | Measure("ours").cells(estimate))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _estimate(
    claim: Mapping[str, Any], table: pd.DataFrame, names: Mapping[str, str]
) -> tuple[list[list[_Row]], IntervalEstimate]:
    """Return the rows that decide a claim, those of its ``row`` and those of its ``less``, and its
    number. Raises Undecidable: there is none."""
    if "than" in claim:
        setting = {name: value for name, value in claim.items() if name != "than"}
        other = {**setting, "row": claim["row"] | claim["than"]}
        used, gap = _estimate(setting, table, names)
        tests = len(_matching(table, claim["row"], claim["column"], names))
        return used, _corrected(gap - _estimate(other, table, names)[1], tests)
    column = claim["column"]
    sign = _SIDES[claim["side"]]
    candidates = _matching(table, claim["row"], column, names)
    best = max(candidates, key=lambda row: sign * row[column])
    tests = len(candidates)
    if "less" not in claim:
        return [[best]], _corrected(Measure(column).estimate(best), tests)
    less = dict(claim["less"])
    rule = less.pop("of", "every")
    training = claim.get("training")
    rivals = _matching(table, claim["row"] | less, column, names)
    side = _side(best, column)
    others = [_side(rival, column) for rival in rivals]
    if rule == "best":
        gap = _ahead(side, others, training, or_of_0=True)
        return [[best], rivals], _corrected(gap, tests)
    gaps = [_corrected(_ahead(side, [other], training), tests) for other in others]
    nearest = int(np.argmin([gap.low if sign > 0 else -gap.high for gap in gaps]))
    return [[best], [rivals[nearest]]], gaps[nearest]


def _matching(
    table: pd.DataFrame, values: Mapping[str, Any], column: str, names: Mapping[str, str]
) -> list[_Row]:
    """Return the rows that have a number in a column and certain values in others; where there are
    several, those of them that cover enough texts.

    values : column -> the value that a row must have in it, or a list of such values
    names : what a claim calls a data set -> its name here
    Raises Undecidable: there is none.
    """
    for name, value in values.items():
        words = [str(word) for word in (value if isinstance(value, list) else [value])]
        if name == "dataset":
            words = [names.get(word, word) for word in words]
        table = table[table[name].fillna("").astype(str).isin(words)]
    reasons = [reason for reason in table.get("reason", ()) if reason]
    table = table[table[column].notna()]
    if len(table) > 1 and "coverage" in table:
        table = table[table["coverage"] >= LEAST_COVERAGE]
    if table.empty:
        raise Undecidable(reasons[0] if reasons else "not_configured")
    return table.to_dict("records")


class _Side(NamedTuple):
    """One row of a difference: its number, and how its draws were spread.

    value : the number
    draws : of the number, float64 (draws,)
    factor : how much further the draws spread than with predictions held fixed, for what other
        training texts would add
    fisher : whether they were spread on Fisher's scale
    """

    value: float
    draws: np.ndarray
    factor: float
    fisher: bool

    def held_fixed(self, centred: bool) -> np.ndarray:
        """Return the value, and its draws with predictions held fixed, float64 (1 + draws,). Draws
        that were not spread are as they were drawn, if they need not be ``centred`` on the value.
        """
        if self.factor == 1 and not centred:
            return np.append(self.value, self.draws)
        draws = held_fixed(self.value, self.draws, self.factor, self.fisher)
        return np.append(self.value, draws)


def _side(row: _Row, column: str) -> _Side:
    """Return a row's number in a column, with its draws. Raises Undecidable: it has no draws."""
    estimate = Measure(column).estimate(row)
    if estimate.draws is None:
        raise Undecidable("no_draws")
    factor = number(row.get(TRAINING_FACTOR))
    factor = 1.0 if np.isnan(factor) else factor
    return _Side(estimate.value, estimate.draws, factor, column in CORRELATIONS)


def _ahead(
    side: _Side, rivals: Sequence[_Side], training: float | None, or_of_0: bool = False
) -> IntervalEstimate:
    """Return how far a row is ahead of the greatest of its rivals, on each draw that all have.

    training : the factor by which the difference is spread; None: the greater factor of the row and
        of the rival
    or_of_0 : 0 is one of the rivals, and what is not defined counts as 0

    What is to be spread is centred first, as by `refless.statistics.bootstrap.spread_draws`.
    """
    sides = [side, *rivals]
    centred = training != 1 and any(one.factor != 1 for one in sides)
    rows = [one.held_fixed(centred) for one in sides]
    n = min(map(len, rows))
    factors = [max(side.factor, rival.factor) for rival in rivals]
    values = np.stack([row[:n] for row in rows])
    if or_of_0:
        values = np.nan_to_num(np.append(values, np.zeros((1, n)), axis=0))
        factors.append(side.factor)
    best = values[1:].argmax(axis=0)
    gap = values[0] - values[1 + best, np.arange(n)]
    spread = np.array(factors)[best] if training is None else training
    return IntervalEstimate.of(gap[0], (gap[0] + spread * (gap - gap[0]))[1:])


def _corrected(estimate: IntervalEstimate, tests: int) -> IntervalEstimate:
    """Return a number with the interval that holds for the best of ``tests`` numbers. With one, or
    without draws, it is the number as it came."""
    if tests == 1 or estimate.draws is None:
        return estimate
    return IntervalEstimate.of(estimate.value, estimate.draws, tests)


def _description(claim: Mapping[str, Any], used: list[list[_Row]]) -> str:
    """Return the values that name the row of a claim, and those in which its rivals differ.

    used : rows of the claim, and of its rivals, see `_estimate`
    """
    columns = [name for name in (*claim["row"], *claim.get("less", ())) if name != "of"]
    row, *others = [_joined_values(rows, columns) for rows in used]
    parts = [list(row.values())]
    for other in others:
        parts.append([value for name, value in other.items() if value != row[name]])
    if "than" in claim:
        parts.append([str(value) for value in claim["than"].values()])
    words = []
    for part in parts:
        words.append(", ".join([value for value in part if value not in ("", "nan")]))
    return " less ".join(words)


def _joined_values(rows: Sequence[_Row], columns: Iterable[str]) -> dict[str, str]:
    """Return for each column the different values of the rows, with ``or`` between them."""
    joined = {}
    for name in columns:
        different = dict.fromkeys(str(row[name]) for row in rows)
        joined[name] = " or ".join(different)
    return joined


def claim_holds(estimate: IntervalEstimate, side: str, bound: float = 0.0) -> str:
    """Return whether a number lies on a ``side`` of a bound, ``above`` or ``below``: ``yes`` where
    its interval does, ``no`` where its interval lies on the other side, else ``undecided``.

    >>> claim_holds(IntervalEstimate(0.3, 0.1, 0.5), "above")
    'yes'
    >>> claim_holds(IntervalEstimate(0.3, 0.1, 0.5), "below", bound=0.4)
    'undecided'
    """
    low, high = sorted(_SIDES[side] * (end - bound) for end in (estimate.low, estimate.high))
    if low > 0:
        return "yes"
    return "no" if high < 0 else "undecided"
