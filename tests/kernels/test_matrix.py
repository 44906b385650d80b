"""What holds for every kernel: blocks, threads, order; and what is made of its values."""

import numpy as np
import pytest

from refless import machine
from refless.errors import KernelError
from refless.kernels import (
    _blocks,
    _ngrams,
    group_sums,
    indexed,
    kernel,
    meteor,
    nearest,
    neighbor_sums,
    rouge_l,
    signature,
)
from tests.kernels.test_wordnet import write
from tests.kernels.texts import STRANGE, random_sentences, ready

NAMES = [
    *("bleu.char", "bleu.word", "bleu.char.unclipped", "bleu.word.unclipped"),
    *("rouge_l.stem", "rouge_l.plain", "meteor.nltk35", "meteor.nltk39"),
]
each = pytest.mark.parametrize("name", NAMES)


def some_texts() -> tuple[list[str], list[str]]:
    x = [*STRANGE, *random_sentences(40, 14, seed=1), *random_sentences(3, 100, seed=2)]
    s = [*random_sentences(60, 14, seed=3), *STRANGE, *x[-10:], *x[-10:]]
    return x, s


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (_ngrams, rouge_l, meteor):
        monkeypatch.setattr(module, "_WIDTH", 7)
    monkeypatch.setattr(_blocks, "_VALUES_HELD", 30)


def by_matrix(
    matrix: np.ndarray, quality: np.ndarray, taus: list[float], exclude: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Counts and sums read off the matrix, one addition after the other."""
    counts = np.zeros((len(matrix), len(taus)), np.int64)
    sums = np.zeros((len(matrix), len(taus)))
    for i in range(matrix.shape[0]):
        for t, tau in enumerate(taus):
            for j in range(matrix.shape[1]):
                if matrix[i, j] >= tau and j != exclude[i]:
                    counts[i, t] += 1
                    sums[i, t] += quality[j]
    return counts, sums


@each
@pytest.mark.usefixtures("narrow")
def test_blocks_give_the_same_bits(name, monkeypatch):
    x, s = some_texts()
    one = kernel(name, x, ready(name, s), threads=1)
    assert np.array_equal(one, kernel(name, x, ready(name, s), threads=2))
    for rows in (slice(0, 11), slice(5, 50, 3)):
        assert np.array_equal(one[rows], kernel(name, x[rows], ready(name, s)))
    assert np.array_equal(one[:, ::-1], kernel(name, x, ready(name, s[::-1])))
    index = ready(name, s) if "meteor" in name else indexed(name, s)
    assert index.size == len(s)
    assert np.array_equal(one, kernel(name, x, index))
    for candidate in (0, 5, -1):  # by themselves, so that other units are looked up
        assert np.array_equal(one[candidate], kernel(name, [x[candidate]], index)[0])
    monkeypatch.undo()
    assert np.array_equal(one, kernel(name, x, ready(name, s)))


@each
@pytest.mark.usefixtures("narrow")
def test_neighbors_are_those_of_the_matrix(name):
    x, s = some_texts()
    rng = np.random.default_rng(4)
    quality = rng.random(len(s))
    exclude = rng.integers(-1, len(s), len(x))
    matrix = kernel(name, x, ready(name, s))
    positive = matrix[matrix > 0]
    # Values that occur are ties: they count. The next number up does not. Not in order.
    tie = float(np.quantile(positive, 0.6, method="nearest"))
    taus = [tie, 0.08, float(np.nextafter(tie, 2)), 0.0, -1.0, float(positive.max()), 3.0, 0.08]
    assert ((matrix >= taus[0]).sum(1) != (matrix >= taus[2]).sum(1)).any()
    expected = by_matrix(matrix, quality, taus, exclude)
    for threads in (1, 2):
        told = {"exclude": exclude, "threads": threads}
        got = neighbor_sums(name, x, ready(name, s), quality, taus, **told)
        assert np.array_equal(got[0], expected[0])
        assert np.array_equal(got[1], expected[1])


@pytest.mark.usefixtures("narrow")
def test_groups_of_neighbors_are_counted_as_each_alone():
    name = "bleu.char"
    x, s = some_texts()
    rng = np.random.default_rng(5)
    quality = rng.random(len(s))
    matrix = kernel(name, x, s)
    tie = float(np.quantile(matrix[matrix > 0], 0.6, method="nearest"))
    taus = sorted([tie, float(np.nextafter(tie, 2)), 0.02, 0.08, 3.0])
    ways = [rng.integers(-1, 3, len(s)), np.full(len(s), -1), rng.integers(0, 7, len(s))]
    ways[2][ways[2] == 4] = 5  # a group of none
    for threads in (1, 2):
        got = group_sums(name, x, s, quality, taus, ways, threads=threads)
        for way, (counts, sums) in zip(ways, got, strict=True):
            assert counts.shape == sums.shape == (len(x), way.max() + 1, len(taus))
            for group in range(way.max() + 1):
                own = np.flatnonzero(way == group)
                none = np.full(len(x), -1)
                expected = by_matrix(matrix[:, own], quality[own], taus, none)
                np.testing.assert_array_equal(counts[:, group], expected[0])
                np.testing.assert_allclose(sums[:, group], expected[1], atol=1e-12)


@pytest.mark.usefixtures("narrow")
def test_progress_rises_to_the_number_of_candidates():
    seen: list[int] = []
    x, s = some_texts()
    neighbor_sums("bleu.char", x, s, np.ones(len(s)), [0.1], progress=seen.append, threads=2)
    assert len(seen) > 10
    assert seen == sorted(seen)
    assert seen[-1] == len(x)


NAN = float("nan")
GIVEN = {
    neighbor_sums: {"quality": [1.0, 0.5], "taus": [0.1]},
    group_sums: {"quality": [1.0, 0.5], "taus": [0.1], "groups": [[0, 1]]},
    nearest: {"number": 2},
}
FAULTS = [
    *((neighbor_sums, "quality", bad) for bad in ([1.0], [[1.0, 0.5]], ["a", "b"])),
    *((neighbor_sums, "taus", bad) for bad in ([NAN], [[0.1]], 0.1, ["a"])),
    *((neighbor_sums, "exclude", bad) for bad in ([0], [0, 2], [0, -2], [0.0, NAN], ["0", "1"])),
    (neighbor_sums, "candidates", "abc"),
    (neighbor_sums, "training", ["abc", None]),
    (neighbor_sums, "threads", 0),
    (neighbor_sums, "layer", 3),
    (neighbor_sums, "name", "rouge.l"),
    *((group_sums, "taus", bad) for bad in ([], [NAN], [0.2, 0.1], [[0.1]])),
    *((group_sums, "groups", bad) for bad in ([], [[0]], [[0.0, NAN]], [[[0, 1]]])),
    *((group_sums, "groups", [[0, bad]]) for bad in (-2, 10**9, 2**63)),
    (group_sums, "quality", [1.0]),
    *((nearest, "number", bad) for bad in (0, -1, 2.5, NAN)),
    *((nearest, "exclude", bad) for bad in ([2, 0], [-2, 0], [0.5, 0])),
]


@pytest.mark.parametrize(("function", "name", "bad"), FAULTS)
def test_wrong_arguments_are_refused(function, name, bad):
    """Compiled code would read or write outside of its arrays."""
    right = {"candidates": ["some text", "more text"], "training": ["some text", "more text"]}
    right |= {"name": "bleu.char", **GIVEN[function]}
    function(**right)
    with pytest.raises(KernelError):
        function(**{**right, name: bad})


def test_threads_follow_what_snakemake_grants(monkeypatch):
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda pid: range(8), raising=False)
    for limit, threads in (("3", 3), ("64", 8), ("", 8), ("0", 1), ("many", 8)):
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
        assert machine.available_threads(None) == threads
    assert machine.available_threads(5) == 5


@pytest.mark.usefixtures("narrow")
def test_the_nearest_are_those_of_the_matrix():
    name = "rouge_l.plain"
    x, s = some_texts()
    matrix = kernel(name, s, s)
    np.fill_diagonal(matrix, -np.inf)
    order = np.argsort(-matrix, axis=1, kind="stable")[:, :4]  # of equal values the earlier
    rows, values = nearest(name, s, s, 4, exclude=np.arange(len(s)), threads=2)
    np.testing.assert_array_equal(rows, order)
    np.testing.assert_array_equal(values, np.take_along_axis(matrix, order, axis=1))
    rows, values = nearest(name, x[:2], s[:3], 5)
    assert (rows[:, 3:] == -1).all()
    assert np.isneginf(values[:, 3:]).all()


def test_a_signature_has_sums_of_files_and_not_their_places(tmp_path):
    assert signature("bleu.char") == {"options": {}, "resources": {}}
    here, there = write(tmp_path / "one"), write(tmp_path / "two")
    one = signature("meteor.nltk39", wordnet=here)
    assert one == signature("meteor.nltk39", wordnet=there)
    write(there.parent, adverbs="sooner soon\n")
    assert one != signature("meteor.nltk39", wordnet=there)
