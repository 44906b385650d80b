"""RNN-QE on anybody's ratings: any scale, MRs in several spellings, contexts, or texts alone.

Stage: prediction (RNN-QE). In: rated texts. Out: a `Model` whose networks were trained on them, and
what it is worth on texts that they did not see.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.parallel import Parallel, delayed
from tqdm import tqdm

from refless.data.wording import together, wording
from refless.errors import FormatError
from refless.machine import versions
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.data import Split, Texts, instances, read, rotated, shuffled_groups
from refless.models.rnn_qe.meaning import TEXT, kind_of, unordered
from refless.models.rnn_qe.names import FOLDS, SCHEDULES, SHORT
from refless.models.rnn_qe.network import Network, predict
from refless.models.rnn_qe.saved import Model, spellings, sums_of, word_sum
from refless.models.rnn_qe.scale import Scale
from refless.models.rnn_qe.training import fit as train
from refless.statistics import ENOUGH_UNITS, Estimate, centred, drawn_together, evaluate

Array = np.ndarray

FEWEST = 25
"""Different rated texts without which five parts tell nothing."""
STEPS = 30
"""Batches of a pass, where there are fewer ratings than set-up 1 of the paper has."""


@dataclass(frozen=True)
class How:
    """How networks are trained: a schedule of `SCHEDULES`, the width of embeddings and states,
    whether the first passes also have the training texts with errors put in (set-up 2 of the paper;
    for ratings of how well a text is written), and the seed of parts, errors and networks."""

    schedule: str = SHORT
    width: int = 96
    errors: bool = False
    seed: int = 0


def cross_validated(
    table: pd.DataFrame, splits: Sequence[Split], how: How, threads: int = 1
) -> tuple[Array, list[Network], list[Encoded]]:
    """Predictions of each split's test rows by a network trained and chosen on its other rows.

    table : texts by `refless.models.rnn_qe.data.read`; their ratings on 1..6, ``median_quality``
    Returns prediction : on 1..6, not rounded, shape (texts,); NaN in no split's test part
    networks, data : and what they were trained on
    """
    texts = Texts(table.assign(id=table.index.astype(str)), pd.DataFrame())
    setup = 2 if how.errors else 1
    data = [Encoded(instances(texts, split, setup, how.seed)) for split in splits]
    schedule = SCHEDULES[how.schedule]
    fewest = min(len(split.train) for split in splits)
    schedule = replace(schedule, batch=int(np.clip(fewest // STEPS, 1, schedule.batch)))
    jobs = Parallel(n_jobs=threads, return_as="generator")(
        delayed(train)(one, schedule, how.seed, how.width, scale=Scale(step=None)) for one in data
    )
    networks = [network for network, _ in tqdm(jobs, "networks", len(data), disable=None)]
    prediction = np.full(len(table), np.nan)
    for split, network, one in zip(splits, networks, data, strict=True):
        prediction[split.test] = predict(network, *one.inputs(one.rows("test")))
    return prediction, networks, data


def fit(
    texts: Sequence[str],
    meanings: Sequence[str],
    ratings: Array,
    how: How,
    ends: Sequence[float] | None = None,
    kind: str = "",
    threads: int = 1,
) -> Model:
    """Five networks on rated texts, each tested on a fifth of them; the model's ``about`` says what
    they are worth.

    meanings : an MR or a context of each text, perhaps empty; of a ``kind``, see `kind_of`
    ratings : float64 (texts,), on a scale with these ``ends``, or those of the ratings
    Raises FormatError: fewer than `FEWEST` different texts; ratings that are all the same; an MR
        that cannot be read, whose number, from 1, is ``line``.
    """
    scale = Scale.of(ratings, *(ends or (float(ratings.min()), float(ratings.max()))))
    kind = kind or kind_of(meanings)
    table = read(meanings, texts, kind).assign(median_quality=scale.stretched(ratings))
    unit, same = groups(table, kind)
    different = len(np.unique(same))
    if different < FEWEST:
        raise FormatError(
            f"{different} different texts are too few to train on and to test with",
            remedy=f"hand in {FEWEST} or more; hundreds are needed to learn something",
        )
    splits, new = parted(unit, same, how.seed)
    fold = np.empty(len(same), np.int64)
    for number, split in enumerate(splits):
        fold[split.test] = number
    prediction, networks, data = cross_validated(table, splits, how, threads)
    new = new and any(map(str.strip, meanings))
    about = {
        "trained": {**asdict(how), "texts": len(texts), "different": different},
        "worth": worth(scale.given_back(prediction), ratings, unit, same, fold),
        "tested": "new texts of new MRs or contexts" if new else "new texts",
        "versions": versions(["refless", "torch", "numpy"]),
    }
    words = [(sums_of(one.mr_words), sums_of(one.text_words)) for one in data]
    seen = frozenset(word_sum(one) for own in spellings(table) for one in own)
    return Model(networks, words, about, scale, kind, seen)


def parted(unit: Array, same: Array, seed: int) -> tuple[list[Split], bool]:
    """Five folds of `groups`, and whether each unit is in one part. Where this leaves no five
    parts, or one with more than half, only equal texts are together."""
    rows = shuffled_groups(together(unit, same), seed)
    new = len(rows) >= FOLDS and max(map(len, rows)) <= len(same) / 2
    if not new:
        rows = shuffled_groups(same, seed)
    # as equal parts as groups allow: the largest comes first, each to the smallest part
    parts: list[list[Array]] = [[] for _ in range(FOLDS)]
    for group in sorted(rows, key=len, reverse=True):
        min(parts, key=lambda part: sum(map(len, part))).append(group)
    splits = rotated([np.concatenate(part) for part in parts])
    return [split._replace(source=split.train) for split in splits], new


def groups(table: pd.DataFrame, kind: str) -> tuple[Array, Array]:
    """Of texts by `refless.models.rnn_qe.data.read`, the number of each one's MR, values as slots,
    or context, and of its words, as they are written or with values as slots; int64 (texts,) each.
    A text without an MR or context is alone."""
    said = table["context"].map(wording) if kind == TEXT else table["mr"].str.split().map(unordered)
    unit = together([one or number for number, one in enumerate(said)])
    return unit, together(*spellings(table))


def worth(
    prediction: Array, ratings: Array, unit: Array, same: Array, fold: Array | None = None
) -> dict[str, Any]:
    """Spearman's rho and MSE with 95% intervals, Pearson's r, and the MSE of a constant, the mean
    rating; None where undefined. Texts without a rating (NaN) are left out.

    unit, same : by `groups`; with fewer than `ENOUGH_UNITS` of either there is no interval
    fold : which network rated each text: correlations are among the texts of each fold, for a
        network knows the mean of the ratings that it is not tested on
    """
    known = ~np.isnan(ratings)
    p, t = prediction[known], ratings[known]
    unit, same = (np.unique(own[known], return_inverse=True)[1] for own in (unit, same))
    units = drawn_together(unit, same)
    of = np.zeros(len(p), np.int64) if fold is None else fold[known]
    x, y = centred(p, of), centred(t, of)
    with np.errstate(invalid="ignore"):
        found = {"pearson": np.corrcoef(x, y)[0, 1], "mse_of_the_mean": t.var()}
    rank, error = evaluate(x, y, units=units).spearman, evaluate(p, t, units=units).mse
    if min(unit.max(), same.max()) + 1 < ENOUGH_UNITS:
        rank, error = Estimate(rank.value), Estimate(error.value)
    found |= {"spearman": rank.value, "spearman_low": rank.low, "spearman_high": rank.high}
    found |= {"mse": error.value, "mse_low": error.low, "mse_high": error.high}
    shown = {k: None if np.isnan(value) else float(f"{value:.5g}") for k, value in found.items()}
    return {"n": len(p), **shown}


def worth_lines(found: Mapping[str, Any]) -> list[str]:
    """What `worth` found, for people."""

    def shown(name: str) -> str:
        value, low, high = (found.get(f"{name}{end}") for end in ("", "_low", "_high"))
        ends = "" if low is None else f" (95% {low:.4g} to {high:.4g})"
        return "undefined" if value is None else f"{value:.4g}{ends}"

    return [
        f"Spearman {shown('spearman')}",
        f"Pearson {shown('pearson')}",
        f"MSE {shown('mse')}; of the mean rating {shown('mse_of_the_mean')}",
    ]
