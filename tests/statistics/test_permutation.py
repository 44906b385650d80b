"""p by permutations, against all orders and against Student's t."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from refless.statistics.correlation import spearman
from refless.statistics.permutation import PERMUTATIONS, correlation_p

NAN = float("nan")


@pytest.mark.parametrize("ranks", [True, False])
@pytest.mark.parametrize(
    "x",
    [[1, 2, 2, 3, 3, 4], [1, 1, 1, 2, 2, 9], [5, 1, 4, 2, 3], [0.5, 0.1, 0.2, 0.9, 0.3, 0.4, 8]],
)
def test_few_pairs_are_tried_in_every_order(x, ranks):
    x = np.array(x, float)
    y = np.array([3.0, 1, 2, 2, 7, 0, 1][: len(x)])
    first, second = (stats.rankdata(values) if ranks else values for values in (x, y))
    orders = np.array([*permutations(first)])
    r = stats.pearsonr(np.vstack([first, orders]), second, axis=1).statistic
    as_far = np.abs(r[1:]) >= abs(r[0]) - 1e-12
    assert correlation_p(x, y, ranks) == pytest.approx(np.mean(as_far))


def test_opposite_ranks_of_six_are_not_impossible():
    values = np.array([1.0, 2, 2, 3, 3, 4])
    assert spearman(values, -values)[1] == 0
    assert correlation_p(values, -values) == pytest.approx(8 / 720)


def test_many_pairs_have_about_the_p_of_students_t():
    generator = np.random.default_rng(0)
    x = generator.normal(size=45)
    y = 0.3 * x + generator.normal(size=45)
    p = spearman(x, y)[1]
    assert correlation_p(x, y) == pytest.approx(p, abs=4 * (p / PERMUTATIONS) ** 0.5 + 0.1 * p)
    assert correlation_p(x, y) == correlation_p(x, y)
    assert correlation_p(x, x) == 1 / (PERMUTATIONS + 1)


@pytest.mark.parametrize(
    ("x", "y"), [([1, 2], [2, 1]), ([1, 1, 1], [1, 2, 3]), ([1, 2, NAN, 3], [1, 2, 3, 4])]
)
def test_nothing_to_correlate(x, y):
    assert np.isnan(correlation_p(np.array(x, float), np.array(y, float)))
