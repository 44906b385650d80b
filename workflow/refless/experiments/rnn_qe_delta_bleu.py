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

from refless.models.delta_bleu import References, Statistics, Texts, scores
from refless.models.rnn_qe import data

Array = np.ndarray

LOWEST, HIGHEST = 1.0, 6.0
ORDER = 2
"""Sentences of a dozen words have few longer n-grams in common."""
CENTRES = ("scale", "mean")
RULES = ("smooth", "signed")


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

    def statistics(self, rows: Array, references: Array, weight: Array) -> Statistics:
        """Of some rated outputs, shape (rows, 1), against the references of their MR.

        Parameters
        ----------
        rows : numbers of the outputs
        references, weight : numbers of the texts that are references, and their weights in [-1, 1]
        """
        order = np.argsort(self.group[references], kind="stable")
        text = references[order]
        bounds = np.searchsorted(self.group[text], np.arange(int(self.group.max()) + 2))
        nobody = np.full(len(text), -1)
        side = References(bounds.astype(np.int64), text, nobody, weight[order])
        return self.counted.statistics(rows, np.full(len(rows), -1), self.group[rows], side)


def defined_scores(found: Statistics, rule: str) -> Array:
    """Sentence ΔBLEU, shape (rows,); NaN without a reference of positive weight.

    Parameters
    ----------
    rule : see `refless.models.delta_bleu`
    """
    heaviest = found.totals[:, 0, 0]
    positive = np.isfinite(heaviest) & (heaviest > 0)
    return np.where(positive, scores(found, rule)[:, 0], np.nan)


def weights(rating: Array, centre: str, mean: float) -> Array:
    """Ratings as weights in [-1, 1]: 0 at the middle of the scale, or at ``mean``."""
    middle = (LOWEST + HIGHEST) / 2 if centre == "scale" else mean
    return (rating - middle) / max(middle - LOWEST, HIGHEST - middle)


def line(score: Array, rating: Array) -> tuple[float, float]:
    """Slope and intercept of the least squares line from score to rating, of defined scores.

    The mean rating where there is no slope to fit: fewer than two scores, or all the same.
    """
    there = ~np.isnan(score)
    x, y = score[there], rating[there]
    if len(x) < 2 or np.ptp(x) == 0:
        return 0.0, float(rating.mean())
    slope = float(np.cov(x, y, ddof=0)[0, 1] / x.var())
    return slope, float(y.mean() - slope * x.mean())


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
    references, extra = train, np.empty(0)
    if human:
        added = np.arange(pool.rated, len(pool.group))
        references, extra = np.concatenate([train, added]), np.ones(len(added))
    choices = []
    for centre in CENTRES:
        own = weights(rating[train], centre, float(rating[train].mean()))
        weight = np.concatenate([own, extra])
        found = pool.statistics(dev, references, weight)
        for rule in RULES:
            score = defined_scores(found, rule)
            slope, intercept = line(score, rating[dev])
            choices.append((worth(intercept + slope * score), weight, rule, slope, intercept))
    _, weight, rule, slope, intercept = max(choices, key=itemgetter(0))
    return intercept + slope * defined_scores(pool.statistics(test, references, weight), rule)
