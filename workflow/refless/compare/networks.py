"""RNN-QE as one of the methods: networks trained anew for each fold of a split. Needs torch.

Stage: prediction (RNN-QE). In: rated texts that stand beside an MR or a context, a split. Out: the
estimate of each text by a network that saw neither it nor its fold.

Of the other folds, the next one chooses the pass that predicts, and the rest is trained on; so
nothing is chosen on the texts that are estimated. Training is that of ``refless train-qe``.
"""

import numpy as np

from refless.compare.read import Rated
from refless.compare.splits import Split
from refless.kernels._blocks import available_threads
from refless.models.rnn_qe import data, own
from refless.models.rnn_qe.meaning import TEXT, kind_of
from refless.models.rnn_qe.scale import Scale

Array = np.ndarray

WORDS = 50
"""The last words of a context that are read; the authors' code reads as many of a text."""


def estimates(rated: Rated, split: Split, how: own.How, threads: int | None = None) -> Array:
    """Estimates in [0, 1], float64 (n,). Raises FormatError: an MR that cannot be read, where most
    can."""
    assert rated.answers is not None
    answers, kind, scale = rated.answers, kind_of(rated.answers), Scale(0.0, 1.0)
    if kind == TEXT:
        answers = [" ".join(answer.split()[-WORDS:]) for answer in answers]
    quality = scale.stretched(rated.quality)
    table = data.read(answers, rated.texts, kind).assign(median_quality=quality)
    splits = []
    for test in range(split.folds):
        dev = (test + 1) % split.folds
        train = np.flatnonzero((split.fold != test) & (split.fold != dev))
        chosen_on, tested = (np.flatnonzero(split.fold == part) for part in (dev, test))
        splits.append(data.Split(train, chosen_on, tested, train))
    found, *_ = own.cross_validated(table, splits, how, available_threads(threads))
    return scale.given_back(found)
