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
from refless.models.rnn_qe.data import Split, Texts, delexicalised, instances, shuffled_groups
from refless.models.rnn_qe.meaning import TEXT, kind_of, tokens_of, unordered
from refless.models.rnn_qe.names import FOLDS, SCHEDULES, SHORT
from refless.models.rnn_qe.network import Network, predict
from refless.models.rnn_qe.saved import Model, spellings, vocabularies, word_sum
from refless.models.rnn_qe.scale import Scale
from refless.models.rnn_qe.training import fit as train
from refless.statistics import ENOUGH_UNITS, centred, drawn_together, evaluate

Array = np.ndarray

FEWEST = 25
"""Different rated texts without which five parts tell nothing."""
STEPS = 30
"""Batches of a pass, where there are fewer ratings than set-up 1 of the paper has."""


@dataclass(frozen=True)
class Rated:
    """Rated texts.

    texts, meanings : one string each; a meaning is an MR or a context, and may be empty
    ratings : on ``scale``, float64 (texts,)
    kind : of the meanings, by `refless.models.rnn_qe.meaning.kind_of`
    """

    texts: Sequence[str]
    meanings: Sequence[str]
    ratings: Array
    scale: Scale
    kind: str = TEXT

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        meanings: Sequence[str],
        ratings: Array,
        ends: Sequence[float] | None = None,
        kind: str = "",
    ) -> "Rated":
        """With the ends of the ratings' scale and the kind of the meanings, unless given. Raises
        FormatError: ratings that are all the same."""
        low, high = ends or (float(ratings.min()), float(ratings.max()))
        scale = Scale.of(ratings, low, high)
        return cls(texts, meanings, ratings, scale, kind or kind_of(meanings))


@dataclass(frozen=True)
class How:
    """How networks are trained.

    schedule : of `refless.models.rnn_qe.names.SCHEDULES`
    width : of embeddings and states
    errors : whether the first passes also have the training texts with errors put in (set-up 2 of
        the paper); for ratings of how well a text is written
    seed : of the parts, the errors and the networks
    """

    schedule: str = SHORT
    width: int = 96
    errors: bool = False
    seed: int = 0


def cross_validated(
    rated: Rated, splits: Sequence[Split], how: How, threads: int = 1
) -> tuple[Array, list[Network], list[Encoded]]:
    """Predictions of each split's test rows by a network trained and chosen on its other rows.

    Returns prediction : on the ratings' scale, not rounded, shape (texts,); NaN in no split's test
        part
    networks, data : and what they were trained on
    Raises FormatError: a meaning that cannot be read; ``line`` is its number, from 1.
    """
    quality = rated.scale.stretched(rated.ratings)
    table = pd.DataFrame(
        {"context": rated.meanings, "text": rated.texts, "median_quality": quality}
    )
    table["id"] = table.index.astype(str)
    texts = Texts(delexicalised(table, "text", rated.kind), pd.DataFrame())
    setup = 2 if how.errors else 1
    data = [Encoded(instances(texts, split, setup, how.seed)) for split in splits]
    schedule = SCHEDULES[how.schedule]
    fewest = min(len(split.train) for split in splits)
    schedule = replace(schedule, batch=int(np.clip(fewest // STEPS, 1, schedule.batch)))
    jobs = Parallel(n_jobs=threads, return_as="generator")(
        delayed(train)(one, schedule, how.seed, how.width, scale=Scale(step=None)) for one in data
    )
    networks = [network for network, _ in tqdm(jobs, "networks", len(data), disable=None)]
    prediction = np.full(len(rated.texts), np.nan)
    for split, network, one in zip(splits, networks, data, strict=True):
        raw = predict(network, *one.inputs(one.rows("test")))
        prediction[split.test] = rated.scale.given_back(raw)
    return prediction, networks, data


def fit(rated: Rated, how: How, threads: int = 1) -> Model:
    """Five networks on rated texts, each tested on a fifth of them; the model's ``about`` says what
    they are worth. Raises FormatError: fewer than `FEWEST` different texts; as `cross_validated`.
    """
    unit, same = groups(rated.meanings, rated.texts, rated.kind)
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
    prediction, networks, data = cross_validated(rated, splits, how, threads)
    new = new and any(map(str.strip, rated.meanings))
    about = {
        "trained": {**asdict(how), "texts": len(rated.texts), "different": different},
        "worth": worth(prediction, rated.ratings, unit, same, fold),
        "tested": "new texts of new MRs or contexts" if new else "new texts",
        "versions": versions(["refless", "torch", "numpy"]),
    }
    every = spellings(rated.meanings, rated.texts, rated.kind)
    return Model(
        networks,
        list(map(vocabularies, data)),
        about,
        rated.scale,
        rated.kind,
        frozenset(word_sum(one) for own in every for one in own),
    )


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
    whole = [np.concatenate(part) for part in parts]
    splits = []
    for number in range(FOLDS):
        *three, dev, test = whole[number:] + whole[:number]
        train_rows = np.concatenate(three)
        splits.append(Split(train_rows, dev, test, train_rows))
    return splits, new


def groups(meanings: Sequence[str], texts: Sequence[str], kind: str) -> tuple[Array, Array]:
    """Which texts answer the same, and which have the same words, int64 (texts,) each.

    Returns unit : number of each text's MR, values as slots, or context; a text without one is
        alone
    same : number of each text, as it is written or with values as slots
    Raises FormatError: a meaning that cannot be read; ``line`` is its number, from 1.
    """
    if kind == TEXT:
        said = list(map(wording, meanings))
    else:
        said = [unordered(mr) for mr, _ in tokens_of(meanings, texts, kind)]
    every = spellings(meanings, texts, kind)
    unit = together([one or number for number, one in enumerate(said)])
    return unit, together(*([own[side] for own in every] for side in (0, 1)))


def worth(
    prediction: Array, ratings: Array, unit: Array, same: Array, fold: Array | None = None
) -> dict[str, Any]:
    """Spearman's rho and MSE with 95% intervals, Pearson's r, and the MSE of a constant, the mean
    rating; None where undefined.

    prediction, ratings : shape (texts,); a text without a rating (NaN) is left out
    unit, same : by `groups`; with fewer than `ENOUGH_UNITS` of either there is no interval
    fold : which network rated each text: correlations are among the texts of each fold, for a
        network knows the mean of the ratings that it is not tested on
    """
    known = ~np.isnan(ratings)
    p, t = prediction[known], ratings[known]
    unit, same = (np.unique(own[known], return_inverse=True)[1] for own in (unit, same))
    few = min(unit.max(), same.max()) + 1 < ENOUGH_UNITS
    units = drawn_together(unit, same)
    of = np.zeros(len(p), np.int64) if fold is None else fold[known]
    x, y = centred(p, of), centred(t, of)
    with np.errstate(invalid="ignore"):
        found = {"pearson": np.corrcoef(x, y)[0, 1], "mse_of_the_mean": t.var()}
    rank, error = evaluate(x, y, units=units).spearman, evaluate(p, t, units=units).mse
    for name, own in (("spearman", rank), ("mse", error)):
        ends = (np.nan, np.nan) if few else (own.low, own.high)
        found |= {name: own.value, f"{name}_low": ends[0], f"{name}_high": ends[1]}
    shown = {k: None if np.isnan(value) else float(f"{value:.5g}") for k, value in found.items()}
    return {"n": len(p), **shown}


def worth_lines(found: Mapping[str, Any]) -> list[str]:
    """What `worth` found, for people."""

    def shown(name: str) -> str:
        value, low, high = (found.get(f"{name}{end}") for end in ("", "_low", "_high"))
        if value is None:
            return "undefined"
        return f"{value:.4g}" + (f" (95% {low:.4g} to {high:.4g})" if low is not None else "")

    return [
        f"Spearman {shown('spearman')}",
        f"Pearson {shown('pearson')}",
        f"MSE {shown('mse')}; of the mean rating {shown('mse_of_the_mean')}",
    ]
