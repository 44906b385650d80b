"""Curves of figures 2 to 4: each point by the definition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.errors import SettingError
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
from refless.report.tables import publish
from tests.experiments.bleu_neighbors.written import annotated_task, written_neighbors

KERNEL, TAU = "bleu.char", 0.3


def point(means: np.ndarray, counts: np.ndarray, quality: np.ndarray, a: int, b: float) -> Any:
    inside = (counts >= a) & (counts <= b * (len(quality) - 1) + 1e-9)
    own = means[inside]
    defined = len(own) > 2 and np.ptp(own) > 0
    return stats.spearmanr(own, quality[inside]).statistic if defined else np.nan, inside.mean()


def test_one_threshold_moves_and_the_other_stays(tmp_path: Path) -> None:
    task, taus = annotated_task(tmp_path / "t"), {KERNEL: TAU}
    data = read_predicted([tmp_path / "t"], written_neighbors(tmp_path, task, taus))["t"]
    found = threshold_curves(
        data, KERNEL, a=3, b=0.5, a_values=range(1, 12), b_values=[0.0, 0.1, 0.3, 0.7, 1.0]
    )
    assert len(found) == 11 + 5
    of = data.means[KERNEL], data.counts[KERNEL], data.rated.quality
    for row in found.itertuples():
        a, b = (row.value, 0.5) if row.threshold == "a" else (3, row.value)
        assert (row.spearman, row.coverage) == pytest.approx(point(*of, a, b), nan_ok=True)
    assert found["coverage"].nunique() > 5


def test_each_size_has_its_own_subsets_and_leaves_out_within_them(tmp_path: Path) -> None:
    task = annotated_task(tmp_path / "t")
    rated = rated_texts(task)
    written_neighbors(tmp_path, task, {KERNEL: TAU})
    files = [tmp_path / f"kernels/t/{KERNEL}/1of1.npy"]
    matrix, n = read_kernel(files, rated), len(rated.id)
    how: dict[str, Any] = {"tau": TAU, "a": 3, "b": 0.66, "subsets": 4, "seed": 9}
    found = data_size_curve(matrix, rated.quality, [10, 25, n], **how)
    assert found.groupby("size").size().to_dict() == {10: 4, 25: 4, n: 1}
    again = data_size_curve(matrix, rated.quality, [25], **how)
    pd.testing.assert_frame_equal(again, found[found["size"] == 25].reset_index(drop=True))
    generator = np.random.default_rng([9, 25])
    for row in again.itertuples():
        chosen = np.sort(generator.choice(n, 25, replace=False))
        means, counts = np.full(25, np.nan), np.zeros(25, int)
        for i, own in enumerate(chosen):
            near = [j for j in chosen if j != own and matrix[own, j] >= np.float32(TAU)]
            counts[i] = len(near)
            means[i] = np.mean(rated.quality[near]) if near else np.nan
        expected = point(means, counts, rated.quality[chosen], 3, 0.66)
        assert (row.spearman, row.coverage) == pytest.approx(expected, nan_ok=True)
    for wrong in (1, n + 1):
        with pytest.raises(SettingError):
            data_size_curve(matrix, rated.quality, [wrong], **how)


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
    found = read_data_sizes([path])["t"]
    assert set(found["size"]) == sizes  # everything there is is the last one


def test_average_annotators_are_those_of_table_1(tmp_path: Path) -> None:
    keys = {"task": ["t", "t", "u", "t"], "model": [*["human_average"] * 3, "bleu"]}
    table = pd.DataFrame(keys).assign(against=["all", "others", "all", "all"], kernel="")
    table["spearman"] = [0.5, 0.3, np.nan, 0.1]
    for name in ("mse", "coverage", "n", "p_below_0.01"):
        table[name] = np.nan
    table = table.assign(source="computed", note=[[] for _ in range(4)])
    publish("bleu_neighbors_table1", table, tmp_path, facts={"a": 1, "b": 1.0, "tau": 0.1})
    found = average_annotators(tmp_path / "bleu_neighbors_table1.csv")
    assert found == {"t": (0.3, 0.5)}
