"""What is said follows from the tests."""

from dataclasses import replace

import numpy as np
import pytest

from refless.compare.evaluate import Comparison, Settings, compare, estimate, p_value, strongest
from refless.compare.predict import TRIVIAL
from refless.compare.read import Rated, Raters
from refless.compare.verdict import about, answer, command, verdict, warnings

QUICK = Settings(kernels=("bleu.char",), draws=200, repeats=1, curve=False)


@pytest.fixture(scope="module")
def found(rated: Rated) -> Comparison:
    return compare(rated, QUICK)


def test_the_best_method_is_tested_against_the_best_trivial_one(rated, found):
    own = verdict(found, "systems")
    table = found.table[found.table["split"] == "systems"].set_index("method")
    tried = table.drop(list(TRIVIAL))["pearson"].dropna()
    assert (own.best[1], own.methods) == (tried.idxmax(), len(tried))
    assert own.gap.value == pytest.approx(table.loc[own.best[1], "difference"])
    assert own.p == table.loc[own.best[1], "p"]
    assert own.corrected == pytest.approx(min(1, len(tried) * own.p))
    assert own.shown
    assert answer(rated, found)[1].startswith(f"new systems: ridge r {own.r.value:.2f} (")
    next_one = command(found, ["my rated.tsv"])
    assert "refless score --ratings 'my rated.tsv' --method ridge" in next_one
    others = {row: own for row, own in found.draws.items() if row[0] != "systems"}
    rest = replace(found, draws=others)
    assert verdict(rest, "systems") is None
    assert "--method ridge" in command(rest, ["rated.tsv"])  # of another split


def test_chance_is_not_shown(rated):
    shuffled = np.random.default_rng(0).permutation(rated.quality)
    other = replace(rated, quality=shuffled, scores={})
    made = compare(other, QUICK)
    assert all("not shown" in line for line in answer(other, made)[1:])
    assert "rate more" in command(made, ["rated.tsv"])


def test_what_covers_few_texts_is_no_yardstick(found):
    """A look-up that has an estimate for a handful of texts."""
    row = ("systems", "lookup", "")
    draws = {**found.draws["systems", "length", ""], "pearson": np.array([0.99])}
    for share in (0.01, 0.5):
        own = {**found.draws, row: {**draws, "coverage": np.array([share])}}
        assert (strongest("systems", own) == row) == (share == 0.5)


def test_p_of_draws():
    gap = np.concatenate([[0.3], np.linspace(-0.1, 0.7, 999)])
    share = (gap[1:] <= 0).sum()
    assert p_value(gap) == pytest.approx(2 * (share + 1) / 1000)
    far = np.concatenate([[1.0], 1 + 0.1 * np.random.default_rng(0).normal(size=99)])
    assert p_value(far) == 1e-4
    assert np.isnan(p_value(np.array([0.3])))


def test_an_interval_that_leaves_out_its_number_is_not_printed():
    assert np.isnan(estimate(np.array([1.0, *np.linspace(0.8, 0.95, 99)])).low)
    assert estimate(np.array([0.9, *np.linspace(0.8, 0.95, 99)])).low > 0.8


def test_warnings(rated, found):
    assert "4 systems" in " ".join(warnings(rated, found))
    texts = [f"слово {'текст ' * i}" for i in range(len(rated))]
    other = replace(rated, texts=texts, answers=None, context=None, group=None)
    kernels = "rouge_l.stem", "rouge_l.plain"
    made = compare(other, replace(QUICK, kernels=kernels))
    assert set(kernels) == set(made.table["kernel"][made.table["reason"].str.contains("reads")])
    empty, context, systems = warnings(other, made)
    assert all(f"{kernel} reads 120 of 120" in empty for kernel in kernels)
    assert "context" in context
    assert "systems" in systems


def test_a_guessed_scale_and_raters_are_said(rated):
    """With what lies at its ends, and with the ceiling of r."""
    quality = np.append(np.linspace(0, 1, 119) ** 2 * 0.015, 1)
    raters = Raters(112, 3.0, 0.4, 0.64, 0.8, 0.25)
    own = replace(rated, scale=(14.3, 5656), guessed=True, quality=quality, raters=raters)
    scale, people = about(own)
    assert "14.3 to 5,656 (99% of ratings lie below 9" in scale
    assert "be above 0.80" in people
    assert "--center-raters" in people
    assert "guessed" not in next(about(rated))
