"""RNN-QE on anybody's ratings: MRs in several spellings, contexts, or texts alone.

Stage: prediction (RNN-QE). In: rated texts, and what is left out together. Out: a `Model` whose
networks were trained on them, and their estimates of the texts that each has not seen.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.utils.parallel import Parallel, delayed
from tqdm import tqdm

from refless.machine import versions
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.data import Split, Texts, instances, read
from refless.models.rnn_qe.meaning import kind_of
from refless.models.rnn_qe.names import SCHEDULES, SHORT
from refless.models.rnn_qe.network import predict
from refless.models.rnn_qe.saved import Model, sentence_sums, sums_of
from refless.models.rnn_qe.scale import in_unit, stretched, within
from refless.models.rnn_qe.training import fit as train
from refless.statistics import agreement

Array = np.ndarray

WIDTH = 96
"""Of embeddings and states."""
STEPS = 30
"""Batches of a pass, where there are fewer ratings than set-up 1 of the paper has."""


def cross_fit(
    texts: Sequence[str],
    meanings: Sequence[str] | None,
    quality: Array,
    fold: Array,
    seed: int,
    errors: bool = False,
    threads: int = 1,
    scale: tuple[float, float] = (0.0, 1.0),
) -> tuple[Model, Array]:
    """A network for each fold: the next fold chooses its pass, and it is trained on the others.

    meanings : an MR or a context of each text, perhaps empty; or None
    quality : float64 (texts,), in [0, 1]
    fold : of each text, int64 (texts,), three or more, numbered from 0
    errors : whether the first passes also have the training texts with errors put in (set-up 2 of
        the paper; for ratings of how well a text is written)
    scale : what 0 and 1 are in the user's unit, in which the model rates
    Returns the model, whose ``about`` says what it is worth within folds, and each text's estimate,
    float64 (texts,), by the network that has not seen it, not cut to 0..1.
    """
    meanings = meanings or [""] * len(texts)
    kind = kind_of(meanings)
    table = read(meanings, texts, kind).assign(median_quality=stretched(quality))
    given = Texts(table.assign(id=table.index.astype(str)), pd.DataFrame())
    folds, splits = int(fold.max()) + 1, []
    for number in range(folds):
        test, dev = fold == number, fold == (number + 1) % folds
        learned, chosen, tested = map(np.flatnonzero, (~test & ~dev, dev, test))
        splits.append(Split(learned, chosen, tested, learned))
    setup = 2 if errors else 1
    data = [Encoded(instances(given, split, setup, seed)) for split in splits]
    schedule, fewest = SCHEDULES[SHORT], min(len(split.train) for split in splits)
    schedule = replace(schedule, batch=int(np.clip(fewest // STEPS, 1, schedule.batch)))
    jobs = Parallel(n_jobs=threads, return_as="generator")(
        delayed(train)(one, schedule, seed, WIDTH, rounded=within) for one in data
    )
    networks = [network for network, _ in tqdm(jobs, "networks", folds, disable=None)]
    estimate = np.empty(len(table))
    for split, network, one in zip(splits, networks, data, strict=True):
        estimate[split.test] = in_unit(predict(network, *one.inputs(one.rows("test"))))
    low, high = scale
    found, truth = (low + own * (high - low) for own in (estimate.clip(0, 1), quality))
    words = [(sums_of(one.mr_words), sums_of(one.text_words)) for one in data]
    about = {
        "trained": {"width": WIDTH, "errors": errors, "seed": seed, "texts": len(texts)},
        "worth": agreement(found, truth, truth.mean(), fold),
        "versions": versions(["refless", "torch", "numpy"]),
    }
    seen = frozenset(sentence_sums(table["words"]))
    return Model(networks, words, about, scale, kind, seen), estimate
