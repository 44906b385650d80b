"""What is said follows from the tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from refless.compare.evaluate import Comparison, Settings, compare, estimate, p_value
from refless.compare.predict import TRIVIAL
from refless.compare.read import Rated, Raters
from refless.compare.verdict import MOST, answer, command, verdict, warnings

QUICK = Settings(kernels=("bleu.char",), draws=200, repeats=1, curve=False)


@pytest.fixture(scope="module")
def found(rated: Rated) -> Comparison:
    return compare(rated, QUICK)


def test_the_best_method_is_tested_against_the_best_trivial_one(
    rated: Rated, found: Comparison
) -> None:
    own = verdict(found, "systems")
    table = found.table[found.table["split"] == "systems"].set_index("method")
    tried = table.drop(list(TRIVIAL))["pearson"].dropna()
    assert own.best is not None
    assert (own.best[1], own.methods) == (tried.idxmax(), len(tried))
    assert own.gap.value == pytest.approx(table.loc[own.best[1], "difference"])
    assert own.p == table.loc[own.best[1], "p"]
    assert own.corrected == pytest.approx(min(1, len(tried) * own.p))
    assert own.shown
    said = answer(rated, found)[1]
    assert said.startswith("new systems: ridge r 0.")
    assert f"corrected for {len(tried)} methods" in said
    assert "shown (120 texts)" in said


def test_chance_is_not_shown(rated: Rated) -> None:
    shuffled = np.random.default_rng(0).permutation(rated.quality)
    other = replace(rated, quality=shuffled, scores={})
    made = compare(other, QUICK)
    assert not any(verdict(made, name).shown for name in made.splits)
    assert all(line.endswith("not shown (120 texts).") for line in answer(other, made)[1:])
    assert command(made, ["rated.tsv"]).startswith("next: rate more")


def test_what_covers_few_texts_is_no_yardstick(rated: Rated, found: Comparison) -> None:
    """A look-up that has an estimate for a handful of texts."""
    row = ("systems", "lookup", "")
    draws = {name: own.copy() for name, own in found.draws["systems", "length", ""].items()}
    draws["pearson"][:] = 0.99
    for share, rival in ((0.01, False), (0.5, True)):
        draws["coverage"] = np.array([share])
        own = replace(found, draws={**found.draws, row: dict(draws)})
        assert (verdict(own, "systems").rival == row) == rival


def test_the_next_command_names_the_method(found: Comparison) -> None:
    assert "--method ridge --outputs" in command(found, ["my rated.tsv"])
    assert "'my rated.tsv'" in command(found, ["my rated.tsv"])


def test_the_next_command_may_be_of_a_split_that_matters_less(found: Comparison) -> None:
    others = replace(found, draws={k: own for k, own in found.draws.items() if k[0] != "systems"})
    (split, *_) = [name for name in found.splits if verdict(others, name).shown]
    assert split != found.main
    said = command(others, ["rated.tsv"])
    assert split in said.partition(":")[0]
    assert "rated.tsv" in said


def test_a_kernel_that_reads_most_texts_as_empty_is_told(rated: Rated) -> None:
    texts = [f"слово {'текст ' * i}" for i in range(len(rated))]
    made = compare(replace(rated, texts=texts), replace(QUICK, kernels=("rouge_l.stem",)))
    assert any(line.startswith("rouge_l.stem reads") for line in warnings(rated, made))


def test_p_of_draws() -> None:
    gap = np.concatenate([[0.3], np.linspace(-0.1, 0.7, 999)])
    share = (gap[1:] <= 0).sum()
    assert p_value(gap) == pytest.approx(2 * (share + 1) / 1000)
    far = np.concatenate([[1.0], 1 + 0.1 * np.random.default_rng(0).normal(size=99)])
    assert p_value(far) == 1e-4
    assert np.isnan(p_value(np.array([0.3, np.nan, np.nan])))


def test_an_interval_that_leaves_out_its_number_is_not_printed() -> None:
    assert np.isnan(estimate(np.array([1.0, *np.linspace(0.8, 0.95, 99)])).low)
    assert estimate(np.array([0.9, *np.linspace(0.8, 0.95, 99)])).low > 0.8


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"answers": None, "context": None, "group": None}, "No column context"),
        ({"same": np.arange(120) % 20}, "too few for intervals"),
        ({}, "few, so intervals are wide"),
        ({}, "systems are not drawn anew"),
    ],
)
def test_warnings(rated: Rated, found: Comparison, changes: dict[str, object], word: str) -> None:
    said = warnings(replace(rated, **changes), found)  # type: ignore[arg-type]
    assert any(word in line for line in said)
    assert len(said) <= MOST
    assert len(set(said)) == len(said)


def test_a_score_made_from_the_ratings_is_noticed(rated: Rated, found: Comparison) -> None:
    copy = {"score_copy": np.round(rated.quality, 2)}
    assert "score_copy" in " ".join(warnings(replace(rated, scores=copy), found))


def test_a_method_that_only_knows_systems_is_noticed(rated: Rated) -> None:
    assert rated.system is not None
    generator = np.random.default_rng(1)
    quality = rated.system / 4 + generator.random(120) / 10
    score = {"score_system": rated.system + generator.normal(0, 0.1, 120)}
    made = compare(replace(rated, quality=quality, scores=score), replace(QUICK, kernels=()))
    splits = {"contexts": made.splits["contexts"]}
    row = ("contexts", "score_system", "")
    kept = {key: own for key, own in made.draws.items() if key in (row, ("contexts", "length", ""))}
    assert verdict(replace(made, draws=kept, splits=splits), "contexts").shown
    said = warnings(rated, replace(made, draws=kept, splits=splits))
    assert any("which systems are good" in line for line in said)


def test_a_guessed_scale_is_said_with_what_lies_at_its_ends(rated: Rated) -> None:
    quality = np.append(np.linspace(0, 1, 119) ** 2 * 0.015, 1)
    own = replace(rated, scale=(14.3, 5656), guessed=True, quality=quality)
    said = answer(own, Comparison(*[None] * 3, {}, {}, {"texts": []}, {}))[0]  # type: ignore[arg-type]
    assert "14.3 to 5,656 (99% of ratings lie below 9" in said
    assert "guessed" not in answer(replace(own, guessed=False), compare_none())[0]


def compare_none() -> Comparison:
    return Comparison(*[None] * 3, {}, {}, {"texts": []}, {})  # type: ignore[arg-type]


@pytest.mark.parametrize(("between", "said"), [(0.25, True), (0.02, False)])
def test_raters_are_told_with_the_ceiling_of_r(rated: Rated, between: float, said: bool) -> None:
    own = replace(rated, raters=Raters(112, 3.0, 0.4, 0.64, 0.8, between))
    line = answer(own, compare_none())[1]
    assert "112 raters" in line
    assert "above 0.80" in line
    assert ("--center-raters" in line) == said
