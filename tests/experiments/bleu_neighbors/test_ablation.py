"""The ablation's variants against slow loops over the definitions, and its table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.data.task import Task
from refless.errors import StaleError
from refless.experiments.bleu_neighbors import ablation, baselines
from refless.experiments.bleu_neighbors.ablation import (
    BASELINES,
    BY_SYSTEM,
    COLUMNS,
    LEAST_TAU,
    PLAIN,
    TRAINING_VARIANTS,
    Rated,
    Settings,
    TaskNumbers,
    ablation_table,
    lacking,
    matched_tau,
    other_kernel,
    rated,
    read_ablations,
    system_bits,
    system_groups,
    tau_grid,
    training_variants,
    write_ablation,
)
from refless.experiments.bleu_neighbors.baselines import read_baselines, write_baselines
from refless.kernels import kernel
from refless.models.neighbors import NeighborsRegressor
from refless.statistics import between_and_within
from tests.experiments.bleu_neighbors.written import written_task
from tests.kernels.texts import random_sentences

SETTINGS = Settings("bleu.char", 0.2, 2, 0.5, halves=5, tau_step=0.05, seed=3)
NAN = float("nan")


def made_up(n: int = 50) -> Rated:
    generator = np.random.default_rng(1)
    systems = generator.choice(["human", "one", "two", "one+two"], n, p=[0.4, 0.3, 0.2, 0.1])
    return Rated(
        random_sentences(n, 9, seed=8),
        generator.integers(0, 9, n) / 8,
        list(systems),
        [f"context {i // 3}" for i in range(n)],
    )


DATA = made_up()
MATRIX = kernel("bleu.char", DATA.text, DATA.text)


def slow(allowed: np.ndarray, weighted: bool = False) -> np.ndarray:
    """One candidate after the other; ``allowed`` says which training texts each may have."""
    n = len(DATA.text)
    out = np.full(n, NAN)
    for i in range(n):
        training = [j for j in range(n) if j != i and allowed[i, j]]
        near = [j for j in training if MATRIX[i, j] >= SETTINGS.tau]
        if SETTINGS.a <= len(near) <= SETTINGS.b * len(training):
            weight = [MATRIX[i, j] if weighted else 1.0 for j in near]
            total = sum(w * DATA.quality[j] for w, j in zip(weight, near, strict=True))
            out[i] = total / sum(weight)
    return out


def same(values: list) -> np.ndarray:
    return np.array([[a == b for b in values] for a in values])


@pytest.fixture(scope="module")
def found() -> dict[str, ablation.Prediction]:
    return training_variants(DATA, SETTINGS)


def test_every_variant_is_there(found: dict[str, ablation.Prediction]) -> None:
    assert set(found) == {PLAIN, *TRAINING_VARIANTS}
    for one in found.values():
        assert 3 < (~np.isnan(one.estimate)).sum() < len(DATA.text)


def test_plain_is_the_model(found: dict[str, ablation.Prediction]) -> None:
    model = NeighborsRegressor("bleu.char", SETTINGS.tau, SETTINGS.a, SETTINGS.b)
    expected = model.fit(DATA.text, DATA.quality).leave_one_out()
    np.testing.assert_allclose(found[PLAIN].estimate, expected, rtol=1e-12)
    assert found[PLAIN].neighbors == np.median(model.neighbors_)
    assert found[PLAIN].training == len(DATA.text) - 1


def test_variants_are_those_of_the_definitions(found: dict[str, ablation.Prediction]) -> None:
    n = len(DATA.text)
    everything = np.ones((n, n), bool)
    shared = np.array(
        [[bool(set(a.split("+")) & set(b.split("+"))) for b in DATA.system] for a in DATA.system]
    )
    expected = {
        PLAIN: slow(everything),
        "weighted": slow(everything, weighted=True),
        "other_systems": slow(~shared),
        "own_system": slow(shared),
        "other_contexts": slow(~same(DATA.context)),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(found[name].estimate, values, rtol=1e-12, err_msg=name)


def test_shuffled_systems_leave_out_as_many(found: dict[str, ablation.Prediction]) -> None:
    generator = np.random.default_rng(SETTINGS.seed)
    bits = generator.permutation(system_bits(DATA.system))
    allowed = (bits[:, None] & bits[None, :]) == 0
    np.testing.assert_allclose(found["shuffled_systems"].estimate, slow(allowed), rtol=1e-12)


def test_halves_are_the_mean_of_predictions_from_halves(
    found: dict[str, ablation.Prediction],
) -> None:
    n = len(DATA.text)
    generator = np.random.default_rng(SETTINGS.seed)
    generator.permutation(system_bits(DATA.system))
    halves = [generator.permutation(n) < n // 2 for _ in range(SETTINGS.halves)]
    each = np.array([slow(np.tile(half, (n, 1))) for half in halves])
    np.testing.assert_allclose(found["one_half"].estimate, each[0], rtol=1e-12)
    expected = np.full(n, NAN)
    for i in range(n):
        there = each[~np.isnan(each[:, i]), i]
        if len(there) >= SETTINGS.halves / 2:
            expected[i] = there.mean()
    assert 3 < (~np.isnan(expected)).sum() < n
    np.testing.assert_allclose(found["halves"].estimate, expected, rtol=1e-12)


def test_blocks_and_threads_give_the_same_bits(
    found: dict[str, ablation.Prediction], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ablation, "ROWS", 7)
    again = training_variants(DATA, SETTINGS, threads=2)
    for name, one in found.items():
        assert np.array_equal(one.estimate, again[name].estimate, equal_nan=True), name


def test_another_kernel_gets_the_tau_that_gives_as_many_neighbors() -> None:
    other = other_kernel("rouge_l.plain", DATA, SETTINGS)
    matrix = kernel("rouge_l.plain", DATA.text, DATA.text)
    near = (matrix[None] >= tau_grid(SETTINGS.tau_step)[:, None, None]).sum(2) - (
        np.diag(matrix) >= tau_grid(SETTINGS.tau_step)[:, None]
    )
    wanted = np.median((SETTINGS.tau <= MATRIX).sum(1) - (np.diag(MATRIX) >= SETTINGS.tau))
    distance = np.abs(np.median(near, axis=1) - wanted)
    assert other.tau == tau_grid(SETTINGS.tau_step)[int(np.argmin(distance))]
    model = NeighborsRegressor("rouge_l.plain", other.tau, SETTINGS.a, SETTINGS.b)
    expected = model.fit(DATA.text, DATA.quality).leave_one_out()
    np.testing.assert_allclose(other.estimate, expected, rtol=1e-12)


def test_matched_tau_by_hand() -> None:
    counts = np.array([[9, 5, 2, 0], [7, 4, 1, 0], [8, 6, 3, 0]])  # medians 8, 5, 2, 0
    assert matched_tau(counts, np.array([6, 1, 50])) == 1
    assert matched_tau(counts, np.array([0, 0, 0])) == 3
    assert matched_tau(0 * counts, np.array([5, 5, 5])) == 0
    assert tau_grid(0.25).tolist() == [LEAST_TAU, 0.25, 0.5, 0.75, 1.0]


def test_systems_as_bits() -> None:
    bits = system_bits(["a", "b", "b+a", "c", "a+a"])
    assert [(int(x) & int(bits[2])) != 0 for x in bits] == [True, True, True, False, True]
    assert len({int(x) for x in system_bits([f"s{i}" for i in range(62)])}) == 62


def test_groups_leave_out_what_cannot_be_ranked() -> None:
    text = [*"abcdefghij", *"z" * 12, *"abc"]
    system = [*["one"] * 10, *["constant"] * 12, *["small"] * 3]
    groups = system_groups(Rated(text, np.zeros(25), system, text))
    assert len(set(groups[:10])) == 1
    assert groups[0] >= 0
    assert set(groups[10:]) == {-1}


def test_unrated_texts_are_no_candidates() -> None:
    table = pd.DataFrame(
        {"text": ["a", "b"], "quality": [NAN, 0.5], "system": ["s", "t"], "context": ["", ""]}
    )
    data = rated(table)
    assert (data.text, data.quality.tolist(), data.system) == (["b"], [0.5], ["t"])


def test_what_the_data_do_not_tell_apart_is_left_out() -> None:
    n = len(DATA.text)
    blank = Rated(DATA.text, DATA.quality, [""] * n, [""] * n)
    assert set(lacking(DATA)) == set()
    assert set(lacking(blank)) == {*BY_SYSTEM, "other_contexts"}
    many = Rated(DATA.text * 2, DATA.quality, [f"s{i}" for i in range(2 * n)], DATA.context * 2)
    assert set(lacking(many)) == set(BY_SYSTEM)
    assert set(training_variants(blank, SETTINGS)) == {*(PLAIN, "weighted", "halves", "one_half")}


def test_the_table_has_a_row_for_every_variant(found: dict[str, ablation.Prediction]) -> None:
    numbers = TaskNumbers(
        DATA.quality,
        system_groups(DATA),
        found,
        {"embedding.none": []},
    )
    table = ablation_table(["made_up", "elsewhere"], {"made_up": numbers}, draws=200, seed=1)
    assert table.columns.tolist() == COLUMNS
    assert table["variant"].tolist() == [*found, "embedding.none", PLAIN]
    own = table.set_index("variant").loc["weighted"]
    assert own["label"] == TRAINING_VARIANTS["weighted"]
    assert own["spearman_change"] == pytest.approx(own["spearman"] - table["spearman"][0])
    assert own["spearman_change_low"] <= own["spearman_change"] <= own["spearman_change_high"]
    assert own["n_common"] == own["n_covered"]
    assert table["provenance"].tolist()[-2:] == ["", ""]


# ---- files ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("ratings") / "mine"
    return written_task(folder, DATA.text, DATA.quality, DATA.system, DATA.context)


@pytest.fixture
def files(task: Task, tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "mine" / f"{part}.npz" for part in (PLAIN, "bleu.word")]
    write_ablation(paths[0], task, {"rouge_l.plain": {}}, SETTINGS)
    write_ablation(paths[1], task, {"bleu.word": {}}, SETTINGS)
    return paths


def read(
    task: Task, folder: Path, paths: list[Path], settings: Settings = SETTINGS
) -> tuple[dict[str, TaskNumbers], list[str]]:
    kernels = ["rouge_l.plain", "bleu.word", "embedding.none"]
    return read_ablations([folder / task.name], paths, kernels, settings)


def test_numbers_come_back_from_their_files(
    task: Task, files: list[Path], found: dict[str, ablation.Prediction], tmp_path: Path
) -> None:
    folder = tmp_path / "ratings"
    written_task(folder / "mine", DATA.text, DATA.quality, DATA.system, DATA.context)
    numbers, notes = read(task, folder, files[::-1])
    own = numbers["mine"]
    assert list(own.predictions) == [*found, "rouge_l.plain", "bleu.word"]
    for name, one in found.items():
        again = own.predictions[name]
        np.testing.assert_array_equal(again.estimate, one.estimate)
        assert (again.kernel, again.tau) == (one.kernel, one.tau)
    assert own.absent == {"embedding.none": []}
    assert len(notes) == 3
    assert read(task, folder, files[1:]) == ({}, [])  # nothing without plain


def test_another_kernel_from_other_ratings_has_a_row_that_says_so(
    task: Task, files: list[Path], tmp_path: Path
) -> None:
    folder = tmp_path / "ratings"
    changed = written_task(folder / "mine", DATA.text, 1 - DATA.quality, DATA.system, DATA.context)
    with pytest.raises(StaleError):
        read(task, folder, files)
    write_ablation(files[0], changed, {"rouge_l.plain": {}}, SETTINGS)
    numbers, _ = read(task, folder, files)
    assert "bleu.word" not in numbers["mine"].predictions
    (note,) = numbers["mine"].absent["bleu.word"]
    assert str(files[1]) in note


def test_plain_under_other_settings_is_stale(task: Task, files: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "ratings"
    written_task(folder / "mine", DATA.text, DATA.quality, DATA.system, DATA.context)
    with pytest.raises(StaleError):
        read(task, folder, files, Settings(**{**asdict(SETTINGS), "halves": 6}))
    files[1].rename(files[0])  # another part under the name of plain
    with pytest.raises(StaleError):
        read(task, folder, files[:1])


def test_baselines_stand_beside_the_variants(task: Task, files: list[Path], tmp_path: Path) -> None:
    made, path = {"folds": 3, "seed": 1}, tmp_path / "baselines" / "mine.npz"
    write_baselines(path, task, baselines.Settings(**made))
    folder = tmp_path / "ratings" / "mine"
    written_task(folder, DATA.text, DATA.quality, DATA.system, DATA.context)
    own = [folder], files, ["rouge_l.plain", "bleu.word"], SETTINGS
    numbers, _ = read_ablations(*own, [path], made)
    table = ablation_table(["mine"], numbers, draws=40, seed=1).set_index("variant")
    estimates, _ = read_baselines(path, task, made)
    for name, (key, label) in BASELINES.items():
        row = table.loc[name]
        there = ~np.isnan(estimates[key])
        assert row["label"] == label
        assert (row["kernel"], row["provenance"]) == ("", "computed")
        assert row["n_covered"] == there.sum()
        if len(set(estimates[key][there])) > 1:
            rho = stats.spearmanr(estimates[key][there], DATA.quality[there]).statistic
            assert row["spearman"] == pytest.approx(rho), name
    apart = between_and_within(
        numbers["mine"].predictions[PLAIN].estimate, DATA.quality, DATA.system, draws=10, seed=1
    )
    np.testing.assert_equal(table.loc[PLAIN, "between_share"], apart.between_share.value)
    # of other folds they are not these
    numbers, _ = read_ablations(*own, [path], {**made, "folds": 4})
    table = ablation_table(["mine"], numbers, draws=5, seed=1).set_index("variant")
    assert set(table.loc[list(BASELINES), "provenance"]) == {""}
    assert all(str(path) in note[0] for note in table.loc[list(BASELINES), "note"])
