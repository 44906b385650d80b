"""Baselines: each against a slow computation of its definition."""

import numpy as np
import pytest
from scipy.sparse import random_array
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge

from refless.models.additive import Additive, RatedText
from refless.models.baselines import Line, Lookup, Ngrams, RidgeBeside, RidgeTfidf, ridge_path
from tests.evaluation.made_up import rows

NAN = float("nan")


def test_equal_means_tie_however_they_are_summed():
    found = Lookup().fit([1, 1, 2, 2], [0.1, 0.2, 0.3, 0.0]).predict([1, 2])
    assert found[0] == found[1] == 0.15


def test_a_line_without_a_slope_is_the_mean():
    assert Line().fit([3, 3], [0.25, 0.75]).predict([7]).tolist() == [0.5]
    x, y = np.random.default_rng(0).random((2, 9))
    model = Line().fit([*x, NAN], [*y, 100.0])
    assert (model.slope_, model.start_) == pytest.approx(np.polyfit(x, y, 1))


def made_up() -> tuple[list[str], np.ndarray]:
    found = rows(60)
    return [row["text"] for row in found], np.array([row["quality"] for row in found])


def test_ridge_is_the_closed_form_of_its_alpha():
    texts, quality = made_up()
    model = RidgeTfidf(alphas=[0.7]).fit(texts[:50], quality[:50])
    weigh = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3))
    own, new = weigh.fit_transform(texts[:50]).toarray(), weigh.transform(texts[50:]).toarray()
    away = own - own.mean(axis=0)
    dual = np.linalg.solve(away @ away.T + 0.7 * np.eye(50), quality[:50] - quality[:50].mean())
    wanted = quality[:50].mean() + (new - own.mean(axis=0)) @ (away.T @ dual)
    np.testing.assert_allclose(model.predict(texts[50:]), wanted, atol=1e-10)
    assert np.corrcoef(wanted, quality[50:])[0, 1] > 0.5


@pytest.mark.parametrize(("n", "features"), [(80, 200), (90, 5), (5, 3)])
def test_a_path_has_ridge_regression_with_each_penalty(n, features):
    generator, penalties = np.random.default_rng(0), [0.3, 3.0, 1e6]
    X = random_array((n, features), density=0.3, rng=generator, format="csr")
    quality = X @ generator.normal(size=features) + generator.normal(size=n)
    found = ridge_path(X, quality, X[:4], penalties)
    for column, penalty in zip(found.T, penalties, strict=True):
        model = Ridge(penalty, solver="cholesky").fit(X.toarray(), quality)
        np.testing.assert_allclose(column, model.predict(X[:4].toarray()), atol=1e-4)
    np.testing.assert_allclose(ridge_path(X, np.full(n, 0.3), X[:4], penalties), 0.3)


def test_ngrams_that_are_counted_once_change_nothing():
    texts, quality = made_up()
    shared = Ngrams([*texts, "\u00e9 of no training text", "  "])
    asked = [*texts, "\u00e9 of no training text", "nobody counted"]
    alone, fast = (
        RidgeTfidf(ngrams).fit(asked[:40], quality[:40]).predict(asked) for ngrams in (None, shared)
    )
    np.testing.assert_allclose(fast, alone, rtol=0, atol=1e-12)


def test_ridge_beside_a_baseline_is_it_and_ridge_on_the_rest():
    texts, quality = made_up()
    systems = ["kind" if k % 3 else "strict" for k in range(len(texts))]
    shifted = quality + np.where(np.array(systems) == "kind", 0.5, -1.0)
    groups = [k // 20 for k in range(50)]
    rated = [RatedText(text, -1, -1) for text in texts]
    for baseline, first in ((Lookup, [*systems[:50], *["nobody"] * 10]), (Additive, rated)):
        X = [*zip(first, texts, strict=True)]
        found = RidgeBeside(baseline()).fit(X[:50], shifted[:50], groups).predict(X)
        alone = baseline().fit(first[:50], shifted[:50], groups).predict(first)
        alone = np.nan_to_num(alone, nan=shifted[:50].mean())
        ridge = RidgeTfidf().fit(texts[:50], shifted[:50] - alone[:50], groups)
        np.testing.assert_allclose(found, alone + ridge.predict(texts), atol=1e-10)


def test_groups_stay_together_while_alpha_is_chosen():
    """Twins with one quality: apart, a weak penalty learns each by heart; together, none helps."""
    generator = np.random.default_rng(1)
    once = ["".join(generator.choice(list("abcdefghijklmnopqrstuvwxyz"), 12)) for _ in range(40)]
    quality = np.repeat(generator.random(40), 2)
    twins = [text for text in once for _ in range(2)]
    apart = RidgeTfidf().fit(twins, quality)
    together = RidgeTfidf().fit(twins, quality, groups=np.repeat(np.arange(40), 2).tolist())
    assert apart.alpha_ < together.alpha_
    assert RidgeTfidf().fit(twins, quality, groups=["g"] * 80).alpha_ == 100


@pytest.mark.parametrize("texts", [["same", "same"], ["alone"]])
def test_ridge_without_anything_to_learn_is_the_mean(texts):
    quality = [0.2, 0.6][: len(texts)]
    estimates = RidgeTfidf().fit(texts, quality).predict(["same", "new"])
    np.testing.assert_allclose(estimates, np.mean(quality))
