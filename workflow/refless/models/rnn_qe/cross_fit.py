"""RNN-QE cross-fitted to anybody's ratings: each text is rated by a network that has not seen it.

Stage: prediction (RNN-QE). In: rated texts, with MRs in several spellings, contexts, or alone, and
their folds. Out: a `QEModel` of the networks, and their estimates of the texts of their own fold.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.utils.parallel import Parallel, delayed
from tqdm import tqdm

from refless.machine import versions
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.data import OutputSplit, TrainingTexts, instances, tokenised
from refless.models.rnn_qe.meaning import kind_of_meanings
from refless.models.rnn_qe.names import SCHEDULES, SHORT
from refless.models.rnn_qe.network import predict
from refless.models.rnn_qe.saved import QEModel, sentence_sums, sums_of
from refless.models.rnn_qe.scale import clip_to_scale, from_unit_interval, to_unit_interval
from refless.models.rnn_qe.training import fit
from refless.statistics import agreement

Array = np.ndarray

_WIDTH = 96
"""The width of embeddings and states."""
_EPOCH_BATCHES = 30
"""Batches of an epoch, where there are fewer ratings than set-up 1 of the paper has."""


def cross_fit(
    texts: Sequence[str],
    meanings: Sequence[str] | None,
    quality: Array,
    fold: Array,
    seed: int,
    errors: bool = False,
    threads: int = 1,
    scale: tuple[float, float] = (0.0, 1.0),
) -> tuple[QEModel, Array]:
    """A network for each fold: the next fold chooses its epoch, and it is trained on the others.

    meanings : an MR or a context of each text, perhaps empty; or None
    quality : float64 (texts,), in [0, 1]
    fold : of each text, int64 (texts,), three or more, numbered from 0
    errors : whether the first epochs also have the training texts with errors put in (set-up 2 of
        the paper; for ratings of how well a text is written)
    scale : what 0 and 1 are in the user's unit, in which the model rates
    Returns the model, with its ``cross_validation`` within folds, and each text's estimate, float64
    (texts,), by the network that has not seen it, not cut to 0..1. Raises FormatError: an MR that
    cannot be read.

    >>> texts, quality, fold = ["good", "bad"] * 6, np.array([1.0, 0.0] * 6), np.arange(12) % 3
    >>> model, estimate = cross_fit(texts, None, quality, fold, seed=0)
    >>> estimate.shape
    (12,)
    """
    meanings = meanings or [""] * len(texts)
    kind = kind_of_meanings(meanings)
    table = pd.DataFrame(tokenised(meanings, texts, kind))
    table = table.assign(median_quality=from_unit_interval(quality))
    rated = TrainingTexts(table.assign(id=table.index.astype(str)), references=pd.DataFrame())
    folds = int(fold.max()) + 1
    splits = []
    for k in range(folds):
        test = fold == k
        dev = fold == (k + 1) % folds
        train = np.flatnonzero(~test & ~dev)
        splits.append(OutputSplit(train, np.flatnonzero(dev), np.flatnonzero(test), source=train))
    setup = 2 if errors else 1
    encoded = [Encoded(instances(rated, split, setup, seed)) for split in splits]
    schedule = SCHEDULES[SHORT]
    fewest = min(len(split.train) for split in splits)
    batch = int(np.clip(fewest // _EPOCH_BATCHES, 1, schedule.batch))
    schedule = replace(schedule, batch=batch)
    jobs = Parallel(n_jobs=threads, return_as="generator")(
        delayed(fit)(data, schedule, seed, _WIDTH, rounded=clip_to_scale) for data in encoded
    )
    networks = [network for network, _ in tqdm(jobs, "networks", folds, disable=None)]
    estimate = np.empty(len(table))
    for split, network, data in zip(splits, networks, encoded, strict=True):
        mrs, outputs = data.inputs(data.rows("test"))
        estimate[split.test] = to_unit_interval(predict(network, mrs, outputs))
    low, high = scale
    prediction = low + estimate.clip(0, 1) * (high - low)
    truth = low + quality * (high - low)
    model = QEModel(
        networks=networks,
        vocabularies=[(sums_of(data.mr_words), sums_of(data.text_words)) for data in encoded],
        cross_validation=agreement(prediction, truth, truth.mean(), fold),
        metadata={
            "trained": {"width": _WIDTH, "errors": errors, "seed": seed, "texts": len(texts)},
            "versions": versions(["refless", "torch", "numpy"]),
        },
        scale=scale,
        meanings=kind,
        training_texts=frozenset(sentence_sums(table["words"])),
    )
    return model, estimate
