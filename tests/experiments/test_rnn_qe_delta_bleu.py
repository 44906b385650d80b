"""ΔBLEU on the folds of RNN-QE: on cases worked by hand, and against the published definition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from refless.experiments.rnn_qe.delta_bleu import Pool, predict
from refless.models.delta_bleu import corpus_delta_bleu
from refless.models.rnn_qe.data import Split, Texts
from refless.models.same_group import defined_scores, line, weights

Array = np.ndarray


def texts(rated: Sequence[tuple[str, str]], human: Sequence[tuple[str, str]] = ()) -> Texts:
    tables = [pd.DataFrame(rows, columns=["mr", "words"]) for rows in (rated, human)]
    return Texts(*tables)


def test_a_rating_in_the_middle_weighs_nothing() -> None:
    rating = np.array([1.0, 3.5, 6.0])
    assert weights(rating, 3.5, 1.0, 6.0).tolist() == [-1, 0, 1]
    assert weights(rating, 5.0, 1.0, 6.0).tolist() == [-1, -0.375, 0.25]


def test_a_line_needs_two_scores() -> None:
    assert line(np.array([0.0, 1.0, np.nan]), np.array([2.0, 4.0, 6.0])) == (2.0, 2.0)
    assert line(np.array([0.5, np.nan]), np.array([2.0, 4.0])) == (0.0, 3.0)
    assert line(np.array([0.5, 0.5]), np.array([2.0, 4.0])) == (0.0, 3.0)


def test_a_line_of_small_scores_is_the_same_line() -> None:
    """Probabilities of whole texts are so small that their squares are 0."""
    score, rating = np.array([0.1, 0.25, 0.7, 0.4]), np.array([1.0, 3.0, 2.0, 5.0])
    for scale in (2.0**-600, 2.0**600):
        slope, start = line(score * scale, rating)
        assert (slope * scale, start) == line(score, rating)
    assert line(score * 1e-320, rating) == (0.0, 2.75)


@pytest.mark.parametrize("rule", ["smooth", "signed"])
def test_scores_are_those_of_the_public_function(rule: str) -> None:
    generator = np.random.default_rng(3)
    vocabulary = np.array(["a", "b", "c", "d"])
    own = [
        (f"mr{generator.integers(4)}", " ".join(generator.choice(vocabulary, 6))) for _ in range(40)
    ]
    pool = Pool.of(texts(own))
    train, rows = np.arange(10, 40), np.arange(10)
    weight = generator.uniform(-1, 1, 30)
    found = defined_scores(pool.statistics(rows, train, weight), rule)
    for row, value in zip(rows, found, strict=True):
        same = [n for n in range(30) if own[train[n]][0] == own[row][0]]
        if not same or max(weight[same]) <= 0:
            assert np.isnan(value)
            continue
        expected = corpus_delta_bleu(
            [own[row][1]],
            [[own[train[n]][1] for n in same]],
            [weight[same].tolist()],
            max_order=2,
            rule=rule,
        )
        assert value == pytest.approx(expected)


def split(*parts: Sequence[int]) -> Split:
    train, dev, test = (np.array(part) for part in parts)
    return Split(train, dev, test, train)


def worth(prediction: Array) -> float:
    return -float(np.isnan(prediction).sum())


def test_references_are_the_training_outputs_of_the_same_mr() -> None:
    rated = [
        ("x", "good food here"),  # training
        ("x", "bad bad bad"),
        ("y", "cheap rooms here"),
        ("x", "good food here"),  # validation: as good as can be, and as bad
        ("x", "bad bad bad"),
        ("x", "good food"),  # test
        ("y", "cheap rooms"),
        ("z", "nothing like it"),
    ]
    rating = np.array([6.0, 1.0, 2.0, 6.0, 1.0, np.nan, np.nan, np.nan])
    pool = Pool.of(texts(rated, [("z", "nothing like it")]))
    parts = split([0, 1, 2], [3, 4], [5, 6, 7])
    found = predict(pool, rating, parts, False, worth)
    assert 3 < found[0] < 6  # like the good one, but shorter
    assert np.isnan(found[1:]).all()  # one poor reference; none
    with_human = predict(pool, rating, parts, True, worth)
    assert np.isnan(with_human[1])
    assert with_human[2] == pytest.approx(6)  # the human reference, word for word
