"""How far raters agree."""

import numpy as np
import pandas as pd
import pytest

from refless.statistics.reliability import rater_agreement


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
    found = rater_agreement(table)
    assert found.one == pytest.approx((above - inside) / (above + 3 * inside))
    assert found.mean == pytest.approx((above - inside) / above)
    assert (found.number, found.each) == (20, 4)
    assert found.between < 0.05
    assert found.most == pytest.approx(found.mean**0.5, abs=0.05)
    assert np.isnan(rater_agreement(table.drop_duplicates("text")).one)


@pytest.mark.parametrize(("raters", "most"), [(4, 0.9), (20, 0.56)])
def test_levels_lower_the_ceiling_where_they_tell_texts_apart(raters, most):
    """Four raters of all texts, or four of twenty."""
    found = rater_agreement(rated_by(raters, 3, texts=2000))
    assert found.most == pytest.approx(most, abs=0.1)
    assert found.mean**0.5 < most  # that of one-way analysis
