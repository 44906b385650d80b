"""Both sides of a difference alike: resampled together, subtracted, and then spread."""

import numpy as np
import pytest

from refless.evaluation.differences import FixedDraws, Spread, difference, lead

SPREAD = Spread(by_systems=False, training=1.5, few_units=1.0)


def drawn(values: list[float], learns: bool = False) -> FixedDraws:
    return FixedDraws(np.array(values), np.zeros(len(values) - 1), learns)


def test_the_rival_is_the_best_of_each_draw():
    candidate = drawn([0.5, 0.4, 0.6])
    rivals = [drawn([0.2, 0.3, 0.1]), drawn([0.3, 0.1, np.nan])]
    np.testing.assert_allclose(lead(candidate, rivals, SPREAD), [0.2, 0.1, 0.5])


@pytest.mark.parametrize(("first", "second"), [(False, False), (True, False), (False, True)])
def test_what_learns_spreads_the_difference_once(first, second):
    generator = np.random.default_rng(0)
    a, b = generator.normal(0.5, 0.1, 2001), generator.normal(0.3, 0.1, 2001)
    a[0], b[0] = 0.5, 0.3
    sides = FixedDraws(a, np.zeros(2000), first), FixedDraws(b, np.zeros(2000), second)
    gap = difference(*sides, SPREAD)
    factor = 1.5 if first or second else 1.0
    assert gap[0] == pytest.approx(0.2)
    assert gap[1:].std() == pytest.approx(factor * (a - b)[1:].std())


def test_training_texts_that_systems_share_move_both_sides():
    """What moves both alike moves no difference."""
    moved = np.array([0.1, -0.1])
    spread = Spread(by_systems=True, training=1.5, few_units=1.0)
    a = FixedDraws(np.array([0.5, 0.4, 0.6]), moved, learns=True)
    b = FixedDraws(np.array([0.3, 0.3, 0.3]), moved, learns=True)
    np.testing.assert_allclose(difference(a, b, spread), [0.2, 0.1, 0.3])
    fixed = FixedDraws(b.values, np.zeros(2), learns=False)
    expected = [0.2, 0.1 + 1.25**0.5 * 0.1, 0.3 - 1.25**0.5 * 0.1]
    np.testing.assert_allclose(difference(a, fixed, spread), expected)


def test_what_ranks_nothing_has_0():
    assert lead(drawn([0.2, 0.1]), [FixedDraws.nothing(1)], SPREAD).tolist() == [0.2, 0.1]
    assert lead(drawn([0.2]), [drawn([0.1])], SPREAD).tolist() == pytest.approx([0.1])
