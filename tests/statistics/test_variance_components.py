"""Variances between and within contexts, and how many texts a mean takes."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.mixed_linear_model import MixedLM

from refless.statistics.variance_components import (
    VarianceComponents,
    one_way_analysis,
    plan_mean,
    residual_components,
)

CONTEXTS = np.full(30, 10)


def test_mean_squares_are_those_of_an_f_test():
    generator = np.random.default_rng(0)
    group = np.array([0] * 5 + [1] * 2 + [2] * 7)
    values = generator.normal(size=14) + group
    above, inside, _ = one_way_analysis(values, group)
    wanted = stats.f_oneway(*(values[group == k] for k in range(3))).statistic
    assert above[0] / inside[0] == pytest.approx(wanted)


def test_equal_contexts_have_the_components_of_reml():
    generator = np.random.default_rng(1)
    context = np.repeat(np.arange(20), 6)
    values = generator.normal(size=20)[context] + generator.normal(size=120)
    components = VarianceComponents.of(values, context)
    model = MixedLM(values, np.ones((120, 1)), groups=context).fit(reml=True)
    assert components.within == pytest.approx(model.scale, rel=1e-3)
    assert components.between == pytest.approx(model.cov_re[0, 0], rel=1e-3)


def test_components_of_unequal_contexts_are_unbiased():
    generator = np.random.default_rng(2)
    context = np.repeat(np.arange(12), [30, 10, *[4] * 10])
    between, within = [], []
    for _ in range(300):
        values = generator.normal(size=12)[context] * 2 + generator.normal(size=80)
        components = VarianceComponents.of(values, context + 5)
        between.append(components.between)
        within.append(components.within)
    assert np.mean(within) == pytest.approx(1, abs=0.04)
    assert np.mean(between) == pytest.approx(4, abs=4 * np.std(between) / 300**0.5)


def test_where_contexts_do_not_differ_all_varies_within():
    values = np.array([0.0, 1.0, 1.0, 0.0])
    components = VarianceComponents.of(values, np.array([0, 0, 1, 1]))
    assert components.between == 0
    assert components.within == pytest.approx(values.var(ddof=1))
    alone = VarianceComponents.of(values, np.arange(4))
    assert (alone.between, alone.within) == (0, pytest.approx(values.var(ddof=1)))


def test_predictions_that_are_right_leave_nothing():
    quality, context = np.random.default_rng(3).normal(size=60), np.arange(60) // 3
    assert residual_components(quality, 2 * quality + 1, context).within == pytest.approx(0)
    useless = residual_components(quality, -quality, context)  # would help with a weight below 0
    assert useless == VarianceComponents.of(quality, context)


def components(between: float, within: float, contexts: int = 30, each: int = 10):
    return VarianceComponents(within + each * between, within, each, contexts * each, contexts)


@pytest.mark.parametrize("these_outputs", [True, False])
def test_the_number_of_texts_gives_the_width(these_outputs):
    """The number itself does, one less does not."""
    ratings, residuals = components(0.02, 0.98), components(0.02, 0.6)
    plan = plan_mean(ratings, residuals, CONTEXTS, 0.3, these_outputs)
    widths = []
    for n in (plan.texts.number - 1, plan.texts.number):
        variance = (1 / n - 1 / 300) * (0.02 * 29 / 30 + 0.6)
        variance += 0 if these_outputs else 0.02 / 30 + 0.98 / 300
        freedom = n - 1 if these_outputs else 29
        widths.append(2 * stats.t.ppf(0.975, freedom) * variance**0.5)
    assert widths[0] > 0.3 >= widths[1]
    assert plan.texts.low <= plan.texts.number <= plan.texts.high


def test_every_text_is_no_limit_for_the_mean_of_these_texts():
    half = components(0.5, 0.5)
    for width in (1e-3, 0.1, 0.5):
        assert plan_mean(half, half, CONTEXTS, width, these_outputs=True).texts.high <= 300
    plan = plan_mean(half, half, CONTEXTS, 1e-9, these_outputs=True)
    assert plan.texts.number == 300


@pytest.mark.parametrize("width", [0.3, 0.5, 0.54])
def test_no_number_of_texts_makes_up_for_contexts(width):
    half = components(0.5, 0.5)
    plan = plan_mean(half, half, CONTEXTS, width)
    assert plan.texts.number == plan.texts.high == np.inf
    number = plan.contexts.number
    assert number > 30
    for contexts, enough in ((number - 1, False), (number, True)):
        variance = 0.5 / contexts + 0.5 / contexts / 10
        assert (2 * stats.t.ppf(0.975, contexts - 1) * variance**0.5 <= width) == enough
    assert np.isfinite(plan_mean(half, half, CONTEXTS, 0.56).texts.number)


def test_unequal_contexts_are_worth_fewer():
    half = components(0.5, 0.5)
    unequal = np.array([100, *[200 / 29] * 29])
    a, b = (plan_mean(half, half, sizes, 0.4).contexts.number for sizes in (CONTEXTS, unequal))
    assert b > 3 * a


def test_texts_without_contexts_are_their_own():
    values = np.random.default_rng(4).normal(size=50)
    alone = VarianceComponents.of(values, np.arange(50))
    plan = plan_mean(alone, alone, np.ones(400), 0.3)
    variance = values.var(ddof=1)
    n = plan.texts.number
    # what is not predicted counts fully: n ratings
    assert n == pytest.approx((2 * stats.t.ppf(0.975, n - 1) / 0.3) ** 2 * variance, abs=1)
    assert plan.contexts.number == pytest.approx(n, abs=1)


def test_one_context_says_nothing_of_more():
    one = VarianceComponents.of(np.array([1.0, 2.0, 4.0]), np.zeros(3, np.int64))
    plan = plan_mean(one, one, np.array([10]), 0.3)
    assert np.isnan([*plan.texts, *plan.contexts]).all()
