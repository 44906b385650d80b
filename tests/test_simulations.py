"""The simulations run, and their reports can fail."""

import numpy as np
import pytest

from benchmarks import calibration, plans, surface


def test_what_a_method_adds_is_reported_with_its_error():
    results = [np.array([0.5, 0.5 + k / 100, 0.4, 0.5]) for k in range(5)]
    line = surface.report("a sum", results)
    assert "surface adds +0.0200 ± 0.0071" in line
    assert "surface_ridge adds -0.1200" in line
    assert np.isfinite(surface.replication(0, "a sum and words")).all()


def test_coverage_counts_intervals_that_there_are():
    """Of a number that is 1 in one of four; a fifth has no interval."""
    nan = float("nan")
    case = calibration.Case(calibration.null, 5, "coverage", 0.92, truth=1.0)
    rows = [(1.0, 0.5, 1.5), (0.0, -0.5, 0.5), (1.2, 0.7, 1.7), (0.8, 0.3, 1.3), (9.0, nan, nan)]
    results = [dict(zip(("value", "low", "high"), row, strict=True)) for row in rows]
    line = calibration.report("a mean", case, results)
    assert "0.750" in line
    assert "0.200 without an interval" in line
    assert line.startswith("undecided")
    assert "nothing in 1 times" in calibration.report("a mean", case, results[4:])


@pytest.mark.parametrize("these_outputs", [True, False])
def test_a_plan_comes_true(these_outputs):
    width = plans.possible_width(0.2, 200, these_outputs)
    components = [plans.true_components(0.2, left) for left in (1, 1 - plans.R**2)]
    truth = plans.plan_mean(*components, plans.SIZES, width, these_outputs)
    assert truth.texts.number == pytest.approx(200, abs=1)
    results = [plans.replication(seed, 0.2, width, these_outputs) for seed in range(8)]
    assert np.median([result["reached"] for result in results]) == pytest.approx(1, abs=0.15)
    assert "true number 200" in plans.report("plan", results, truth)
