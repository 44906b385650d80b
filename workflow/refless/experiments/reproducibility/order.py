"""Whether rows of a table come in the paper's order.

Stage: table. In: a finished table with published values, and the draws of its rows where there are
any. Out: counts of pairs of rows, by measure.
"""

from itertools import combinations
from typing import NamedTuple

import pandas as pd

from refless.statistics import IntervalEstimate
from refless.statistics.measure import published_measures

PAIR_COUNTS = ["pairs", "as_published", "same_order", "other_order", "undecided_order"]


class _Row(NamedTuple):
    """A published value and ours; rows of one ``group`` are compared."""

    group: str
    published: float
    ours: IntervalEstimate


def pairs_in_order(table: pd.DataFrame) -> pd.DataFrame:
    """``measure`` and `PAIR_COUNTS` of a finished table: pairs of rows, of one data set where the
    table has some, that have unequal published values, and a value of ours each.

    as_published : pairs whose values come in the paper's order, whatever their intervals
    same_order, other_order, undecided_order : pairs whose difference has an interval on the paper's
        side of 0, on the other, or on both; together all pairs

    The interval is that of the draws that both rows have. Where one has none, two rows are in order
    if their own intervals do not overlap, which is stricter. What a paper quotes is left out.
    """
    counted = []
    for measure in published_measures(map(str, table)):
        rows = [
            _Row(str(row.get("dataset", "")), float(row[measure.published]), measure.estimate(row))
            for row in table.to_dict("records")
            if row[measure.published] != "" and row.get("reason") != "quoted"
        ]
        rows = [row for row in rows if row.ours.value == row.ours.value]
        counts = dict.fromkeys(PAIR_COUNTS, 0)
        for one, other in combinations(rows, 2):
            if one.group == other.group and one.published != other.published:
                lower, higher = sorted((one, other), key=lambda row: row.published)
                gap = _difference(higher.ours, lower.ours)
                counts["pairs"] += 1
                counts["as_published"] += int(gap.value > 0)
                counts[_order(gap)] += 1
        counted.append({"measure": measure.name, **counts})
    return pd.DataFrame(counted, columns=["measure", *PAIR_COUNTS])


def _difference(higher: IntervalEstimate, lower: IntervalEstimate) -> IntervalEstimate:
    if higher.draws is None or lower.draws is None:
        ends = higher.low - lower.high, higher.high - lower.low
        return IntervalEstimate(higher.value - lower.value, *ends)
    return higher - lower


def _order(gap: IntervalEstimate) -> str:
    """Return the word of `PAIR_COUNTS` for a pair: where the interval of the difference lies, the
    row that is higher in the paper less the other one."""
    if gap.low > 0:
        return "same_order"
    return "other_order" if gap.high < 0 else "undecided_order"
