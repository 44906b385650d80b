"""How far raters agree."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.statistics.reliability import ENOUGH_TEXTS, rater_agreement


def rated_by(raters: int, spread: float, texts: int = 60, each: int = 4) -> pd.DataFrame:
    """Raters with levels of their own; the text's part has a deviation of 1, chance too."""
    generator = np.random.default_rng(0)
    text = np.repeat(np.arange(texts), each)
    rater = np.concatenate([generator.permutation(raters)[:each] for _ in range(texts)])
    level, good = spread * generator.normal(size=raters), generator.normal(size=texts)
    quality = good[text] + level[rater] + generator.normal(size=len(text))
    return pd.DataFrame({"text": text, "rater": [f"r{k}" for k in rater], "quality": quality})


def test_agreement_is_the_intraclass_correlation():
    table = rated_by(20, 0)
    value = table["quality"].to_numpy().reshape(60, 4)
    above = 4 * value.mean(axis=1).var(ddof=1)
    inside = value.var(axis=1, ddof=1).mean()
    raters = rater_agreement(table)
    assert raters.icc_single.value == pytest.approx((above - inside) / (above + 3 * inside))
    assert raters.icc_mean.value == pytest.approx((above - inside) / above)
    assert (raters.number, raters.ratings_per_text, raters.repeated) == (20, 4, 60)
    assert raters.between < 0.05
    # the interval of an F test (Shrout & Fleiss 1979), about
    ratio = above / inside
    low, high = (ratio / stats.f.ppf(q, 59, 180) for q in (0.975, 0.025))
    expected = [(f - 1) / (f + 3) for f in (low, high)]
    assert [raters.icc_single.low, raters.icc_single.high] == pytest.approx(expected, abs=0.06)


def test_few_texts_with_two_ratings_say_nothing():
    table = rated_by(20, 0, texts=100)
    few = table[(table["text"] < ENOUGH_TEXTS - 1) | ~table["text"].duplicated()]
    raters = rater_agreement(few)
    assert np.isnan(raters.icc_single.value)
    assert raters.repeated == ENOUGH_TEXTS - 1


def test_raters_are_compared_within_systems():
    """Where each rated one system, nothing tells strict raters from poor systems."""
    table = rated_by(4, 3)
    assert rater_agreement(table).between > 0.5
    assert rater_agreement(table.assign(system=table["rater"])).between == 0
