"""ΔBLEU as an estimate of the ratings that RNN-QE learns, on the same folds.

Stage: prediction. In: delexicalised rated outputs and human references, a split. Out: a rating of
each output that is tested, NaN where it has no reference of positive weight.

References of an output are the rated training outputs of the same delexicalised MR, weighted by
their ratings; with ``human`` also the human references of that MR, at weight 1, which is not
referenceless: they may be those of the very output. What a rating of weight 0 is (the middle of the
scale, or the mean of the training part) and what becomes of a numerator that is not positive is
chosen on the validation part, where also a straight line from score to rating is fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import pandas as pd

from refless.models.delta_bleu import Statistics, Texts
from refless.models.rnn_qe import data
from refless.models.same_group import (
    ORDER,
    RULES,
    defined_scores,
    line,
    references,
    weights,
)

Array = np.ndarray

LOWEST, HIGHEST = 1.0, 6.0
CENTRES = ("scale", "mean")


@dataclass(frozen=True)
class Pool:
    """All texts that may be references, with their n-grams counted once.

    counted : n-grams of the rated outputs, then of the human references
    group : (texts,), int64: number of the delexicalised MR
    rated : how many of them are rated
    """

    counted: Texts
    group: Array
    rated: int

    @classmethod
    def of(cls, texts: data.Texts) -> Pool:
        """Count n-grams."""
        tables = (texts.rated, texts.references)
        words = [word for table in tables for word in table["words"]]
        group = pd.factorize(pd.concat([table["mr"] for table in tables]))[0]
        return cls(Texts(words, ORDER), group.astype(np.int64), len(texts.rated))

    def statistics(self, rows: Array, others: Array, weight: Array) -> Statistics:
        """Of some rated outputs against the references of their MR; shapes (rows, orders), (rows,).

        Parameters
        ----------
        rows : numbers of the outputs
        others, weight : numbers of the texts that are references, and their weights in [-1, 1]
        """
        nobody = np.full(len(others), -1)
        groups = int(self.group.max()) + 1
        side = references(self.group[others], groups, others, nobody, weight)
        owner = np.full(len(rows), -1)
        return self.counted.statistics(rows, owner, self.group[rows], side).of_others()


def predict(
    pool: Pool, rating: Array, split: data.Split, human: bool, worth: Callable[[Array], float]
) -> Array:
    """Ratings of the outputs that a split tests, shape (n,); NaN where there is no reference.

    Parameters
    ----------
    rating : (rated,), of all outputs; those of the test part are not looked at
    human : whether human references count as well
    worth : of predictions of the validation part; the greatest decides
    """
    train, dev, test = (part.astype(np.int64) for part in (split.train, split.dev, split.test))
    others, extra = train, np.empty(0)
    if human:
        added = np.arange(pool.rated, len(pool.group))
        others, extra = np.concatenate([train, added]), np.ones(len(added))
    choices = []
    for centre in CENTRES:
        middle = (LOWEST + HIGHEST) / 2 if centre == "scale" else float(rating[train].mean())
        weight = np.concatenate([weights(rating[train], middle, LOWEST, HIGHEST), extra])
        found = pool.statistics(dev, others, weight)
        for rule in RULES:
            score = defined_scores(found, rule)
            slope, intercept = line(score, rating[dev])
            choices.append((worth(intercept + slope * score), weight, rule, slope, intercept))
    _, weight, rule, slope, intercept = max(choices, key=itemgetter(0))
    return intercept + slope * defined_scores(pool.statistics(test, others, weight), rule)
