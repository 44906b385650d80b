"""CV* and Krippendorff's alpha: what others have published, and what can be worked out by hand."""

import numpy as np
import pytest

from refless.statistics.reliability import krippendorff_alpha
from refless.statistics.variation import variation, variation_of

NAN = np.nan


@pytest.mark.parametrize(
    ("original", "again", "published"),
    [
        (58, 57.0, "0.633"),
        (-6, 26 / 18, "7.595"),
        (-12, -242 / 18, "1.650"),
        (-39, -45.0, "10.314"),
    ],
)
def test_cv_is_what_others_print(original, again, published):
    """Best-worst scores from -100 to 100 of four systems, as published and as reproduced by
    github.com/mo-arvan/reprohum-0744-02 (results/lab1/tables/cv_summary.csv)."""
    assert f"{variation([original, again], shift=100).value:.3f}" == published


def test_cv_of_two_numbers_by_hand():
    """1 and 2: s = 1 / sqrt 2, over c4 = sqrt(2 / pi); (1 + 1/8) 100 s* / 1.5."""
    expected = 1.125 * 100 * (1 / np.sqrt(2)) / np.sqrt(2 / np.pi) / 1.5
    assert variation([1, 2]).value == pytest.approx(expected)
    assert variation([0, 1], 1).value == pytest.approx(expected)
    assert variation([2, 2]).value == 0
    for nothing in (variation([NAN, 1]), variation([-1, 1])):
        assert np.isnan([nothing.value, nothing.low]).all()


def test_three_repeats_say_little():
    """The interval has the true coefficient in 95 of 100 samples, and spans a factor of twelve."""
    generator = np.random.default_rng(0)
    samples = generator.normal(10, 1, (4000, 3))
    estimates = [variation_of(*np.array([s.mean(), s.std(ddof=1)]), 3) for s in samples]
    truth = (1 + 1 / 12) * 100 * 0.1  # with the correction for small samples
    covered = np.mean([one.low <= truth <= one.high for one in estimates])
    assert covered == pytest.approx(0.95, abs=0.012)
    assert np.mean([one.value for one in estimates]) == pytest.approx(truth, rel=0.03)
    assert estimates[0].high / estimates[0].low == pytest.approx(12.07, abs=0.01)


# Krippendorff (2011), section C: four observers, twelve units
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)


def test_alpha_is_that_of_krippendorff():
    assert round(krippendorff_alpha(OBSERVERS, nominal=True), 3) == 0.743
    assert round(krippendorff_alpha(OBSERVERS), 3) == 0.849


def test_alpha_is_one_of_the_same_near_zero_of_chance_and_undefined_without_spread():
    values = np.random.default_rng(0).normal(size=(2, 5000))
    assert krippendorff_alpha(np.array([values[0], values[0]])) == 1
    assert krippendorff_alpha(values[:, :2000]) == pytest.approx(0, abs=0.05)
    assert np.isnan(krippendorff_alpha(np.ones((2, 3))))
    assert np.isnan(krippendorff_alpha(np.array([[1, NAN], [NAN, 2]])))
