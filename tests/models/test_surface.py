"""The rival that reads no word, and reading beside it."""

import numpy as np
import pytest

from refless.models.additive import Additive, RatedText
from refless.models.baselines import RidgeTfidf
from refless.models.surface import (
    MOST_SYSTEMS,
    Surface,
    SurfaceRidge,
    additive_without_two_folds,
    surface_features,
)

WORDS = [
    "good",
    "poor",
    "plain",
    "long",
    "short",
    "food",
    "place",
    "price",
    "12",
    "It",
    "but,",
    ".",
]


def made_up(n: int, interaction: float, seed: int = 0) -> tuple[list[RatedText], np.ndarray]:
    """Texts of three systems; length helps in one and hurts in another."""
    generator = np.random.default_rng(seed)
    texts = [
        RatedText(
            " ".join(generator.choice(WORDS, generator.integers(3, 25))),
            str(k % 3),
            str(k // 3 % 20),
        )
        for k in range(n)
    ]
    length = np.array([len(text.text) for text in texts], float)
    slope = np.array([1.0, 0.0, -1.0])[[int(text.system) for text in texts]]
    quality = slope * (length - length.mean()) / length.std() * interaction
    return texts, quality + generator.normal(size=n) * 0.5


def test_no_fold_learns_from_itself_or_from_the_fold_that_is_left_out():
    """A text whose quality is absurd moves only what may learn from it."""
    texts, quality = made_up(40, 1)
    fold = np.arange(40) % 4
    changed = quality.copy()
    changed[0] = 1e6  # of fold 0
    before, after = (additive_without_two_folds(texts, y, fold, 3.0) for y in (quality, changed))
    same = np.isclose(before, after, atol=1e-6)
    assert same[0].all()
    assert same[:, fold == 0].all()
    assert not same[1:, fold != 0].any()
    alone = Additive([3.0]).fit(
        [t for t, k in zip(texts, fold, strict=True) if k > 1], quality[fold > 1]
    )
    np.testing.assert_allclose(before[0, fold == 1], alone.predict(texts[1::4]), atol=1e-8)


def test_what_no_sum_has_is_learned():
    texts, quality = made_up(900, 1)
    model, additive = (
        Surface().fit(texts[:300], quality[:300]),
        Additive().fit(texts[:300], quality[:300]),
    )
    r, r_additive = (
        np.corrcoef(fitted.predict(texts[300:]), quality[300:])[0, 1]
        for fitted in (model, additive)
    )
    assert r > r_additive + 0.3
    assert model.weight_ > 0.5


def test_where_there_is_only_noise_boosting_has_little_weight():
    weights = []
    for seed in range(2):
        texts, quality = made_up(120, 0, seed)
        weights.append(Surface().fit(texts, quality).weight_)
    assert np.mean(weights) < 0.25


def test_cross_fitted_estimates_have_not_seen_their_text():
    """Qualities without any pattern: what has seen them correlates, what has not does not."""
    texts, _ = made_up(300, 1)
    quality = np.random.default_rng(1).normal(size=300)
    model = Surface().fit(texts, quality)
    assert np.corrcoef(model.predict(texts), quality)[0, 1] > 0.2
    assert np.corrcoef(model.cross_fitted_, quality)[0, 1] < 0.15


def test_groups_stay_together():
    """Twins have one context and one quality: apart, one gives the other away."""
    texts = [
        RatedText("a" * (1 + k % 7), "", str(context)) for context in range(60) for k in (0, 1)
    ]
    quality = np.repeat(np.random.default_rng(3).normal(size=60), 2)
    together = Surface().fit(texts, quality, groups=np.repeat(np.arange(60), 2).tolist())
    apart = Surface().fit(texts, quality)
    assert np.corrcoef(apart.cross_fitted_, quality)[0, 1] > 0.5
    assert np.corrcoef(together.cross_fitted_, quality)[0, 1] < 0.2


@pytest.mark.parametrize("groups", [["g"] * 60, ["g", "h"] * 30])
def test_with_fewer_than_three_groups_it_is_additive(groups):
    texts, quality = made_up(60, 1)
    model = Surface().fit(texts, quality, groups)
    assert model.weight_ == 0
    additive = Additive().fit(texts, quality, groups)
    np.testing.assert_array_equal(model.predict(texts), additive.predict(texts))
    assert np.isfinite(model.cross_fitted_).all()
    assert model.predict([]).tolist() == []


def test_systems_beyond_the_most_and_new_ones_are_estimated():
    generator = np.random.default_rng(0)
    systems = [*range(MOST_SYSTEMS + 100), *[0, 1, 2] * 30]
    texts = [RatedText("a" * int(generator.integers(1, 40)), str(system), "") for system in systems]
    quality = np.array([len(text.text) for text in texts], float) + generator.normal(
        size=len(texts)
    )
    model = Surface().fit(texts, quality)
    asked = [RatedText("aaaa", "", ""), RatedText("aaaa", "new", ""), RatedText("", "0", "7")]
    assert np.isfinite(model.predict(asked)).all()


def test_features_without_words():
    rows = surface_features([RatedText("", "", ""), RatedText("  ", "c", "")], ["c"])
    assert np.isnan(rows[0, 0])
    assert rows[0, 1:].tolist() == [0] * 6
    assert rows[1].tolist() == [0, 2, 0, 0, 0, 0, 0]
    accents = surface_features([RatedText("ÉÀ٣—é", "c", "")], ["c"])
    assert accents[0, 3:].round(1).tolist() == [5, 0.2, 0.4, 0.2]


def test_reading_is_ridge_on_what_cross_fitted_estimates_leave():
    texts, quality = made_up(150, 1)
    read = quality + np.array([text.text.count("good") for text in texts])
    pairs = [(text, text.text) for text in texts]
    model = SurfaceRidge(seed=4).fit(pairs[:100], read[:100])
    surface = Surface(seed=4).fit(texts[:100], read[:100])
    words = [text.text for text in texts]
    ridge = RidgeTfidf(alphas=model.ridge.alphas).fit(
        words[:100], read[:100] - surface.cross_fitted_
    )
    wanted = surface.predict(texts[100:]) + ridge.predict(words[100:])
    np.testing.assert_allclose(model.predict(pairs[100:]), wanted, atol=1e-10)
    r, r_surface = (
        np.corrcoef(v, read[100:])[0, 1] for v in (wanted, surface.predict(texts[100:]))
    )
    assert r > r_surface + 0.05
