"""RNN-QE on anybody's ratings: any scale, MRs in several spellings, contexts, or texts alone.

Stage: prediction (RNN-QE). In: rated texts. Out: a `Model` whose networks were trained on them, and
what it is worth on texts that they did not see.

Five networks are trained, each on three parts of five; a fourth part chooses the pass that
predicts, the fifth tests. Texts of one MR or context are never in two parts, but where this would
leave no five parts, or one with more than half; and no text is tested that stands in the other
parts. All five stay: their mean predicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils.parallel import Parallel, delayed
from tqdm import tqdm

from refless.data.wording import together, wording
from refless.errors import FormatError
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.data import Split, Texts, instances, shuffled_groups
from refless.models.rnn_qe.meaning import TEXT, kind_of, tokens_of, unordered
from refless.models.rnn_qe.names import FOLDS, SCHEDULES, SHORT
from refless.models.rnn_qe.network import Network, predict
from refless.models.rnn_qe.saved import Model, sums_of, vocabularies
from refless.models.rnn_qe.scale import Scale
from refless.models.rnn_qe.training import fit as train
from refless.statistics import ENOUGH_UNITS, centred, drawn_together, evaluate
from refless.store.machine import versions

Array = np.ndarray

FEWEST = 25
"""Different rated texts without which five parts tell nothing."""
STEPS = 30
"""Batches of a pass, where there are fewer ratings than set-up 1 of the paper has."""


@dataclass(frozen=True)
class Rated:
    """Rated texts.

    texts, meanings : one string each; a meaning is an MR or a context, and may be empty
    ratings : on ``scale``, shape (texts,)
    kind : of the meanings, of `refless.models.rnn_qe.meaning.KINDS`
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
        scale: Sequence[float] | None = None,
        kind: str = "",
    ) -> Rated:
        """With the scale of the ratings and the kind of the meanings, where they are not given.

        Raises
        ------
        FormatError : ratings that are all the same, or outside the scale.
        """
        ratings = np.asarray(ratings, np.float64)
        made = Scale.of(ratings, *(scale or (None, None)))
        return cls(texts, meanings, ratings, made, kind or kind_of(meanings))

    def table(self) -> pd.DataFrame:
        """The rated outputs as `refless.models.rnn_qe.data.Texts` has them, on 1..6.

        Raises
        ------
        FormatError : a meaning that cannot be read; ``line`` is its number, from 1.
        """
        read = tokens_of(self.meanings, self.texts, self.kind)
        return pd.DataFrame(
            {
                "id": np.arange(len(self.texts)).astype(str),
                "median_quality": self.scale.stretched(self.ratings),
                "mr": [" ".join(mr) for mr, _ in read],
                "words": [" ".join(text) for _, text in read],
            }
        )


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
) -> tuple[Array, list[tuple[Network, dict[str, Any]]], list[Encoded]]:
    """Predictions of each split's test rows by a network trained and chosen on its other rows.

    Returns
    -------
    prediction : on the ratings' scale, not rounded, shape (texts,); NaN in no split's test part
    trained, data : the networks with their best passes, and what they were trained on

    Raises
    ------
    FormatError : a meaning that cannot be read; ``line`` is its number, from 1.
    """
    texts, setup = Texts(rated.table(), pd.DataFrame()), 2 if how.errors else 1
    data = [
        Encoded(instances(texts, replace(split, source=split.train), setup, how.seed))
        for split in splits
    ]
    schedule = SCHEDULES[how.schedule]
    fewest = min(len(split.train) for split in splits)
    schedule = replace(schedule, batch=int(np.clip(fewest // STEPS, 1, schedule.batch)))
    jobs = Parallel(n_jobs=threads, return_as="generator")(
        delayed(train)(one, schedule, how.seed, how.width, half_points=False) for one in data
    )
    trained = list(tqdm(jobs, "networks", len(data), disable=None))
    prediction = np.full(len(rated.texts), np.nan)
    for (network, _), one in zip(trained, data, strict=True):
        rows = one.rows("test")
        raw = predict(network, [one.mr[row] for row in rows], [one.text[row] for row in rows])
        prediction[one.id[rows].astype(int)] = rated.scale.given_back(raw)
    return prediction, trained, data


def fit(rated: Rated, how: How, threads: int = 1) -> Model:
    """Five networks on rated texts; the model's ``about`` says what they are worth, on texts whose
    words, values as slots, stand nowhere in their own network's training part, and neither does
    their MR or context, where there are five shares of texts, none has more than half, and
    `FEWEST` different texts are tested.

    Raises
    ------
    FormatError : fewer than `FEWEST` different texts; as `cross_validated`.
    """
    unit, same = groups(rated.meanings, rated.texts, rated.kind)
    different = int(same.max(initial=-1)) + 1
    if different < FEWEST:
        raise FormatError(
            f"{different} rated texts that differ in words, values as slots, are too few to train"
            " on and to test with",
            remedy=f"hand in {FEWEST} or more; hundreds are needed to learn something",
        )
    splits, fold, new = parted(unit, same, how.seed)
    prediction, trained, data = cross_validated(rated, splits, how, threads)
    prediction[fold < 0] = np.nan
    tested = "new words" + (" (values of the MR as slots)" if rated.kind != TEXT else "")
    if any(map(str.strip, rated.meanings)):
        tested += " of new MRs or contexts" if new else " of MRs or contexts that training had"
    about = {
        "trained": {**asdict(how), "texts": len(rated.texts), "different": different},
        "worth": worth(prediction, rated.ratings, unit, same, fold),
        "tested": tested,
        "validation": [best for _, best in trained],
        "versions": versions(["refless", "torch", "numpy"]),
    }
    return Model(
        [network for network, _ in trained],
        list(map(vocabularies, data)),
        about,
        rated.scale,
        rated.kind,
        frozenset(chain(*sums_of(rated.meanings, rated.texts, rated.kind))),
    )


def parted(unit: Array, same: Array, seed: int) -> tuple[list[Split], Array, bool]:
    """Five folds; which one tests each text, -1 where its words stand in the other parts; and
    whether units are in one part each.

    A text that many units have ties them together. Where this leaves no five parts, units are
    parted all the same: such a text is then learned from, and not tested. If that is no way either,
    since units are few or one is large, only texts of the same words are together.
    """
    for label, new in ((together(unit, same), True), (unit, True), (same, False)):
        groups = shuffled_groups(pd.DataFrame({"mr_key": "", "text": label}), seed)
        if len(groups) < FOLDS:
            continue
        # as equal parts as groups allow: the largest comes first, each to the smallest part
        parts: list[list[Array]] = [[] for _ in range(FOLDS)]
        for rows in sorted(groups, key=len, reverse=True):
            min(parts, key=lambda part: sum(map(len, part))).append(rows)
        whole = [np.concatenate(part) for part in parts]
        fold, splits = np.full(len(same), -1), []
        for number in range(FOLDS):
            *three, dev, test = whole[number:] + whole[:number]
            train = np.concatenate(three)
            splits.append(Split(train, dev, test, train))
            others = np.concatenate([train, dev])
            fold[test[~np.isin(same[test], same[others])]] = number
        even = max(map(len, groups)) <= len(same) / 2
        if not new or (even and len(np.unique(same[fold >= 0])) >= FEWEST):
            return splits, fold, new
    raise AssertionError("texts of five wordings or more can be parted")


class Groups(NamedTuple):
    """What rows have in common, int64 (texts,) each.

    unit : number of each text's MR, values as slots, or context; a text without one is alone
    same : number of each text's words, as they are written or with values as slots
    """

    unit: Array
    same: Array


def groups(meanings: Sequence[str], texts: Sequence[str], kind: str) -> Groups:
    """Which texts answer the same, and which have the same words: these a network remembers.

    ``kind`` is that of the meanings, of `refless.models.rnn_qe.meaning.KINDS`.

    Raises
    ------
    FormatError : a meaning that cannot be read; ``line`` is its number, from 1.
    """
    read = tokens_of(meanings, texts, kind)
    said = (
        wording(m) if kind == TEXT else unordered(mr)
        for m, (mr, _) in zip(meanings, read, strict=True)
    )
    units = together([one or number for number, one in enumerate(said)])
    slotted = [wording(" ".join(words)) for _, words in read]
    return Groups(units, together(list(map(wording, texts)), slotted))


def worth(
    prediction: Array, ratings: Array, unit: Array, same: Array, fold: Array | None = None
) -> dict[str, Any]:
    """Spearman's rho and MSE with 95% intervals, Pearson's r, and the MSE of a constant, the mean
    rating; None where undefined.

    Parameters
    ----------
    prediction, ratings : shape (texts,), NaN where there is none
    unit, same : by `groups`; units are drawn, each with all of its texts, and the same words
        together; there is no interval with fewer than `ENOUGH_UNITS` of either
    fold : which network rated each text: correlations are among the texts of each fold, for a
        network knows the mean of the ratings that it is not tested on
    """
    known = np.flatnonzero(~np.isnan(prediction) & ~np.isnan(ratings))
    p, t = prediction[known], ratings[known]
    unit, same = (np.unique(own[known], return_inverse=True)[1] for own in (unit, same))
    of = np.zeros(len(known), np.int64) if fold is None else fold[known]
    x, y, units = centred(p, of), centred(t, of), drawn_together(unit, same)
    found: dict[str, Any] = {"n": len(known), "pearson": np.nan, "mse_of_the_mean": np.nan}
    rank, error = evaluate(x, y, units=units).spearman, evaluate(p, t, units=units).mse
    few = min(own.max(initial=-1) + 1 for own in (unit, same)) < ENOUGH_UNITS
    for name, own in (("spearman", rank), ("mse", error)):
        found[name] = own.value
        ends = (np.nan, np.nan) if few else (own.low, own.high)
        found[f"{name}_low"], found[f"{name}_high"] = ends
    if not np.isnan(rank.value):
        found["pearson"] = np.corrcoef(x, y)[0, 1]
    if len(known):
        found["mse_of_the_mean"] = t.var()
    return {
        name: value if name == "n" else None if np.isnan(value) else float(f"{value:.5g}")
        for name, value in found.items()
    }


def worth_lines(found: Mapping[str, Any]) -> list[str]:
    """What `worth` found, for people."""

    def shown(name: str) -> str:
        value, low, high = (found.get(f"{name}{end}") for end in ("", "_low", "_high"))
        if value is None:
            return "undefined"
        return f"{value:.4g}" + (f" (95% {low:.4g} to {high:.4g})" if low is not None else "")

    few = found["spearman"] is not None and found["spearman_low"] is None
    return [
        f"Spearman {shown('spearman')}"
        + (" (no interval: too few texts, MRs or contexts)" if few else ""),
        f"Pearson {shown('pearson')}",
        f"MSE {shown('mse')}; of the mean rating {shown('mse_of_the_mean')}",
    ]
