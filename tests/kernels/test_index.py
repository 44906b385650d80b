"""Training texts made ready once: the same bits as texts given anew, and the nearest of them."""

from __future__ import annotations

import numpy as np
import pytest

from refless.errors import KernelError
from refless.kernels import bleu, indexed, kernel, names, nearest, neighbor_sums, opened
from tests.kernels.texts import STRANGE, random_sentences

# Kernels that need no files.
FREE = [name for name in names() if not name.startswith(("bertscore.", "embedding."))]
SYNONYMS = {"big": ["large"], "large": ["big", "huge"], "home": ["house"], "firm": ["company"]}


def some_texts() -> tuple[list[str], list[str]]:
    x = [*STRANGE, *random_sentences(30, 14, seed=1)]
    return x, [*random_sentences(50, 14, seed=3), *STRANGE, *x[-10:]]


@pytest.mark.parametrize("name", FREE)
def test_an_index_and_one_that_was_kept_give_the_same_bits(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, s = some_texts()
    # METEOR has no index of its own: its texts are kept
    options = {"synonyms": SYNONYMS} if name.startswith("meteor.") else {}
    expected = kernel(name, x, s, **options)
    assert np.count_nonzero(expected) > 30
    monkeypatch.setattr(bleu, "WIDTH", 7)
    index = indexed(name, s, **options)
    arrays = {key: np.concatenate(pieces) for key, pieces in index.arrays().items()}
    kept = opened(name, s, arrays, **options)
    for one in (index, kept):
        assert one.size == len(s)
        np.testing.assert_array_equal(kernel(name, x, one), expected)
        for candidate in (0, 5, -1):  # by themselves, so that other units are looked up
            np.testing.assert_array_equal(kernel(name, [x[candidate]], one)[0], expected[candidate])
    quality = np.linspace(0, 1, len(s))
    for got, wanted in zip(
        neighbor_sums(name, x, kept, quality, [0.1, 0.3]),
        neighbor_sums(name, x, s, quality, [0.1, 0.3], **options),
        strict=True,
    ):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", ["bleu.char", "rouge_l.plain"])
def test_the_nearest_are_those_of_the_matrix(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, s = some_texts()
    matrix = kernel(name, s, s)
    np.fill_diagonal(matrix, -np.inf)
    order = np.argsort(-matrix, axis=1, kind="stable")[:, :4]  # of equal values the earlier
    monkeypatch.setattr(bleu, "WIDTH", 7)
    rows, values = nearest(name, s, s, 4, exclude=np.arange(len(s)), threads=2)
    np.testing.assert_array_equal(rows, order)
    np.testing.assert_array_equal(values, np.take_along_axis(matrix, order, axis=1))
    rows, values = nearest(name, x[:2], s[:3], 5)
    assert (rows[:, 3:] == -1).all()
    assert np.isneginf(values[:, 3:]).all()
    assert sorted(rows[0, :3].tolist()) == [0, 1, 2]
    with pytest.raises(KernelError, match="0 nearest texts"):
        nearest(name, x, s, 0)


def test_options_belong_to_the_index() -> None:
    with pytest.raises(KernelError, match="its options are: none"):
        indexed("bleu.char", ["a"], layer=3)
    with pytest.raises(KernelError, match="its options are: none"):
        indexed("rouge_l.plain", ["a"], layer=3)
    with pytest.raises(KernelError, match="its options are: wordnet"):
        indexed("meteor.nltk39", ["a"], layer=3)
    with pytest.raises(KernelError, match="an index has its options"):
        kernel("bleu.char", ["a"], indexed("bleu.char", ["a"]), layer=3)
