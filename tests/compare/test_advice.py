"""The recommendation follows from the tests; each warning has its cause."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.compare.advice import (
    Verdict,
    _far_away,
    _only_apart,
    holm,
    judged,
    recommendation,
    verdict,
    warnings,
)
from refless.compare.compared import Comparison, Key, p_value
from refless.compare.rated import Rated
from refless.compare.splits import Split, all_splits

Drawn = dict[str, np.ndarray]


def drawn(r: float, spread: float = 0.03, within: float | None = None, seed: int = 0) -> Drawn:
    """Pearson's r with draws around it."""
    noise = np.r_[0.0, np.random.default_rng(seed).normal(0, spread, 999)]
    found = {"pearson": r + noise}
    return found if within is None else {**found, "pearson_within": within + noise}


def comparison(draws: dict[Key, Drawn], *names: str) -> Comparison:
    splits = [Split(name, np.arange(30) % 5, np.arange(30), 0) for name in names or ("texts",)]
    empty = [pd.DataFrame() for _ in range(4)]
    return Comparison(*empty, draws, draws, splits, {}, {})


NEAR: Key = ("texts", "neighbors", "bleu.char")
RIDGE: Key = ("texts", "ridge", "")
LENGTH: Key = ("texts", "length", "")
CONSTANT: Key = ("texts", "constant", "")
NOTHING: Drawn = {"pearson": np.full(1000, np.nan)}


def test_what_beats_every_trivial_method_is_recommended() -> None:
    found = comparison(
        {
            CONSTANT: NOTHING,
            LENGTH: drawn(0.2),
            NEAR: drawn(0.5, seed=1),
            RIDGE: drawn(0.49, seed=2),
        }
    )
    assert verdict(found, "texts") == Verdict("texts", "use", NEAR, (), (RIDGE,))
    said = recommendation(found)[0]
    assert "use neighbors (bleu.char)" in said
    assert "ridge" in said
    assert "25%" in said  # r squared


def test_the_best_of_many_has_to_be_better_than_the_only_one() -> None:
    draws = {LENGTH: drawn(0.2), NEAR: drawn(0.3, 0.03, seed=1)}
    assert verdict(comparison(draws), "texts").kind == "use"
    others: dict[Key, Drawn] = {
        ("texts", "neighbors", f"kernel{k}"): drawn(0.1, seed=k) for k in range(9)
    }
    found = comparison(draws | others)
    assert verdict(found, "texts") == Verdict("texts", "trivial", NEAR, (LENGTH,), ())
    # a score raw and calibrated is picked once
    scores: dict[Key, Drawn] = {("texts", "judge", ""): drawn(0.1)}
    scores[("texts", "judge.calibrated", "")] = drawn(0.1)
    assert verdict(comparison(draws | scores), "texts").kind == "use"


@pytest.mark.parametrize("n", [40, 60, 75, 150])
def test_one_mistyped_rating_is_told(n: int) -> None:
    quality = np.tile(np.linspace(0, 4, 5), n)[:n] / 44
    given = Rated([f"text {k}" for k in range(n)], quality, np.arange(n), scale=(1, 45))
    assert not _far_away(given)
    quality[7] = 1
    assert len(_far_away(given)) == 1


def test_what_only_tells_contexts_apart_is_told_so() -> None:
    judge: Key = ("texts", "judge", "")
    own = drawn(0.6, seed=1)
    for within, told in ((own["pearson"] * 0 + 0.4, False), (np.full(1000, np.nan), True)):
        draws = {LENGTH: drawn(0.2), judge: own}
        draws["contexts", "judge", ""] = {**own, "pearson_within_contexts": within}
        found = comparison(draws)
        assert verdict(found, "texts").kind == "use"
        assert ("Among texts of one context" in recommendation(found)[0]) == told


def test_what_needs_ratings_of_the_context_may_only_tell_contexts_apart() -> None:
    """ΔBLEU has no row where contexts are left out, so nothing is shown within one."""
    draws = {LENGTH: drawn(0.2), ("texts", "delta_bleu", ""): drawn(0.6, seed=1)}
    assert "Among texts of one context" not in recommendation(comparison(draws))[0]
    draws["contexts", "length", ""] = drawn(0.2)
    found = comparison(draws)
    assert "Among texts of one context" in recommendation(found)[0]
    assert any("delta_bleu may only tell contexts apart" in said for said in _only_apart(found))


def test_a_test_on_few_contexts_or_on_systems_is_about_these() -> None:
    draws = {LENGTH: drawn(0.2), NEAR: drawn(0.5, seed=1)}
    for split, groups, about in (
        ("systems", 5, "on the systems at hand"),
        ("contexts", 5, "on the contexts at hand"),
        ("contexts", 30, ""),
        ("texts", 30, ""),
    ):
        own = {(split, *key[1:]): drawn for key, drawn in draws.items()}
        found = replace(
            comparison(own, split),
            splits=[Split(split, np.arange(30) % 5, np.arange(30) % groups, 0)],
        )
        said = recommendation(found)[0]
        assert about in said
        assert ("at hand" in said) == bool(about)


def test_a_trivial_method_that_is_level_within_systems_is_named() -> None:
    for within, named in ((0.4, ()), (0.1, (LENGTH,))):
        found = comparison(
            {
                CONSTANT: NOTHING,
                LENGTH: drawn(0.2, within=0.1),
                NEAR: drawn(0.5, within=within, seed=1),
            }
        )
        assert verdict(found, "texts") == Verdict("texts", "use", NEAR, (), (), named)
        assert ("not shown to beat length" in recommendation(found)[0]) == bool(named)


def test_what_does_not_beat_a_trivial_method_is_not() -> None:
    found = comparison({LENGTH: drawn(0.45), NEAR: drawn(0.5, 0.06, seed=1)})
    assert verdict(found, "texts") == Verdict("texts", "trivial", NEAR, (LENGTH,), ())
    assert "trivial method length" in recommendation(found)[0]


def test_where_nothing_goes_with_the_ratings_nothing_is_recommended() -> None:
    found = comparison({LENGTH: drawn(0.01), NEAR: drawn(0.04, seed=1)})
    assert verdict(found, "texts").kind == "none"
    assert "trust none" in recommendation(found)[0]
    assert verdict(comparison({CONSTANT: NOTHING, NEAR: NOTHING}), "texts").best is None


def test_the_best_of_many_has_to_beat_the_constant_too() -> None:
    draws = {CONSTANT: NOTHING, LENGTH: drawn(-0.3), NEAR: drawn(0.1, 0.04, seed=1)}
    assert verdict(comparison(draws), "texts").kind == "use"
    others: dict[Key, Drawn] = {("texts", f"judge{k}", ""): drawn(0.05, seed=k) for k in range(9)}
    found = comparison(draws | others)
    assert (verdict(found, "texts").kind, verdict(found, "texts").rivals) == ("none", ())
    assert "trust none" in recommendation(found)[0]


def test_a_trivial_method_that_works_is_named_where_no_other_does() -> None:
    found = comparison({LENGTH: drawn(0.5), NEAR: drawn(0.02, seed=1)})
    assert verdict(found, "texts").kind == "trivial"


def test_the_split_that_matters_most_comes_first() -> None:
    draws: dict[Key, Drawn] = {NEAR: drawn(0.5), ("systems", "ridge", ""): drawn(0.4)}
    said = recommendation(comparison(draws, "texts", "systems"))
    assert "new system" in said[0]
    assert "ridge" in said[0]
    assert len(said) == 2
    assert "neighbors (bleu.char)" in said[1]


def test_what_only_tells_systems_apart_is_not_recommended() -> None:
    for within, kind in ((0.02, "systems"), (0.3, "use")):
        found = comparison({LENGTH: drawn(0.1), NEAR: drawn(0.5, within=within)})
        assert verdict(found, "texts").kind == kind
        said = recommendation(found)[0]
        assert ("tell systems apart" in said) == (kind == "systems")
        assert ("use neighbors" in said) == (kind == "use")


def test_a_score_is_put_beside_fifty_ratings(rated: Rated) -> None:
    rated = replace(rated, scores={"judge": rated.quality})
    raw, calibrated = ("texts", "judge", ""), ("texts", "judge.calibrated", "")
    # a line fitted anew in each fold may change r: what counts is the score as it was given
    found = comparison({raw: drawn(0.6), calibrated: drawn(0.1)})
    assert judged(rated, found) == []
    for r, word in ((0.3, "worth more than"), (0.6, "not told from"), (0.9, "worth less than")):
        found.curve_draws = {("ridge", 50): drawn(r, seed=3)["pearson"]}
        assert f"judge is {word} 50 ratings" in judged(rated, found)[0]
    found = comparison({raw: drawn(-0.6), calibrated: drawn(0.6)})
    assert "other sign" in judged(rated, found)[0]


def test_a_method_that_is_shown_to_be_worse_is_not_called_undecided() -> None:
    for r, worse in ((0.2, True), (0.48, False)):
        found = comparison({LENGTH: drawn(0.5), NEAR: drawn(r, 0.06, seed=1)})
        assert ("shown to be worse" in recommendation(found)[0]) == worse


def test_holm() -> None:
    a, b, c = NEAR, RIDGE, LENGTH
    assert holm({a: 0.01, b: 0.04, c: 0.03}) == pytest.approx({a: 0.03, c: 0.06, b: 0.06})
    assert holm({a: 0.5, b: 0.9}) == pytest.approx({a: 1.0, b: 1.0})
    assert holm({}) == {}


def test_p_value() -> None:
    assert p_value(np.r_[1.0, np.ones(999)]) == pytest.approx(1e-4)
    # two and a half times the spread, whatever the number of draws
    for number in (100, 2000):
        spread = stats.norm.ppf((np.arange(number) + 0.5) / number)
        expected = max(2 * stats.norm.sf(3.5), 1e-4)
        assert p_value(np.r_[3.5, 3.5 + spread]) == pytest.approx(expected, rel=0.1)
    assert p_value(np.r_[2.0, 2.0 + spread]) == pytest.approx(2 * stats.norm.sf(2), abs=2e-3)
    assert p_value(np.r_[0.0, -np.ones(500), np.ones(500)]) == pytest.approx(1.0)
    assert p_value(np.zeros(100)) == 1.0


def test_each_warning_has_its_cause(rated: Rated) -> None:
    splits, why = all_splits(rated)
    found = comparison({NEAR: drawn(0.5, within=0.01)})
    found.splits, found.why = splits, why

    def said(other: Rated) -> str:
        return " ".join(warnings(other, found))

    assert "120 different texts are few" in said(rated)
    assert "4 systems are not drawn" in said(rated)
    assert "not drawn" not in said(replace(rated, systems=None))
    many = replace(rated, systems=[f"s{k % 40}" for k in range(120)])
    assert "40 systems are not drawn" in said(many)
    assert "only tell systems apart" in said(rated)
    assert "Off the ratings' scale, or within less than half of it: score_judge" in said(rated)
    assert "column rater" not in said(rated)
    both = {name: list(getattr(rated, name)) for name in ("texts", "systems")}
    for values in both.values():
        values[1] = values[0]
    context = np.array(rated.context)
    context[1] = context[0]
    again = replace(rated, **both, context=context)
    assert "1 of 120 rows" in said(again)
    assert "column rater" in said(again)
    assert "far from all others" not in said(rated)
    assert "repeat an earlier one" not in said(rated)
    wording = rated.wording.copy()
    wording[3] = wording[4] = wording[5]
    assert "2 of 120 texts repeat an earlier one" in said(
        replace(rated, wording=np.unique(wording, return_inverse=True)[1])
    )
    quality = rated.quality / 20
    quality[0] = 1
    assert "far from all others" in said(replace(rated, quality=quality))
    assert "of the scale's width" not in said(rated)
    assert "of the scale's width" in said(replace(rated, quality=rated.quality / 1000))
    assert "may be made from them" not in said(rated)
    line = np.round(7 - 40 * rated.quality, 2)
    assert "may be made from them" in said(replace(rated, scores={"judge": line}))
    missing = rated.scores["judge"].copy()
    missing[:7] = np.nan
    assert "missing for 7 of 120 texts" in said(replace(rated, scores={"judge": missing}))
    missing[:] = np.nan
    assert "missing for all texts" in said(replace(rated, scores={"judge": missing}))
    copied = [[text] if k < 3 else ["another"] for k, text in enumerate(rated.texts)]
    assert "3 texts are word for word" in said(replace(rated, references=copied))
    found.draws = {NEAR: drawn(0.5, within=0.3)}
    assert "only tell systems apart" not in said(rated)
    found.splits = [replace(splits[0], repeated=4)]
    assert "4 of 120 texts stand word for word" in said(rated)
    found.curve_split = found.splits[0].name
    assert "differ in size" in said(rated)  # nothing stands at the mean training part
    found.curve_draws = {("ridge", 96): np.zeros(1), ("ridge", 90): np.zeros(1)}
    assert "differ in size" not in said(rated)
    fold = np.repeat(np.arange(3), [100, 10, 10])
    found.splits = [replace(splits[0], fold=fold)]
    assert "differ in size" in said(rated)
    # one small system ends the curve early, though training parts are about equally large
    fold = np.repeat(np.arange(4), [50, 50, 16, 4])
    found.splits = [replace(splits[0], fold=fold)]
    assert "differ in size" in said(rated)
