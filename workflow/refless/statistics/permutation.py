"""p of a correlation by permutations, for few pairs or many ties.

Stage: cell. In: numbers. Out: p. Student's t says 0 of six pairs whose ranks are opposite; of their
720 orders, 8 are as good where two values of each side are shared by two.
"""

import numpy as np

Array = np.ndarray

PERMUTATIONS = 9999
"""Random ones, where there are more than so many orders: from 8 pairs on."""
FEW = 50
"""Pairs below which a table takes p from here."""


def correlation_p(x: Array, y: Array, ranks: bool = True, seed: int = 0) -> float:
    """Two-sided p that two sides have nothing to do with each other: the share of the orders of one
    side in which Spearman's rho, or Pearson's r, is as far from 0 as it is.

    x, y : float64 (n,); NaN with fewer than 3 pairs, where one side is constant, or has a NaN
    ranks : Spearman's rho, else Pearson's r
    seed : of `PERMUTATIONS` random orders, which are taken if there are more; the order that is
        there counts as one of them, so that p is never 0

    Source: Phipson and Smyth (2010), "Permutation p-values should never be zero".

    Of two values that are shared by two, 2 * 2 orders do not change anything; another 4 turn the
    ranks around, and 8 / 720 is 0.011:

    >>> values = np.array([1.0, 2, 2, 3, 3, 4])
    >>> round(correlation_p(values, -values), 3)
    0.011
    """
    from scipy.stats import permutation_test, rankdata

    if len(x) < 3 or not (np.ptp(x) > 0 and np.ptp(y) > 0):  # no range: a NaN
        return float("nan")
    first = rankdata(x) if ranks else x
    second = rankdata(y) if ranks else y
    first = first - first.mean()
    second = second - second.mean()

    def product(permuted: Array, axis: int) -> Array:
        """What orders differ in of a correlation."""
        return np.asarray(np.abs((permuted * second).sum(axis=axis)))

    test = permutation_test(
        (first,),
        product,
        permutation_type="pairings",
        alternative="greater",
        n_resamples=PERMUTATIONS,
        rng=np.random.default_rng([seed, 7]),
    )
    return float(test.pvalue)
