"""Whether rows of a table come in the paper's order.

Stage: table. In: a finished table with published values, and the draws of its rows where there are
any. Out: counts of pairs of rows, by measure.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import pandas as pd

from refless.statistics import IntervalEstimate
from refless.statistics.measure import Measure, published_measures

PAIR_COUNTS = ["pairs", "as_published", "same_order", "other_order", "undecided_order"]


class _Row(NamedTuple):
    """A published value and ours; rows of one ``group`` are compared."""

    group: str
    published: float
    ours: IntervalEstimate


def pairs_in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Return for each measure of a finished table how many pairs of rows come in the paper's order,
    as ``measure`` and `PAIR_COUNTS`.

    pairs : pairs of rows, of one data set where the table has some, that have unequal published
        values, and a value of ours each
    as_published : pairs whose values come in the paper's order, whatever their intervals
    same_order, other_order, undecided_order : pairs whose difference has an interval on the paper's
        side of 0, on the other, or on both; together they are all pairs

    The interval is that of the draws that both rows have. Where one has none, two rows are in order
    if their own intervals do not overlap, which is stricter. What a paper quotes is left out.
    """
    counted = []
    for measure in published_measures(map(str, table)):
        counts = _pair_counts(_compared_rows(table, measure))
        counted.append({"measure": measure.name, **counts})
    return pd.DataFrame(counted, columns=["measure", *PAIR_COUNTS])


def _compared_rows(table: pd.DataFrame, measure: Measure) -> list[_Row]:
    """Return the rows of a table that have a published value of a measure, not quoted from others,
    and one of ours."""
    rows = []
    for row in table.to_dict("records"):
        if row[measure.published] == "" or row.get("reason") == "quoted":
            continue
        ours = measure.estimate(row)
        if not math.isnan(ours.value):
            rows.append(_Row(str(row.get("dataset", "")), float(row[measure.published]), ours))
    return rows


def _pair_counts(rows: Sequence[_Row]) -> dict[str, int]:
    """Return the `PAIR_COUNTS` of some rows."""
    counts = dict.fromkeys(PAIR_COUNTS, 0)
    for one, other in combinations(rows, 2):
        if one.group != other.group or one.published == other.published:
            continue
        lower, higher = sorted((one, other), key=lambda row: row.published)
        gap = _difference(higher.ours, lower.ours)
        counts["pairs"] += 1
        counts["as_published"] += int(gap.value > 0)
        counts[_order(gap)] += 1
    return counts


def _difference(higher: IntervalEstimate, lower: IntervalEstimate) -> IntervalEstimate:
    """Return a number less another, with the interval of the draws that both have. Where one has no
    draws, the interval goes from the least to the greatest difference of the two intervals."""
    if higher.draws is None or lower.draws is None:
        least = higher.low - lower.high
        greatest = higher.high - lower.low
        return IntervalEstimate(higher.value - lower.value, least, greatest)
    return higher - lower


def _order(gap: IntervalEstimate) -> str:
    """Return the word of `PAIR_COUNTS` for a pair: where the interval of the difference lies, the
    row that is higher in the paper less the other one."""
    if gap.low > 0:
        return "same_order"
    return "other_order" if gap.high < 0 else "undecided_order"
