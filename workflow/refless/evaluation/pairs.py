"""Every two methods against each other, on the draws that all methods share."""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from refless.evaluation.differences import difference
from refless.evaluation.evaluate import (
    LEAST_COVERAGE,
    LEAST_LEAD,
    LEAST_P,
    LEVEL,
    Comparison,
    criterion,
    difference_p,
    interval_columns,
)
from refless.evaluation.read import Rated
from refless.methods import column_name, is_candidate, is_text_blind
from refless.statistics.measure import Measure
from refless.statistics.multiple_tests import holm

Array = np.ndarray

PAIR_COLUMNS = ["split", "a", "b", *Measure("difference").interval, "p", "p_holm"]
"""``difference`` is r of ``a``, the one ahead over all repeats, less r of ``b``, on those that both
have; p is corrected over all pairs of the split."""


def pair_table(rated: Rated, comparison: Comparison) -> pd.DataFrame:
    """`PAIR_COLUMNS`: every two methods that rank texts and cover half of them, by split; but not
    scores beside the surface, which answer another question."""
    tables = []
    for split in comparison.order:
        measure = criterion(split)
        r = {
            row: draws[measure][0]
            for row, draws in comparison.draws.items()
            if row[0] == split
            and (is_candidate(row[1]) or is_text_blind(row[1]))
            and draws["coverage"][0] >= LEAST_COVERAGE
            and np.isfinite(draws[measure][0])
        }
        best_first = sorted(r, key=lambda row: -r[row])
        # times the number of pairs, it is no more than `LEAST_P`
        least = LEAST_P / max(1, len(r) * (len(r) - 1) // 2)
        rows = []
        for a, b in combinations(best_first, 2):
            first, second = comparison.fixed_draws([a, b])
            gap = difference(first, second, comparison.spread(split))
            p = difference_p(gap, split, rated, least)
            names = {"a": column_name(*a[1:]), "b": column_name(*b[1:])}
            rows.append({"split": split, **names, **interval_columns("difference", gap), "p": p})
        table = pd.DataFrame(rows, columns=PAIR_COLUMNS)
        tables.append(table.assign(p_holm=holm(table["p"])))
    return pd.concat(tables, ignore_index=True)


def significant(pairs: pd.DataFrame) -> Array:
    """Which pairs differ: by p, corrected, and by so much that it is no 0 as it is printed; bool
    (pairs,)."""
    return ((pairs["p_holm"] < LEVEL) & (pairs["difference"].abs() >= LEAST_LEAD)).to_numpy()


def ranks(pairs: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Return for each method of one split the first and the last rank that the pairs leave open.

    pairs : the pairs of one split, in the order of their methods, the best method first

    The best method comes first, with rank 1. Without a test, the answer is empty.
    """
    if not pairs["p_holm"].notna().any():
        return {}
    differ = pairs[significant(pairs)]
    ahead = differ["difference"] > 0
    return rank_ranges(
        list(dict.fromkeys([*pairs["a"], *pairs["b"]])),
        differ["a"].where(ahead, differ["b"]),
        differ["b"].where(ahead, differ["a"]),
    )


def rank_ranges(
    names: Sequence[str], better: Iterable[str], worse: Iterable[str]
) -> dict[str, tuple[int, int]]:
    """The first and the last rank that each of these may have, 1 for the best.

    names : in descending order
    better, worse : of each significant difference, who is better, and who is worse

    Who is better than a better one is better, too, so the range of each begins below those of its
    betters. Of a, b and c, where a is better than b alone, c may be the best or the last:

    >>> rank_ranges("abc", ["a"], ["b"])
    {'a': (1, 2), 'b': (2, 3), 'c': (1, 3)}
    >>> rank_ranges("abc", ["a", "b"], ["b", "c"])
    {'a': (1, 1), 'b': (2, 2), 'c': (3, 3)}
    """
    number_of = {name: number for number, name in enumerate(names)}
    beats = np.zeros((len(names), len(names)), bool)
    beats[[number_of[name] for name in better], [number_of[name] for name in worse]] = True
    for number in range(len(names)):
        beats[:, number] |= beats[:, beats[:, number]].any(axis=1)
    first = 1 + beats.sum(axis=0)
    last = len(names) - beats.sum(axis=1)
    return {name: (int(first[n]), int(last[n])) for name, n in number_of.items()}
