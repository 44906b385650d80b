"""Table 2: estimates across tasks by a slow loop, and the rows that it makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.data.task import Task
from refless.experiments.bleu_neighbors.neighbors import (
    Predicted,
    read_predicted,
)
from refless.experiments.bleu_neighbors.table1 import table1
from refless.experiments.bleu_neighbors.table2 import (
    KEYS,
    cross_estimates,
    read_pairs,
    table2,
    write_cross_estimates,
)
from refless.kernels import kernel
from refless.report.published import read_published
from tests.conftest import ROOT
from tests.experiments.bleu_neighbors.written import written_neighbors, written_task
from tests.workflow.small_data import sentences

TAUS = {"bleu.char": 0.2, "bleu.word": 0.1}
HOW: dict[str, Any] = {"a": 3, "b": 0.8, "draws": 30, "seed": 1}
LOOKS = {
    "gone": {"published": "generation"},
    "one": {"published": "dialogue"},
    "two": {"published": ""},
}
PRINTED = read_published(
    ROOT / "resources/published/bleu_neighbors_table2.csv", ["source_task", "target_task"]
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ratings")


@pytest.fixture(scope="module")
def tasks(folders: Path) -> dict[str, Task]:
    generator = np.random.default_rng(2)
    made = {}
    for name, n, seed in (("one", 30, 1), ("two", 25, 2)):
        quality = generator.integers(0, 6, n) / 5
        quality[4] = np.nan
        made[name] = written_task(folders / name, sentences(n, seed), quality)
    return made


def slow(source: Task, target: Task, name: str) -> tuple[list[float], list[int]]:
    means, counts = [], []
    given = source.texts[source.texts["quality"].notna()]
    for text in target.texts.loc[target.texts["quality"].notna(), "text"]:
        near = [
            q
            for s, q in zip(given["text"], given["quality"], strict=True)
            if kernel(name, [text], [s])[0, 0] >= TAUS[name]
        ]
        means.append(float(np.mean(near)) if near else np.nan)
        counts.append(len(near))
    return means, counts


def test_estimates_are_what_a_slow_loop_says(tasks: dict[str, Task]) -> None:
    found = cross_estimates(TAUS, tasks["one"], tasks["two"])
    for name in TAUS:
        own = found[found["kernel"] == name]
        means, counts = slow(tasks["one"], tasks["two"], name)
        assert own["neighbors"].tolist() == counts
        assert max(counts) > 3
        np.testing.assert_array_equal(own["mean"], means)


@pytest.fixture(scope="module")
def made(
    tasks: dict[str, Task], folders: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Predicted], list[Path]]:
    """Predictions within each task, and the files across them."""
    folder = tmp_path_factory.mktemp("made")
    first = {"bleu.char": TAUS["bleu.char"]}
    files = [p for task in tasks.values() for p in written_neighbors(folder, task, first)]
    predicted = read_predicted([folders / name for name in tasks], files)
    paths = []
    for source, target in (("one", "two"), ("two", "one")):
        paths.append(folder / f"{source}.{target}.csv")
        write_cross_estimates(paths[-1], tasks[source], tasks[target], TAUS)
    return predicted, paths


def test_the_rows_of_every_pair(
    tasks: dict[str, Task], made: tuple[dict[str, Predicted], list[Path]]
) -> None:
    predicted, paths = made
    pairs = read_pairs(paths, 3, 0.8)
    rows = table2(LOOKS, predicted, pairs, PRINTED, list(TAUS), **HOW)
    assert not rows.duplicated(KEYS).any()
    assert rows.shape[1] <= 25
    keyed = rows.set_index(KEYS)
    # across: the definition
    quality = tasks["two"].texts["quality"].dropna().to_numpy()
    means, counts = slow(tasks["one"], tasks["two"], "bleu.char")
    inside = [3 <= n <= 0.8 * 29 for n in counts]
    rho = stats.spearmanr(np.array(means)[inside], quality[inside]).statistic
    across = keyed.loc[("one", "two", "bleu.char")]
    assert across["spearman"] == pytest.approx(rho)
    assert across["coverage"] == pytest.approx(np.mean(inside))
    assert (across["n"], across["source"]) == (24, "computed")
    # within: table 1's numbers
    models = {"bleu": ["bleu.char"]}
    printed = pd.DataFrame({"model": [], "task": [], "mse": []})
    first = table1(LOOKS, predicted, printed, models, **HOW)
    first = first[(first["model"] == "bleu") & (first["against"] == "all")].set_index("task")
    for task in predicted:
        for column in ("spearman", "spearman_low", "coverage", "n"):
            assert keyed.loc[(task, task, "bleu.char"), column] == first.loc[task, column]
    # published values stand at the published kernel, and where there are no numbers
    assert across["paper_spearman"] == ""
    assert keyed.loc[("one", "one", "bleu.char"), "paper_spearman"] == "0.470"
    assert keyed.loc[("gone", "one", "bleu.char"), "paper_spearman"] == "0.310"
    assert keyed.loc[("gone", "one", "bleu.char"), "source"] == ""
    assert set(rows.loc[rows["kernel"] == "bleu.word", "paper_spearman"]) == {""}
    assert set(rows["source_task"][:2]) <= {"one", "gone"}  # rows of the paper
