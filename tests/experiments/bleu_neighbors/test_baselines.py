"""Baselines on rated texts: which there are, what each is made from, and their files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless.data.wording import wording
from refless.errors import StaleError
from refless.experiments.bleu_neighbors.baselines import (
    SPLITS,
    Settings,
    baseline_estimates,
    read_baselines,
    without_own_system,
    write_baselines,
)
from refless.models.baselines import Constant, Length, RidgeTfidf, SystemMean, deal_folds
from refless.store import signed
from tests.experiments.bleu_neighbors.written import written_task
from tests.kernels.texts import random_sentences

N = 36
TEXTS = random_sentences(N, 6, seed=4)
QUALITY = np.random.default_rng(3).integers(0, 9, N) / 8
SYSTEM = [["p", "q", "r", "p+q"][i % 4] for i in range(N)]
SETTINGS = Settings(folds=4, seed=1)


def test_every_baseline_of_every_split_is_there(tmp_path: Path) -> None:
    quality = QUALITY.copy()
    quality[5] = np.nan  # nobody rated it
    task = written_task(tmp_path / "t", TEXTS, quality, SYSTEM)
    found = baseline_estimates(task.texts, SETTINGS)
    assert list(found) == [(name, split) for split, names in SPLITS.items() for name in names]
    assert {len(one) for one in found.values()} == {N - 1}
    rest = [i for i in range(N) if i != 5]
    mean = SystemMean().fit(
        [TEXTS[i] for i in rest], QUALITY[rest], systems=[SYSTEM[i] for i in rest]
    )
    np.testing.assert_allclose(found["system_mean", "texts"], mean.leave_one_out())


def test_folds_are_predicted_from_other_folds(tmp_path: Path) -> None:
    task = written_task(tmp_path / "t", TEXTS, QUALITY, SYSTEM)
    found = baseline_estimates(task.texts, SETTINGS)
    said = pd.factorize(np.array(list(map(wording, TEXTS)), object))[0]
    fold = deal_folds(said.max() + 1, 4, 1)[said]  # texts of one wording are in one
    for name, make in (("length", Length), ("ridge_tfidf", RidgeTfidf)):
        for k in range(4):
            rest, own = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            model = make().fit([TEXTS[i] for i in rest], QUALITY[rest], groups=said[rest])
            wanted = model.predict([TEXTS[i] for i in own])
            np.testing.assert_allclose(found[name, "folds"][own], wanted)


def test_the_same_text_never_stands_on_both_sides(tmp_path: Path) -> None:
    texts = [f"{text}{' .' if copy else '.'}" for copy in range(4) for text in TEXTS[:15]]
    chance = np.tile(np.random.default_rng(5).random(15), 4)
    task = written_task(tmp_path / "t", texts, chance, ["p"] * 60)
    found = baseline_estimates(task.texts, SETTINGS)["ridge_tfidf", "folds"]
    np.testing.assert_allclose(found[:15], found[45:], atol=0.2)
    assert np.corrcoef(found, chance)[0, 1] < 0.5


def test_without_its_own_system_a_text_is_judged_by_all_others() -> None:
    found = without_own_system(Constant, TEXTS, QUALITY, SYSTEM)
    for i in range(N):
        names = set(SYSTEM[i].split("+"))
        rest = [j for j in range(N) if not names & set(SYSTEM[j].split("+"))]
        assert found[i] == pytest.approx(QUALITY[rest].mean())
    # a text of all systems has nobody left
    everyone = without_own_system(Constant, ["a", "b"], QUALITY[:2], ["p", "p+q"])
    assert np.isnan(everyone).all()


def test_one_system_and_few_texts_have_fewer_baselines(tmp_path: Path) -> None:
    task = written_task(tmp_path / "t", TEXTS[:3], QUALITY[:3])
    found = baseline_estimates(task.texts, SETTINGS)
    assert list(found) == [(name, "texts") for name in ("constant", "length", "lookup")]


def test_estimates_come_back_from_their_file_of_the_same_ratings(tmp_path: Path) -> None:
    task, path = written_task(tmp_path / "t", TEXTS, QUALITY, SYSTEM), tmp_path / "t.npz"
    write_baselines(path, task, SETTINGS)
    found, origin = read_baselines(path, task, SETTINGS)
    assert origin == "computed"
    for key, estimate in baseline_estimates(task.texts, SETTINGS).items():
        np.testing.assert_array_equal(found[key], estimate)
    # numbers without text
    assert set(signed.read(path, "baselines").content) == {"estimates"}
    other = written_task(tmp_path / "other" / "t", TEXTS, 1 - QUALITY, SYSTEM)
    with pytest.raises(StaleError):
        read_baselines(path, other, SETTINGS)
    with pytest.raises(StaleError):
        read_baselines(path, task, Settings(folds=5, seed=1))
