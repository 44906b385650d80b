"""RNN-QE on anybody's ratings: any scale, MRs in several spellings, contexts, or texts alone.

Stage: prediction (RNN-QE). In: rated texts. Out: a `Model` whose networks were trained on them, and
what it is worth on texts that they did not see.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd
from sklearn.utils.parallel import Parallel, delayed
from tqdm import tqdm

from refless.data.wording import numbers, wording
from refless.errors import FormatError
from refless.machine import versions
from refless.models.folds import in_folds, together
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.data import Split, Texts, instances, read
from refless.models.rnn_qe.meaning import TEXT, kind_of, unordered
from refless.models.rnn_qe.names import FOLDS, SCHEDULES, SHORT
from refless.models.rnn_qe.network import Network, predict
from refless.models.rnn_qe.saved import SPELT, Model, sums_of, word_sum
from refless.models.rnn_qe.scale import Scale, within
from refless.models.rnn_qe.training import fit as train
from refless.statistics import agreement

Array = np.ndarray

FEWEST = 25
"""Different rated texts without which five parts tell nothing."""
STEPS = 30
"""Batches of a pass, where there are fewer ratings than set-up 1 of the paper has."""


@dataclass(frozen=True)
class How:
    """How networks are trained: the width of embeddings and states, whether the first passes also
    have the training texts with errors put in (set-up 2 of the paper; for ratings of how well a
    text is written), and the seed of folds, errors and networks."""

    width: int = 96
    errors: bool = False
    seed: int = 0


def cross_validated(
    table: pd.DataFrame, fold: Array, how: How, threads: int = 1
) -> tuple[Array, list[Network], list[Encoded]]:
    """Predictions of each fold by a network that has not seen it: the next fold chooses its pass,
    and it is trained on the others.

    table : texts by `refless.models.rnn_qe.data.read`; their ratings on 1..6, ``median_quality``
    fold : of each text, int64 (texts,), three or more, numbered from 0
    Returns prediction : on 1..6, not rounded, shape (texts,)
    networks, data : one a fold, and what they were trained on
    """
    texts = Texts(table.assign(id=table.index.astype(str)), pd.DataFrame())
    folds, splits = int(fold.max()) + 1, []
    for number in range(folds):
        test, dev = fold == number, fold == (number + 1) % folds
        learned, chosen, tested = map(np.flatnonzero, (~test & ~dev, dev, test))
        splits.append(Split(learned, chosen, tested, learned))
    setup = 2 if how.errors else 1
    data = [Encoded(instances(texts, split, setup, how.seed)) for split in splits]
    schedule, fewest = SCHEDULES[SHORT], min(len(split.train) for split in splits)
    schedule = replace(schedule, batch=int(np.clip(fewest // STEPS, 1, schedule.batch)))
    jobs = Parallel(n_jobs=threads, return_as="generator")(
        delayed(train)(one, schedule, how.seed, how.width, rounded=within) for one in data
    )
    networks = [network for network, _ in tqdm(jobs, "networks", folds, disable=None)]
    prediction = np.empty(len(table))
    for split, network, one in zip(splits, networks, data, strict=True):
        prediction[split.test] = predict(network, *one.inputs(one.rows("test")))
    return prediction, networks, data


def fit(
    texts: Sequence[str],
    meanings: Sequence[str],
    ratings: Array,
    how: How,
    ends: Sequence[float] | None = None,
    threads: int = 1,
) -> Model:
    """Five networks on rated texts, each tested on a fifth of them; the model's ``about`` says what
    they are worth.

    meanings : an MR or a context of each text, perhaps empty
    ratings : float64 (texts,), on a scale with these ``ends``, or those of the ratings
    Raises FormatError: fewer than `FEWEST` different texts; ratings that are all the same.
    """
    scale = Scale(*(ends or (float(ratings.min()), float(ratings.max()))))
    if scale.low == scale.high:
        remedy = "hand in ratings that differ, or say --scale LOW HIGH"
        raise FormatError(f"all ratings are {scale.low:g}", remedy=remedy)
    kind = kind_of(meanings)
    table = read(meanings, texts, kind).assign(median_quality=scale.stretched(ratings))
    unit, same = groups(table, kind)
    if (different := len(np.unique(same))) < FEWEST:
        raise FormatError(
            f"{different} different texts are too few to train on and to test with",
            remedy=f"hand in {FEWEST} or more; hundreds are needed to learn something",
        )
    fold, new = parted(unit, same, how.seed)
    prediction, networks, data = cross_validated(table, fold, how, threads)
    new = new and any(map(str.strip, meanings))
    about = {
        "trained": {**asdict(how), "texts": len(texts)},
        "worth": agreement(scale.given_back(within(prediction)), ratings, ratings.mean(), fold),
        "tested": "new texts of new MRs or contexts" if new else "new texts",
        "versions": versions(["refless", "torch", "numpy"]),
    }
    words = [(sums_of(one.mr_words), sums_of(one.text_words)) for one in data]
    seen = frozenset(word_sum(wording(one)) for name in SPELT for one in table[name])
    return Model(networks, words, about, scale, kind, seen)


def parted(unit: Array, same: Array, seed: int) -> tuple[Array, bool]:
    """The fold of each text, int64 (texts,), and whether each of the `groups` is in one fold. Where
    this leaves no five folds, or one with more than half, only equal texts are together."""
    generator, whole = np.random.default_rng(seed), together(unit, same)
    sizes = np.bincount(whole)
    new = len(sizes) >= FOLDS and max(sizes) <= len(same) / 2
    return in_folds(whole if new else same, FOLDS, generator), new


def groups(table: pd.DataFrame, kind: str) -> tuple[Array, Array]:
    """Of texts by `refless.models.rnn_qe.data.read`, the number of each one's MR, values as slots,
    or context, and of its words, as they are written or with values as slots; int64 (texts,) each.
    A text without an MR or context is alone."""
    said = table["context"].map(wording) if kind == TEXT else table["mr"].str.split().map(unordered)
    same = together(*(list(map(wording, table[column])) for column in ("text", "words")))
    return numbers(said, apart=True), same
