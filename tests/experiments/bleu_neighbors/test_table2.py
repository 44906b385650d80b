"""Table 2: estimates across data sets against loops over pairs, its files, its rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.data.task import Task, read_task
from refless.errors import StaleError
from refless.experiments.bleu_neighbors.leave_one_out import model_cells
from refless.experiments.bleu_neighbors.table1 import Settings
from refless.experiments.bleu_neighbors.table2 import (
    BASELINES,
    KEYS,
    MODEL,
    Pair,
    cross_estimates,
    read_pairs,
    table2,
    write_cross_estimates,
)
from refless.kernels import kernel
from tests.experiments.bleu_neighbors.written import written_task
from tests.workflow import small_data

KERNELS = ["bleu.char", "bleu.word"]
TAUS = dict.fromkeys(KERNELS, 0.3)
SETTINGS = Settings(2, 0.66, 100, 1, {"bleu": KERNELS})
PUBLISHED = pd.DataFrame(
    [["here", "here", "0.325"], ["far", "here", "0.032"]], columns=[*KEYS, "spearman"]
)
LOOKS: dict[str, dict[str, Any]] = {
    "gone": {"published": "far"},
    "mine": {"published": "here"},
    "other": {"published": ""},
}


def texts(n: int, seed: int, unrated: int = 0) -> pd.DataFrame:
    quality = np.random.default_rng(seed).integers(0, 21, n) / 20
    quality[:unrated] = np.nan
    ids = [f"t:{i:04d}" for i in range(n)]
    return pd.DataFrame({"id": ids, "text": small_data.sentences(n, seed), "quality": quality})


def task(folder: Path, n: int, seed: int) -> Task:
    own = texts(n, seed)
    systems = ["human", "one", "other"] * n
    return written_task(folder, own["text"].tolist(), own["quality"].to_numpy(), systems[:n])


def slow_estimates(
    name: str, source: pd.DataFrame, target: pd.DataFrame, tau: float, same: bool
) -> list[tuple[int, float]]:
    """(neighbors, estimate), one pair of texts at a time."""
    found = []
    for i, candidate in enumerate(target["text"]):
        near = [
            quality
            for j, (text, quality) in enumerate(zip(source["text"], source["quality"], strict=True))
            if not (same and i == j) and kernel(name, [candidate], [text])[0, 0] >= tau
        ]
        found.append((len(near), float(np.mean(near)) if near else float("nan")))
    return found


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("dense_pairs", [0, 10**6])
def test_estimates_are_those_of_each_pair_alone(same: bool, dense_pairs: int) -> None:
    source = texts(18, 1)
    target = source if same else texts(14, 2)
    found = cross_estimates(TAUS, source, target, same=same, dense_pairs=dense_pairs)
    assert found["id"].tolist() == target["id"].tolist()
    for name in KERNELS:
        slow = slow_estimates(name, source, target, 0.3, same)
        assert found[f"neighbors_{name}"].tolist() == [number for number, _ in slow]
        np.testing.assert_allclose(found[f"estimate_{name}"], [value for _, value in slow])
    assert found["neighbors_bleu.char"].max() > 0


def test_unrated_texts_neither_train_nor_are_scored() -> None:
    source, target = texts(18, 1, unrated=4), texts(14, 2, unrated=3)
    found = cross_estimates(TAUS, source, target, same=False)
    rated = cross_estimates(TAUS, source[4:], target[3:], same=False)
    pd.testing.assert_frame_equal(found, rated)
    assert len(found) == 11


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Pair]:
    """All pairs of two data sets, from their files."""
    base = tmp_path_factory.mktemp("pairs")
    tasks = [task(base / "mine", 60, 1), task(base / "other", 40, 2)]
    paths = []
    for source in tasks:
        for target in tasks:
            paths.append(base / f"{source.name}.{target.name}.csv")
            write_cross_estimates(paths[-1], source, target, TAUS)
    return read_pairs(paths, [base / "mine", base / "other"], TAUS)[0]


def test_each_pair_has_its_cells(there: dict[tuple[str, str], Pair]) -> None:
    table = table2(LOOKS, there, PUBLISHED, SETTINGS)
    assert len(table[table["model"] == MODEL]) == 9 * 2
    first = table[table["kernel"] == "bleu.char"].set_index(KEYS)
    for (source, target), own in there.items():
        assert own.training == {"mine": 60, "other": 40}[source] - (source == target)
        cells = model_cells(own.of("bleu.char"), 2, 0.66, 100, 1)
        row = first.loc[(source, target)]
        assert row["spearman"] == cells["spearman"]
        assert row["coverage_high"] == cells["coverage_high"]
        assert row["n_train"] == own.training
    assert first.loc[("mine", "mine"), "paper_spearman"] == "0.325"
    assert first.loc[("mine", "other"), "paper_spearman"] == ""


def test_each_pair_is_taken_apart_by_the_systems_of_its_target(
    there: dict[tuple[str, str], Pair],
) -> None:
    table = table2(LOOKS, there, PUBLISHED, SETTINGS).set_index([*KEYS, "model"])
    row = table.loc[("mine", "other", "length")]
    own = there["mine", "other"].estimates
    systems = np.arange(len(own)) % 3
    estimate, quality = (own[name] for name in ("estimate_length", "quality"))
    within = estimate - estimate.groupby(systems).transform("mean")
    assert row["within_spearman"] == pytest.approx(stats.spearmanr(within, quality).statistic)
    assert row["systems"] == 3
    # of a rho that may be 0 it says nothing
    assert row["spearman_low"] < 0 < row["spearman_high"]
    assert np.isnan(row["between_share"])
    pair = there["mine", "other"]
    good = own.assign(estimate_length=quality + 0.1 * (systems == 1), quality=quality)
    kept = table2(LOOKS, {("mine", "other"): replace(pair, estimates=good)}, PUBLISHED, SETTINGS)
    ranks = [stats.rankdata(good[name]) for name in ("estimate_length", "quality")]
    means = [np.array([v[systems == k].mean() for k in systems]) for v in ranks]
    share = np.cov(*means)[0, 1] / np.cov(*ranks)[0, 1]
    row = kept.set_index([*KEYS, "model"]).loc[("mine", "other", "length")]
    assert row["between_share"] == pytest.approx(share)


def test_baselines_stand_beside_each_pair(
    there: dict[tuple[str, str], Pair], tmp_path: Path
) -> None:
    table = table2(LOOKS, there, PUBLISHED, SETTINGS)
    rows = table[table["model"] != MODEL].set_index([*KEYS, "model"])
    assert rows["paper_spearman"].eq("").all()
    assert rows["agreement"].eq("").all()
    for source, target in there:
        names = [name for name in BASELINES if source != target or name != "ridge_tfidf"]
        assert rows.loc[(source, target)].index.tolist() == names
    # a line on the length, fitted on all texts of the source
    mine, other = task(tmp_path / "mine", 60, 1).texts, task(tmp_path / "other", 40, 2).texts
    slope, intercept = np.polyfit(mine["text"].str.len(), mine["quality"], 1)
    estimate = intercept + slope * other["text"].str.len()
    row = rows.loc[("mine", "other", "length")]
    assert row["mse"] == pytest.approx(((estimate - other["quality"]) ** 2).mean())
    assert row["spearman"] == pytest.approx(stats.spearmanr(estimate, other["quality"]).statistic)
    # each of the source without itself
    total, n = mine["quality"].sum(), len(mine)
    others = (total - mine["quality"]) / (n - 1)
    row = rows.loc[("mine", "mine", "constant")]
    assert row["mse"] == pytest.approx(((others - mine["quality"]) ** 2).mean())
    assert np.isnan(row["spearman"])
    assert row["n_train"] == n - 1


def test_a_pair_or_a_kernel_that_is_missing_keeps_its_row(
    there: dict[tuple[str, str], Pair],
) -> None:
    own = there["other", "other"]
    less = Pair(own.estimates.drop(columns="estimate_bleu.word"), own.training, "shipped")
    table = table2(LOOKS, {("other", "other"): less}, PUBLISHED, SETTINGS)
    rows = table.set_index([*KEYS, "kernel"])
    missing = rows.loc[("gone", "mine", "bleu.char")]
    assert np.isnan(missing["spearman"])
    assert (missing["paper_spearman"], missing["agreement"]) == ("0.032", "not available")
    ours = rows[rows["model"] == MODEL]
    assert ours.loc[("other", "other"), "provenance"].tolist() == ["shipped", ""]
    assert all(isinstance(note, list) for note in table["note"])


def test_texts_that_see_their_own_rating_are_told(tmp_path: Path) -> None:
    said = [f"text {k}" for k in range(18)]
    written_task(tmp_path / "one", [*said, "Text 0", "text 1!"], np.linspace(0, 1, 20))
    written_task(tmp_path / "other", [f"more {k}" for k in range(19)] + ["TEXT 3"], np.ones(20))
    paths = []
    for source, target in (("one", "one"), ("one", "other"), ("other", "other")):
        paths.append(tmp_path / f"{source}.{target}.csv")
        write_cross_estimates(
            paths[-1], read_task(tmp_path / source), read_task(tmp_path / target), TAUS
        )
    pairs, _ = read_pairs(paths, [tmp_path / "one", tmp_path / "other"], TAUS)
    # both texts of a pair see the other one
    assert [pair.shared for pair in pairs.values()] == [4, 1, 0]


@pytest.mark.drill(
    "A file between two stages is not what was written",
    "Estimates across data sets were made from other texts, other ratings or with another tau",
    "refused",
    "by table 2",
)
def test_estimates_from_other_texts_or_ratings_or_tau_are_stale(tmp_path: Path) -> None:
    own = task(tmp_path / "mine", 20, 1)
    path = tmp_path / "mine.mine.csv"
    write_cross_estimates(path, own, own, TAUS)
    read_pairs([path], [tmp_path / "mine"], TAUS)
    with pytest.raises(StaleError):
        read_pairs([path], [tmp_path / "mine"], dict.fromkeys(KERNELS, 0.2))
    quality = own.texts["quality"].to_numpy()
    for text, value in (("another", quality[0]), (own.texts["text"][0], 1 - quality[0])):
        changed = [text, *own.texts["text"][1:]]
        written_task(tmp_path / "mine", changed, np.r_[value, quality[1:]])
        with pytest.raises(StaleError):
            read_pairs([path], [tmp_path / "mine"], TAUS)
