"""Curves of figures 2 to 4: each point by the definition."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.experiments.bleu_neighbors import curves
from refless.experiments.bleu_neighbors.curves import (
    average_annotators,
    data_size_curve,
    read_data_sizes,
    threshold_curves,
    write_data_size_curve,
)
from refless.experiments.bleu_neighbors.neighbors import (
    rated_texts,
    read_kernel,
    read_predicted,
)
from tests.experiments.bleu_neighbors.written import annotated_task, written_neighbors

KERNEL, TAU = "bleu.char", 0.3


def point(means: Any, counts: Any, quality: np.ndarray, a: int, b: float) -> Any:
    inside = (counts >= a) & (counts <= b * (len(quality) - 1) + 1e-9)
    own = np.asarray(means)[inside]
    defined = len(own) > 2 and np.ptp(own) > 0
    return stats.spearmanr(own, quality[inside]).statistic if defined else np.nan, inside.mean()


def test_one_threshold_moves_and_the_other_stays(tmp_path: Path) -> None:
    task = annotated_task(tmp_path / "t")
    paths = written_neighbors(tmp_path, task, {KERNEL: TAU})
    tasks = read_predicted([tmp_path / "t"], paths, 3, 0.5)
    found = threshold_curves(tasks, KERNEL, a=3, b=0.5)
    assert len(found) == 60 + 101
    table, quality = tasks["t"].files[KERNEL].content, tasks["t"].rated.quality
    for row in found.itertuples():
        a, b = (row.value, 0.5) if row.threshold == "a" else (3, row.value)
        expected = point(table["mean"], table["neighbors"].to_numpy(), quality, a, b)
        assert (row.spearman, row.coverage) == pytest.approx(expected, nan_ok=True)
    assert found["coverage"].nunique() > 5
    assert threshold_curves(tasks, "bleu.word", a=3, b=0.5).empty


def test_each_size_has_its_own_subsets_and_leaves_out_within_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curves, "SUBSETS", 4)
    task = annotated_task(tmp_path / "t")
    written_neighbors(tmp_path, task, {KERNEL: TAU})
    matrix = read_kernel([tmp_path / f"kernels/t/{KERNEL}/1of1.npy"], task)
    quality, n = rated_texts(task).quality, len(matrix)
    how: dict[str, Any] = {"tau": TAU, "a": 3, "b": 0.66, "seed": 9}
    found = data_size_curve(matrix, quality, [10, 25, n], **how)
    assert found.groupby("size").size().to_dict() == {10: 4, 25: 4, n: 1}
    again = data_size_curve(matrix, quality, [25], **how)
    pd.testing.assert_frame_equal(again, found[found["size"] == 25].reset_index(drop=True))
    generator = np.random.default_rng([9, 25])
    for row in again.itertuples():
        chosen = np.sort(generator.choice(n, 25, replace=False))
        near = [[j for j in chosen if j != i and matrix[i, j] >= np.float32(TAU)] for i in chosen]
        counts = np.array(list(map(len, near)))
        means = [np.mean(quality[own]) if own else np.nan for own in near]
        expected = point(means, counts, quality[chosen], 3, 0.66)
        assert (row.spearman, row.coverage) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("many", "sizes"), [(1000, {10, 20, 30, 39}), (20, {20, 39})])
def test_a_curve_is_written_over_the_sizes_of_its_data_set(
    tmp_path: Path, many: int, sizes: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(curves, "MANY", many)
    task = annotated_task(tmp_path / "ratings/t")
    written_neighbors(tmp_path, task, {KERNEL: TAU})
    told = {"tau": TAU, "a": 3, "b": 0.66, "seed": 1}
    path = tmp_path / "curves/t/data_size.csv"
    write_data_size_curve(path, task, [tmp_path / f"kernels/t/{KERNEL}/1of1.npy"], told)
    found = read_data_sizes([path])
    assert set(found["task"]) == {"t"}
    assert set(found["size"]) == sizes  # everything there is is the last one


def test_average_annotators_are_those_of_table_1() -> None:
    keys = {"task": ["t", "t", "u", "t"], "model": [*["human_average"] * 3, "bleu"]}
    table = pd.DataFrame(keys).assign(against=["all", "others", "all", "all"])
    table["spearman"] = [0.5, 0.3, np.nan, 0.1]
    assert average_annotators(table) == {"t": (0.3, 0.5)}
    assert average_annotators(table.iloc[2:]) == {}
