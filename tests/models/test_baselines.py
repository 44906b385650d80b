"""Baselines: each against a slow computation of its definition."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from refless.errors import SettingError
from refless.models.baselines import (
    Baseline,
    Constant,
    Length,
    Lookup,
    Ngrams,
    RidgeTfidf,
    SystemMean,
    SystemRidge,
    out_of_fold,
)

NAN = float("nan")
TEXTS = ["a b", "a bc d", "a b", "long enough", "", "a bc d", "x y z", "xyz", "a b", "enough"]
QUALITY = np.array([0.1, 0.35, 0.3, 0.9, 0.0, 0.55, 0.7, 0.2, 0.8, 0.65])
SYSTEMS = ["p", "q", "q", "p+q", "r", "p", "q", "p", "r", "s"]
BASELINES: dict[str, Callable[[], Baseline]] = {
    "constant": Constant,
    "characters": Length,
    "tokens": lambda: Length("tokens"),
    "lookup": Lookup,
    "lookup, nan": lambda: Lookup(unseen="nan"),
    "lookup of the number of letters": lambda: Lookup(key=len, unseen="nan"),
    "system": SystemMean,
    "system, nan": lambda: SystemMean(unseen="nan"),
}


def slow(name: str, text: str, system: str, rows: list[int]) -> float:
    """The definition, one text at a time."""
    quality = QUALITY[rows]
    if name == "constant":
        return float(np.mean(quality))
    if name in ("characters", "tokens"):
        size = len if name == "characters" else lambda text: len(text.split())
        slope, start = np.polyfit([size(TEXTS[row]) for row in rows], quality, 1)
        return float(slope * size(text) + start)
    if name.startswith("system"):
        alike = [q for q, row in zip(quality, rows, strict=True) if system == SYSTEMS[row]]
    elif "letters" in name:
        alike = [q for q, row in zip(quality, rows, strict=True) if len(TEXTS[row]) == len(text)]
    else:
        alike = [q for q, row in zip(quality, rows, strict=True) if TEXTS[row] == text]
    unknown = NAN if "nan" in name or "letters" in name else float(np.mean(quality))
    return float(np.mean(alike)) if alike else unknown


@pytest.mark.parametrize("name", BASELINES)
def test_predictions_are_those_of_the_definition(name: str) -> None:
    new, systems = ["a b", "never seen", "xyz", ""], ["q", "nobody", "p+r", "s"]
    model = BASELINES[name]().fit(TEXTS, QUALITY, systems=SYSTEMS)
    found = model.predict(new, systems=systems)
    every = list(range(len(TEXTS)))
    wanted = [slow(name, text, system, every) for text, system in zip(new, systems, strict=True)]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11)
    assert found.dtype == np.float64


@pytest.mark.parametrize("name", BASELINES)
def test_leave_one_out_is_a_fit_without_the_example(name: str) -> None:
    found = BASELINES[name]().fit(TEXTS, QUALITY, systems=SYSTEMS).leave_one_out()
    wanted = []
    for i, (text, system) in enumerate(zip(TEXTS, SYSTEMS, strict=True)):
        rest = [row for row in range(len(TEXTS)) if row != i]
        model = BASELINES[name]().fit(
            [TEXTS[row] for row in rest], QUALITY[rest], systems=[SYSTEMS[row] for row in rest]
        )
        wanted += model.predict([text], systems=[system]).tolist()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11)


def test_means_without_ones_own_tie_where_they_are_equal() -> None:
    """0.3 + 0.1 - 0.3 is not 0.1 in floating point, and ranks would tell the two apart."""
    found = Lookup().fit(["a", "a", "b", "b"], [0.3, 0.1, 0.7, 0.1]).leave_one_out()
    assert found[0] == found[2] == 0.1


@pytest.mark.parametrize("scale", [1e-13, 1e-6, 1.0, 1e6])
def test_the_scale_of_ratings_changes_nothing(scale: float) -> None:
    quality = np.array([1.0, 2, 4, 5, 3, 2, 2])
    systems = ["a", "a", "a", "b", "b", "b", "b"]
    texts = [f"text {k}" for k in range(7)]
    for given in (quality, quality * scale):
        model = SystemMean().fit(texts, given, systems=systems)
        found = model.leave_one_out() / given.max()
        np.testing.assert_allclose(found * 5, [3, 2.5, 1.5, 7 / 3, 3, 10 / 3, 10 / 3], rtol=1e-11)


@pytest.mark.parametrize("name", BASELINES)
def test_one_training_example_has_no_other(name: str) -> None:
    model = BASELINES[name]().fit(["a"], [0.4], systems=["p"])
    assert np.isnan(model.leave_one_out()).tolist() == [True]
    np.testing.assert_allclose(model.predict(["a"], systems=["p"]), [0.4])


@pytest.mark.parametrize("unit", ["characters", "tokens"])
def test_equal_lengths_leave_the_mean(unit: str) -> None:
    model = Length(unit).fit(["abc", "def"], [0.2, 0.4])
    np.testing.assert_allclose(model.predict(["a b c d"]), [0.3])
    np.testing.assert_allclose(model.leave_one_out(), [0.4, 0.2])


# ---- ridge regression ---------------------------------------------------------------------------


def made_up(n: int = 60) -> tuple[list[str], np.ndarray]:
    """Texts of good and bad words, and a quality that counts the good ones."""
    generator = np.random.default_rng(3)
    good, bad = ["splendid", "lovely", "fine"], ["dreadful", "awful", "vague"]
    texts, quality = [], []
    for _ in range(n):
        right = int(generator.integers(0, 5))
        words = [*generator.choice(good, right), *generator.choice(bad, 4 - right)]
        texts.append(" ".join(generator.permutation(words)))
        quality.append(right / 4)
    return texts, np.array(quality) + generator.normal(0, 0.01, n)


def test_ridge_is_the_closed_form_of_its_alpha() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, quality = made_up()
    model = RidgeTfidf(alphas=[0.7]).fit(texts[:50], quality[:50])
    weigh = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3))
    own, new = weigh.fit_transform(texts[:50]).toarray(), weigh.transform(texts[50:]).toarray()
    away = own - own.mean(axis=0)
    dual = np.linalg.solve(away @ away.T + 0.7 * np.eye(50), quality[:50] - quality[:50].mean())
    wanted = quality[:50].mean() + (new - own.mean(axis=0)) @ (away.T @ dual)
    np.testing.assert_allclose(model.predict(texts[50:]), wanted, atol=1e-10)
    assert np.corrcoef(wanted, quality[50:])[0, 1] > 0.8


@pytest.mark.parametrize("make", [RidgeTfidf, SystemRidge])
def test_ngrams_that_are_counted_once_change_nothing(make: Any) -> None:
    texts, quality = made_up()
    systems = ["a" if k % 3 else "b" for k in range(len(texts))]
    shared = Ngrams([*texts, "\u00e9 of no training text", "  "])
    for rows in (slice(0, 40), slice(20, 60)):
        told = {"systems": systems[rows]}
        alone, fast = make(), make(shared)
        for model in (alone, fast):
            model.fit(texts[rows], quality[rows], **told)
        asked = [*texts, "\u00e9 of no training text", "that nobody counted"]
        of = {"systems": [*systems, "a", "b"]}
        found, wanted = fast.predict(asked, **of), alone.predict(asked, **of)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
    blank = make(shared).fit(["  ", "  "], [0.0, 1.0], systems=["a", "a"])
    assert blank.predict(["x"], systems=["a"]).tolist() == [0.5]


def test_ridge_beside_the_system_is_its_mean_and_ridge_on_the_rest() -> None:
    texts, quality = made_up()
    systems = ["kind" if k % 3 else "strict" for k in range(len(texts))]
    offset = np.where(np.array(systems) == "kind", 0.5, -1.0)
    model = SystemRidge().fit(texts[:50], (quality + offset)[:50], systems=systems[:50])
    means = SystemMean().fit(texts[:50], (quality + offset)[:50], systems=systems[:50])
    rest = (quality + offset)[:50] - means.predict(texts[:50], systems=systems[:50])
    ridge = RidgeTfidf().fit(texts[:50], rest)
    wanted = means.predict(texts, systems=systems) + ridge.predict(texts)
    np.testing.assert_allclose(model.predict(texts, systems=systems), wanted, atol=1e-10)
    assert np.corrcoef(wanted[50:], (quality + offset)[50:])[0, 1] > 0.9
    new = model.predict(texts[:3], systems=["nobody"] * 3)
    np.testing.assert_allclose(new, model.mean_ + ridge.predict(texts[:3]), atol=1e-10)
    np.testing.assert_array_equal(model.quality_, (quality + offset)[:50])


def test_a_constant_may_be_given() -> None:
    model = Constant(0.5).fit(["a", "b"], [0.0, 0.1])
    np.testing.assert_array_equal(model.predict(["c"]), [0.5])
    np.testing.assert_array_equal(model.leave_one_out(), [0.5, 0.5])


def test_alpha_is_chosen_within_the_training_examples() -> None:
    """Where quality is a matter of words a weak penalty wins, where it is chance the strongest."""
    texts, quality = made_up()
    clear = RidgeTfidf().fit(texts, quality)
    noise = RidgeTfidf().fit(texts, np.random.default_rng(0).random(len(texts)))
    assert clear.alpha_ < noise.alpha_ == 100
    again = RidgeTfidf().fit(texts, quality)
    np.testing.assert_array_equal(clear.predict(texts), again.predict(texts))


def test_groups_stay_together_while_alpha_is_chosen() -> None:
    """Twins with one quality: apart, a weak penalty learns each by heart; together, none helps."""
    generator = np.random.default_rng(1)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    once = ["".join(generator.choice(letters, 12)) for _ in range(40)]
    quality = np.repeat(generator.random(40), 2)
    twins = [text for text in once for _ in range(2)]
    apart = RidgeTfidf().fit(twins, quality)
    together = RidgeTfidf().fit(twins, quality, groups=np.repeat(np.arange(40), 2).tolist())
    assert apart.alpha_ < together.alpha_


@pytest.mark.parametrize("texts", [["", " "], ["same", "same"], ["alone"]])
def test_ridge_without_anything_to_learn_is_the_mean(texts: list[str]) -> None:
    quality = [0.2, 0.6][: len(texts)]
    found = RidgeTfidf().fit(texts, quality).predict(["same", "new"])
    np.testing.assert_allclose(found, np.mean(quality))


def test_one_group_leaves_no_choice_of_alpha() -> None:
    texts, quality = made_up(10)
    assert RidgeTfidf().fit(texts, quality, groups=["g"] * 10).alpha_ == 100


def test_the_import_leaves_scikit_learn_alone() -> None:
    """Every job would wait for it."""
    code = "import sys, refless.models.baselines; print('sklearn' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


# ---- folds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BASELINES)
def test_out_of_fold_fits_on_the_other_folds(name: str) -> None:
    fold = np.arange(len(TEXTS)) % 3
    found = out_of_fold(BASELINES[name], TEXTS, QUALITY, fold, systems=SYSTEMS)
    for i, (text, system) in enumerate(zip(TEXTS, SYSTEMS, strict=True)):
        wanted = slow(name, text, system, np.flatnonzero(fold != fold[i]).tolist())
        np.testing.assert_allclose(found[i], wanted, rtol=0, atol=1e-11)


# ---- faults of the input ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda: Constant().fit([], []), "no text with a quality"),
        (lambda: Constant().fit("abc", [1, 2, 3]), "one string"),
        (lambda: Constant().fit({"a", "b"}, [1, 2]), "a set"),
        (lambda: Constant().fit(["a"], [NAN]), "text 0 .from 0. is nan"),
        (lambda: Constant().fit(["a", "b"], [1]), "2 texts but 1"),
        (lambda: Constant().fit(["a"], [1]).predict("abc"), "one string"),
        (lambda: Constant().predict(["a"]), "no training examples yet"),
        (lambda: Lookup().leave_one_out(), "no training examples yet"),
        (lambda: SystemMean().fit(["a"], [1]), "systems"),
        (lambda: SystemMean().fit(["a"], [1], systems=["p", "q"]), "1 texts but 2 systems"),
        (lambda: SystemMean().fit(["a"], [1], systems=["p"]).predict(["a"]), "systems"),
        (lambda: RidgeTfidf().fit(["a"], [1], groups=[1, 2]), "1 texts but 2 groups"),
        (lambda: RidgeTfidf().fit(["a"], [1]).leave_one_out(), "each training example"),
        (lambda: RidgeTfidf(alphas=[0.0]), "alphas"),
        (lambda: RidgeTfidf(alphas=[]), "alphas"),
        (lambda: RidgeTfidf(folds=1), "folds"),
        (lambda: Length("words"), "unit"),
        (lambda: Lookup(unseen="zero"), "unseen"),
        (lambda: out_of_fold(Constant, ["a", "b"], [1, 2], [0, 0]), "one fold"),
        (lambda: out_of_fold(Constant, ["a", "b"], [1, 2], [0]), "2 texts but 1 folds"),
        (lambda: out_of_fold(Constant, ["a", "b"], [1], [0, 1]), "2 texts but 1 qualities"),
    ],
)
def test_a_fault_of_the_input_is_one_clear_error(fault: Callable[[], object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        fault()
