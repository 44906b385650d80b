"""Table 2: estimates across tasks by a slow loop, and the rows that it makes of them."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from refless.data.task import Task
from refless.experiments.bleu_neighbors.neighbors import Predicted, read_predicted
from refless.experiments.bleu_neighbors.table1 import cells
from refless.experiments.bleu_neighbors.table2 import (
    KEYS,
    read_pairs,
    table2,
    write_cross_estimates,
)
from refless.experiments.published import read_published
from refless.kernels import kernel
from refless.store import sealed
from tests.conftest import ROOT
from tests.experiments.bleu_neighbors.written import written_neighbors, written_task
from tests.workflow.small_data import sentences

TAUS = {"bleu.char": 0.2, "bleu.word": 0.1}
LIMITS = 3, 0.8
LOOKS = {
    "gone": {"published": "generation"},
    "one": {"published": "dialogue"},
    "two": {"published": ""},
}
PRINTED = read_published(
    ROOT / "resources/published/bleu_neighbors_table2.csv", ["source_task", "target_task"]
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("ratings")
    return [folder / "one", folder / "two"]


@pytest.fixture(scope="module")
def tasks(folders: list[Path]) -> dict[str, Task]:
    generator = np.random.default_rng(2)
    made = {}
    for folder, n, seed in zip(folders, (30, 25), (1, 2), strict=True):
        quality = generator.integers(0, 6, n) / 5
        quality[4] = np.nan
        made[folder.name] = written_task(folder, sentences(n, seed), quality)
    return made


@pytest.fixture(scope="module")
def paths(tasks: dict[str, Task], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("made")
    for source, target in (("one", "two"), ("two", "one")):
        path = folder / f"{source}.{target}.csv"
        write_cross_estimates(path, tasks[source], tasks[target], TAUS)
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def predicted(
    tasks: dict[str, Task], folders: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Predicted]:
    """Predictions within each task, of the first kernel alone."""
    made, first = tmp_path_factory.mktemp("within"), {"bleu.char": TAUS["bleu.char"]}
    files = [path for task in tasks.values() for path in written_neighbors(made, task, first)]
    return read_predicted(folders, files, *LIMITS)


def slow(source: Task, target: Task, name: str) -> tuple[list[float], list[int]]:
    given, asked = (task.texts[task.texts["quality"].notna()] for task in (source, target))
    matrix = [[kernel(name, [x], [s])[0, 0] for s in given["text"]] for x in asked["text"]]
    near = [given["quality"].to_numpy()[np.array(row) >= TAUS[name]] for row in matrix]
    return [float(np.mean(q)) if len(q) else np.nan for q in near], list(map(len, near))


@pytest.mark.parametrize("name", TAUS)
def test_estimates_are_what_a_slow_loop_says(
    tasks: dict[str, Task], paths: list[Path], name: str
) -> None:
    table = sealed.read(paths[0]).content
    own = table[table["kernel"] == name]
    means, counts = slow(tasks["one"], tasks["two"], name)
    assert own["neighbors"].tolist() == counts
    assert max(counts) > 3
    np.testing.assert_array_equal(own["mean"], means)


def test_the_rows_of_every_pair(
    tasks: dict[str, Task], paths: list[Path], predicted: dict[str, Predicted]
) -> None:
    pairs = read_pairs(paths)
    rows = table2(LOOKS, predicted, pairs, PRINTED, list(TAUS), *LIMITS, draws=30, seed=1)
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
    # within: those of the task itself
    for task, data in predicted.items():
        expected = cells(data.estimates["bleu.char"], data.rated.quality, 30, 1)
        for column in ("spearman", "spearman_low", "coverage", "n"):
            assert keyed.loc[(task, task, "bleu.char"), column] == expected[column]
    # published values stand at the published kernel, and where there are no numbers
    assert across["paper_spearman"] == ""
    assert keyed.loc[("one", "one", "bleu.char"), "paper_spearman"] == "0.470"
    assert keyed.loc[("gone", "one", "bleu.char"), "paper_spearman"] == "0.310"
    assert keyed.loc[("gone", "one", "bleu.char"), "source"] == ""
    assert set(rows.loc[rows["kernel"] == "bleu.word", "paper_spearman"]) == {""}
    assert set(rows["source_task"][:2]) <= {"one", "gone"}  # rows of the paper
