"""Favour and error of scores whose bias is known, beside slow computations of both."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from refless.evaluation.bias import (
    BIAS_COLUMNS,
    EXACT,
    LENGTH,
    SYSTEM,
    BiasTexts,
    BySplit,
    bias_table,
    errors,
    favour_line,
    favours,
    line_estimates,
)
from refless.statistics.bootstrap import ResamplingUnits, t_quantile
from refless.statistics.clustered import clustered_covariance
from refless.statistics.measurement_error import corrected_regression, rating_noise

Array = np.ndarray
SYSTEMS = np.array(["ant", "bee", "cat", "dog"])
SEVERITY = np.array([0.5, -0.5])


def made_up(n: int = 240, seed: int = 0) -> tuple[BiasTexts, Array, Array]:
    """Texts of four systems with two ratings each, in contexts of eight; their true quality, and
    noise of variance 1, in which `impartial` scores are made."""
    generator = np.random.default_rng(seed)
    system = np.arange(n) % 4
    words = generator.integers(5, 30, n).astype(float)
    quality = 0.7 * system + 0.05 * words + generator.normal(size=n)
    values = quality[:, None] + SEVERITY + 0.8 * generator.normal(size=(n, 2))
    ratings = pd.DataFrame(
        {
            "text": np.repeat(np.arange(n), 2),
            "rater": np.tile(["x", "y"], n),
            "quality": values.ravel(),
        }
    )
    texts = BiasTexts(
        quality=values.mean(axis=1),
        units=ResamplingUnits(np.arange(n) // 8),
        words=words,
        punctuation=generator.binomial(50, 0.05, n) / 50,
        system=SYSTEMS[system],
        ratings=ratings,
    )
    return texts, quality, generator.normal(size=n)


def split(texts: BiasTexts) -> BySplit:
    """Five folds of texts, and one of each system."""
    return BySplit(np.arange(len(texts)) % 5, texts.system_number)


def of_systems(rows: list[dict]) -> Array:
    return np.array([row["favour"] for row in rows if row["kind"] == SYSTEM])


def test_favour_is_that_of_a_slow_computation() -> None:
    texts, quality, noise = made_up(80)
    score = 3 * quality + noise + 2 * (texts.system == "cat")
    covariates = np.column_stack(
        [*(texts.system == name for name in SYSTEMS), texts.words / 10, texts.punctuation * 100]
    ).astype(float)
    hat = covariates @ np.linalg.pinv(covariates)
    left = np.eye(80) - hat
    # severity is the same for all texts, so that what differs is the difference of two ratings
    by_rater = texts.ratings.pivot_table(index="text", columns="rater", values="quality")
    noise_of_mean = (by_rater["x"] - by_rater["y"]).var(ddof=1) / 4
    squares = texts.quality @ left @ texts.quality
    reliability = 1 - np.trace(left) * noise_of_mean / squares
    variance = reliability * squares / np.trace(left)
    share = variance / (variance + noise_of_mean)
    expected = hat @ texts.quality + share * (left @ texts.quality) - texts.quality.mean()
    design = [
        covariates,
        expected,
        expected**2 + share * noise_of_mean,
        expected**3 + 3 * expected * share * noise_of_mean,
    ]
    effects = np.linalg.lstsq(np.column_stack(design), score, rcond=None)[0]
    b, c, d = effects[6:]
    slope = np.mean(b + 2 * c * expected + 3 * d * (expected**2 + share * noise_of_mean))
    favour = effects[:6] / slope
    favour[:4] -= favour[:4].mean()
    rows = favours(score, texts)
    assert [row["favour"] for row in rows] == pytest.approx(favour, rel=1e-7)
    assert rows[0]["reliability"] == pytest.approx(reliability)


def test_a_straight_score_has_the_moment_corrected_slope() -> None:
    texts, quality, noise = made_up(80)
    score = 3 * quality + noise
    of_means = rating_noise(texts.ratings, texts.system_number)
    covariates = np.column_stack([texts.system == name for name in SYSTEMS]).astype(float)
    left = np.eye(80) - covariates @ np.linalg.pinv(covariates)
    squares = texts.quality @ left @ texts.quality - np.diag(left) @ of_means.of_means
    line = corrected_regression(score, texts.quality, covariates, of_means, degree=1)
    assert line.effects[-1] == pytest.approx(texts.quality @ left @ score / squares)


def test_favour_is_in_the_unit_of_ratings() -> None:
    texts, quality, noise = made_up()
    ratings = texts.ratings.assign(quality=1000 * texts.ratings["quality"] - 7)
    larger = replace(texts, quality=1000 * texts.quality - 7, ratings=ratings)
    score = quality + noise
    for row, expected in zip(favours(score, larger), favours(score, texts), strict=True):
        assert row["p"] == pytest.approx(expected["p"], rel=1e-4)
        for name in ("favour", "favour_low", "favour_high"):
            assert row[name] == pytest.approx(1000 * expected[name], rel=1e-4)


def test_interval_of_favour_is_that_of_a_jackknife() -> None:
    texts, quality, noise = made_up(400)
    texts = replace(texts, units=ResamplingUnits(np.arange(400) // 10))
    score = quality + 0.6 * noise
    without = []
    for unit in range(40):
        chosen = texts.units.primary != unit
        rows = favours(score[chosen], texts.select(chosen))
        without.append([row["favour"] for row in rows])
    spread = np.array(without)
    error = np.sqrt(39 / 40 * ((spread - spread.mean(axis=0)) ** 2).sum(axis=0))
    widths = [row["favour_high"] - row["favour_low"] for row in favours(score, texts)]
    assert np.array(widths) == pytest.approx(2 * t_quantile(39) * error, rel=0.12)


def test_noisy_ratings_do_not_make_a_judge_partial() -> None:
    texts, quality, noise = made_up(4000)
    judge = {"score_judge": quality + 0.5 * noise}
    table = bias_table(texts, judge, split(texts))
    assert (table["p_holm"] > 0.05).all()
    assert table["favour"][:4].abs().max() < 0.1
    naive = bias_table(replace(texts, ratings=None), judge, split(texts))
    assert (naive["p_holm"] < 0.001).any()
    assert (naive["note"] == EXACT).all()
    assert EXACT in favour_line(naive, "score_judge")
    assert EXACT not in favour_line(table, "score_judge")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_planted_favours_are_found_in_the_unit_of_ratings(seed: int) -> None:
    texts, quality, noise = made_up(1200, seed)
    score = quality + 0.5 * noise + 0.8 * (texts.system == "cat") + 0.03 * texts.words
    table = bias_table(texts, {"score_judge": score}, split(texts))
    for group, planted in (("cat", 0.6), ("ant", -0.2), ("10 words", 0.3)):
        row = table[table["group"] == group].iloc[0]
        assert abs(row["favour"] - planted) < 0.2
        assert row["favour_low"] < row["favour"] < row["favour_high"]
    assert (table.loc[table["group"].isin(["cat", "10 words"]), "p_holm"] < 0.05).all()
    line = favour_line(table, "score_judge")
    assert "\n" not in line
    assert "favours cat by" in line
    assert "longer texts by" in line


def test_favour_depends_on_neither_unit_nor_direction_of_the_score() -> None:
    texts, quality, noise = made_up()
    score = quality + noise
    expected, other = favours(score, texts), favours(7 - 0.01 * score, texts)
    for name in ("favour", "favour_low", "favour_high", "p"):
        assert [row[name] for row in other] == pytest.approx([row[name] for row in expected])


def test_texts_without_a_score_do_not_count() -> None:
    texts, quality, noise = made_up()
    score = quality + noise
    score[::3] = np.nan
    chosen = ~np.isnan(score)
    assert favours(score, texts) == favours(score[chosen], texts.select(chosen))
    table = bias_table(texts, {"score_judge": score}, split(texts))
    assert table["n"][:4].sum() == chosen.sum()
    written = (texts.system == "ant") & chosen
    values = line_estimates(score, texts.quality, split(texts).texts)
    assert table["error"][0] == pytest.approx((values - texts.quality)[written].mean())


def test_why_there_is_no_favour() -> None:
    texts, quality, noise = made_up()
    useless = favours(noise, texts)
    assert all("quality" in row["note"] and "favour" not in row for row in useless)
    table = bias_table(texts, {"score_judge": noise}, split(texts))
    assert table["p_holm"].isna().all()
    assert useless[0]["note"] in favour_line(table, "score_judge")
    assert all(row["note"] for row in favours(np.ones(240), texts))
    assert favours(np.full(240, np.nan), texts) == []
    assert all(row["note"] for row in favours(quality[:7], texts.select(np.arange(240) < 7)))
    arbitrary = texts.ratings.assign(quality=np.tile([0.0, 9.0], 240) * noise.repeat(2))
    disagree = favours(quality, replace(texts, ratings=arbitrary))
    assert all("agree" in row["note"] for row in disagree)


def test_few_texts_of_a_system_say_nothing_of_it() -> None:
    texts, quality, noise = made_up()
    chosen = (texts.system != "dog") | (np.arange(240) < 16)  # four of the dog
    rows = favours((quality + noise)[chosen], texts.select(chosen))
    notes = {row["group"]: row["note"] for row in rows}
    assert notes.pop("dog")
    assert not any(notes.values())
    assert of_systems([row for row in rows if row["group"] != "dog"]).sum() == pytest.approx(0)


def test_what_does_not_vary_has_no_favour() -> None:
    texts, quality, noise = made_up()
    same = replace(texts, words=np.full(240, 7.0), system=None)
    rows = favours(quality + noise, same)
    assert [bool(row["note"]) for row in rows] == [True, False]
    table = bias_table(same, {"score_judge": quality + noise}, BySplit(np.arange(240) % 5))
    assert "punctuation" in favour_line(table, "score_judge")


def test_noise_of_raters_drawn_for_each_text() -> None:
    generator = np.random.default_rng(0)
    n, raters = 3000, 8
    severity = generator.normal(size=raters)
    severity /= severity.std(ddof=1)
    rater = np.argsort(generator.random((n, raters)), axis=1)[:, :2]
    values = generator.normal(size=(n, 1)) + severity[rater] + 0.5 * generator.normal(size=(n, 2))
    ratings = pd.DataFrame({"text": np.repeat(np.arange(n), 2), "rater": rater.ravel()})
    noise = rating_noise(ratings.assign(quality=values.ravel()), np.arange(n) % 3)
    # of the mean of two of eight severities, without replacement, and of two residuals
    assert noise.of_means.mean() == pytest.approx((1 - 2 / 8) / 2 + 0.25 / 2, rel=0.05)


@pytest.mark.parametrize(("deviation", "rounded_alike"), [(0.0, True), (0.2, True), (0.6, False)])
def test_noise_of_whole_numbers(deviation: float, rounded_alike: bool) -> None:
    generator = np.random.default_rng(0)
    n = 20_000
    quality = 3 + generator.normal(size=n)
    values = np.round(quality[:, None] + deviation * generator.normal(size=(n, 2)))
    text = np.repeat(np.arange(n), 2)
    ratings = pd.DataFrame({"text": text, "rater": "", "quality": values.ravel()})
    noise = rating_noise(ratings, np.zeros(n, int)).of_means
    assert noise.mean() == pytest.approx(((values.mean(axis=1) - quality) ** 2).mean(), rel=0.05)
    disagreement = (values[:, 0] - values[:, 1]).var() / 4
    assert (noise.mean() > 1.1 * disagreement) == rounded_alike


def test_noise_of_the_same_raters_is_the_residual_of_two_ways() -> None:
    generator = np.random.default_rng(0)
    values = generator.integers(1, 6, (1300, 3)) + np.array([0, 1, 0])
    text, rater = np.repeat(np.arange(1300), 3), np.tile(["x", "y", "z"], 1300)
    ratings = pd.DataFrame({"text": text, "rater": rater, "quality": values.ravel()})
    noise = rating_noise(ratings, np.arange(1300) % 13)
    left = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    assert noise.of_means == pytest.approx((left**2).sum() / (1299 * 2) / 3, rel=1e-9)


def test_errors_are_means_with_the_uncertainty_of_the_line() -> None:
    texts, quality, noise = made_up(200)
    texts = replace(texts, units=ResamplingUnits(np.arange(200) // 4))
    score = 10 * quality + 15 * noise
    left_out = split(texts).systems

    def error(chosen: Array, name: str) -> float:
        x, y, part = score[chosen], texts.quality[chosen], texts.system[chosen] == name
        slope, start = np.polyfit(x[~part], y[~part], 1)
        return float((start + slope * x[part] - y[part]).mean())

    estimates = line_estimates(score, texts.quality, left_out)
    means = errors(estimates, texts, left_out, score)
    for name in SYSTEMS:
        mean = means[name]
        assert mean.value == pytest.approx(error(np.ones(200, bool), name))
        without = np.array([error(texts.units.primary != unit, name) for unit in range(50)])
        spread = np.sqrt(49 / 50 * ((without - without.mean()) ** 2).sum())
        assert mean.high - mean.low == pytest.approx(2 * t_quantile(49) * spread, rel=0.12)


def test_errors_of_what_was_learned_are_wider_and_alone() -> None:
    texts, quality, noise = made_up()
    values = quality + noise
    values[texts.system == "dog"] = np.nan
    folds = split(texts)
    table = bias_table(texts, {"score_judge": values}, folds, {"ridge": BySplit(values, None)})
    assert list(table.columns) == BIAS_COLUMNS
    learned = table[table["method"] == "ridge"]
    assert learned["group"].tolist() == ["ant", "bee", "cat"]
    assert learned["favour"].isna().all()
    assert learned["error_left_out"].isna().all()
    gap = (values - texts.quality)[texts.system == "ant"]
    assert learned["error"].iloc[0] == pytest.approx(gap.mean())
    mean = errors(values, texts, folds.texts)["ant"]
    sums = np.bincount(texts.units.primary[texts.system == "ant"], gap - gap.mean()) / len(gap)
    fixed = 2 * t_quantile(29) * np.sqrt(30 / 29 * (sums**2).sum())
    assert mean.high - mean.low > 1.1 * fixed
    assert "ridge" not in favour_line(table, "score_judge")


def test_every_score_that_may_be_printed_counts_in_the_correction() -> None:
    texts, quality, noise = made_up()
    score = quality + noise
    one = bias_table(texts, {"score_a": score}, split(texts))
    two = bias_table(texts, {"score_a": score, "score_b": quality - noise}, split(texts))
    assert (two["p_holm"][:6] >= one["p_holm"]).all()
    assert two["p_holm"].min() == pytest.approx(min(1, 12 * two["p"].min()))
    assert two["method"].tolist() == ["score_a"] * 6 + ["score_b"] * 6


def test_what_is_not_shown_has_a_size() -> None:
    texts, quality, noise = made_up(seed=1)
    table = bias_table(texts, {"score_judge": quality + noise}, split(texts))
    systems = table[table["kind"] == SYSTEM]
    widest = systems[["favour_low", "favour_high"]].abs().to_numpy().max()
    line = favour_line(table, "score_judge")
    assert f"{widest:.2f}"[:3] in line
    assert LENGTH not in line


def test_texts_that_stand_in_several_contexts_are_resampled_by_both() -> None:
    generator = np.random.default_rng(0)
    influence, once = generator.normal(size=(60, 1)), np.full(60, 1 / 60)
    context, text = np.arange(60) // 3, np.arange(60) % 12
    influence[:, 0] += np.array([-1, 1] * 6)[text]  # what a text has everywhere
    by_context = clustered_covariance(influence, once, ResamplingUnits(context))
    both = clustered_covariance(influence, once, ResamplingUnits(context, text))
    assert both.covariance[0, 0] > 2 * by_context.covariance[0, 0]
    assert both.freedom == pytest.approx(11)
    alone = clustered_covariance(influence, once, ResamplingUnits(np.full(60, -1), text))
    expected = clustered_covariance(influence, once, ResamplingUnits(text))
    assert alone.covariance == pytest.approx(expected.covariance)


def test_a_context_with_half_the_texts_leaves_few_degrees_of_freedom() -> None:
    context = np.concatenate([np.zeros(50, int), 1 + np.arange(50) // 5])
    spread = clustered_covariance(np.ones((100, 1)), np.full(100, 0.01), ResamplingUnits(context))
    assert spread.freedom < 4


def test_a_score_that_follows_from_length_favours_nobody():
    """The number of words says nothing of quality, and nothing of it is left beside length."""
    generator = np.random.default_rng(0)
    words = generator.integers(3, 20, 200).astype(float)
    rows = favours(
        words,
        BiasTexts(
            quality=generator.normal(size=200),
            units=ResamplingUnits(np.arange(200)),
            words=words,
            punctuation=np.zeros(200),
            system=np.tile(["a", "b"], 100),
            ratings=None,
        ),
    )
    assert all("favour" not in row and row["note"] for row in rows)
