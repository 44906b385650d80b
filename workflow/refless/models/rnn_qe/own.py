"""RNN-QE on anybody's ratings: any scale, MRs in several spellings, contexts, or texts alone.

Stage: prediction (RNN-QE). In: rated texts. Out: a `Model` whose networks were trained on them, and
what it is worth on texts that they did not see.

Five networks are trained, each on three parts of five; a fourth part chooses the pass that
predicts, the fifth tests. Texts of one MR or context are never in two parts, but where this would
leave no five parts, or one with more than half; and no text is tested that stands in the other
parts. All five stay: their mean predicts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.data.wording import together, wording
from refless.errors import FormatError, SettingError
from refless.models.rnn_qe.batches import Encoded, Instances
from refless.models.rnn_qe.data import (
    FOLDS,
    REFERENCE_COLUMNS,
    Split,
    Texts,
    instances,
    shuffled_groups,
)
from refless.models.rnn_qe.meaning import KINDS, TEXT, kind_of, tokens_of, unordered
from refless.models.rnn_qe.network import Architecture
from refless.models.rnn_qe.saved import Model, sums_of, word_sum
from refless.models.rnn_qe.scale import Scale
from refless.models.rnn_qe.training import SCHEDULES, UNROUNDED, Run, Trained, train
from refless.statistics import ENOUGH_UNITS, Estimate, centred, drawn_together, evaluate
from refless.store.machine import versions

Array = np.ndarray

FEWEST = 25
"""Different rated texts without which five parts tell nothing."""
NEW = " of new MRs or contexts"
"""What `fit` says of the texts that it tests on, where it can part them so."""
OLD = " of MRs or contexts that training had, too"
"""The same, where it cannot."""
STEPS = 30
"""Batches of a pass, where there are fewer ratings than set-up 1 of the paper has."""


@dataclass(frozen=True)
class Rated:
    """Rated texts.

    texts, meanings : one string each; a meaning is an MR or a context, and may be empty
    ratings : on ``scale``, shape (texts,)
    kind : of the meanings, of `refless.models.rnn_qe.meaning.KINDS`
    beside : what else a text answers, such as a context beside an MR: not read, but kept together
    """

    texts: Sequence[str]
    meanings: Sequence[str]
    ratings: Array
    scale: Scale
    kind: str = TEXT
    beside: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        meanings: Sequence[str],
        ratings: Array,
        scale: Sequence[float] | None = None,
        kind: str = "",
        beside: Sequence[str] = (),
    ) -> Rated:
        """With the scale of the ratings and the kind of the meanings, where they are not given.

        Raises
        ------
        FormatError : ratings that are all the same, or outside the scale.
        SettingError : an unknown kind.
        """
        if kind and kind not in KINDS:
            raise SettingError(f"no kind of MR is called {kind!r}", remedy=f"one of {list(KINDS)}")
        low, high = scale or (None, None)
        made = Scale.of(np.asarray(ratings, np.float64), low, high)
        ratings, kind = np.asarray(ratings, np.float64), kind or kind_of(meanings)
        return cls(texts, meanings, ratings, made, kind, beside)

    def table(self) -> pd.DataFrame:
        """The rated outputs as `refless.models.rnn_qe.data.Texts` has them, on 1..6.

        Raises
        ------
        FormatError : a meaning that cannot be read; ``line`` is its number, from 1.
        """
        read = tokens_of(self.meanings, self.texts, self.kind)
        return pd.DataFrame(
            {
                "id": [str(number) for number in range(len(self.texts))],
                "text": list(self.texts),
                "mr_key": list(self.meanings),
                "median_quality": self.scale.stretched(self.ratings),
                "mr": [" ".join(mr) for mr, _ in read],
                "words": [" ".join(text) for _, text in read],
            }
        )


@dataclass(frozen=True)
class How:
    """How networks are trained; see `refless.models.rnn_qe.training.SCHEDULES`, `Architecture`.

    errors : whether the first passes also have the training texts with errors put in (set-up 2 of
        the paper); for ratings of how well a text is written
    seed : of the parts, the errors and the networks
    """

    schedule: str = "fast"
    width: int = 96
    errors: bool = False
    seed: int = 0
    precision: str = "float32"


def cross_validated(
    rated: Rated,
    splits: Sequence[Split],
    how: How,
    run: Run | None = None,
    tick: Callable[[int], None] = lambda instances: None,
) -> tuple[Array, Trained, dict[int, Encoded]]:
    """Predictions of each split's test rows by a network trained and chosen on its other rows.

    Returns
    -------
    prediction : on the ratings' scale, not rounded, shape (texts,); NaN in no split's test part
    trained, folds : the networks, in the order of the splits, and their data

    Raises
    ------
    FormatError : a meaning that cannot be read; ``line`` is its number, from 1.
    SettingError : an unknown schedule.
    """
    if how.schedule not in SCHEDULES:
        raise SettingError(f"no schedule is called {how.schedule!r}", remedy=" or ".join(SCHEDULES))
    none = pd.DataFrame(columns=[*REFERENCE_COLUMNS, "part", "mr", "words"])
    texts = Texts(rated.table(), none)
    folds = {}
    for number, split in enumerate(splits):
        own = replace(split, source=split.train)
        made = instances(texts, own, 2 if how.errors else 1, how.seed)
        folds[number] = Encoded(Instances.of(made))
    schedule = SCHEDULES[how.schedule]
    fewest = min(len(split.train) for split in splits)
    batch = int(np.clip(fewest // STEPS, 1, schedule.batch))
    architecture = Architecture(embedding=how.width, hidden=how.width, precision=how.precision)
    chosen = replace(schedule, batch=batch, choice=UNROUNDED)
    done = train(folds, [how.seed], chosen, architecture, run, tick)
    prediction = np.full(len(rated.texts), np.nan)
    table = done.predictions[done.predictions["part"] == "test"]
    prediction[table["id"].astype(int)] = rated.scale.given_back(table["raw"].to_numpy())
    return prediction, done, folds


def fit(
    rated: Rated,
    how: How,
    run: Run | None = None,
    tick: Callable[[int], None] = lambda instances: None,
) -> Model:
    """Five networks on rated texts; the model's ``about`` says what they are worth, on texts whose
    words, values as slots, stand nowhere in their own network's training part, and neither does
    their MR or context, where there are five shares of texts, none has more than half, and
    `FEWEST` different texts are tested.

    Raises
    ------
    FormatError : fewer than `FEWEST` different texts; as `cross_validated`.
    """
    unit, same, answered = groups(
        rated.meanings, rated.texts, rated.kind, *filter(len, [rated.beside])
    )
    different = int(same.max(initial=-1)) + 1
    if different < FEWEST:
        raise FormatError(
            f"{different} rated texts that differ in words, values as slots, are too few to train"
            " on and to test with",
            remedy=f"hand in {FEWEST} or more; hundreds are needed to learn something",
        )
    splits, fold, new = _parted(unit, same, how.seed)
    prediction, done, folds = cross_validated(rated, splits, how, run, tick)
    prediction[fold < 0] = np.nan
    words = "new words" if rated.kind == TEXT else "new words (values of the MR as slots)"
    answers = any(map(str.strip, [*rated.meanings, *rated.beside]))
    about = {
        "trained": {**asdict(how), "texts": len(rated.texts), "different": different},
        "worth": worth(prediction, rated.ratings, unit, same, fold),
        "tested": words + ("" if not answers else NEW if new else OLD),
        "validation": [model["best"] for model in done.models],
        "versions": versions(["refless", "torch", "numpy"]),
    }
    architecture = Architecture(embedding=how.width, hidden=how.width, precision=how.precision)
    seen = frozenset(chain(*sums_of(rated.meanings, rated.texts, rated.kind)))
    known = frozenset(word_sum(key) for own in answered for key in own if key)
    others = {"scale": rated.scale, "meanings": rated.kind, "seen": seen, "answered": known}
    data = list(folds.values())
    return Model.of(architecture, done.parameters, data, about, **others)


def _parted(unit: Array, same: Array, seed: int) -> tuple[list[Split], Array, bool]:
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
        splits = _folds(groups)
        fold = np.full(len(same), -1)
        for number, split in enumerate(splits):
            others = np.concatenate([split.train, split.dev])
            fold[split.test[~np.isin(same[split.test], same[others])]] = number
        even = max(map(len, groups)) <= len(same) / 2
        if not new or (even and len(np.unique(same[fold >= 0])) >= FEWEST):
            return splits, fold, new
    raise AssertionError("texts of five wordings or more can be parted")


def _folds(groups: Sequence[Array]) -> list[Split]:
    """As `cross_validation`, with parts as equal as groups allow: the largest group comes first,
    each to the smallest part. One wording may be a large share of the texts."""
    parts: list[list[Array]] = [[] for _ in range(FOLDS)]
    for rows in sorted(groups, key=len, reverse=True):
        min(parts, key=lambda part: sum(map(len, part))).append(rows)
    whole = [np.concatenate(part) for part in parts]
    turned = (whole[fold:] + whole[:fold] for fold in range(FOLDS))
    return [Split(train := np.concatenate(three), dev, test, train) for *three, dev, test in turned]


class Groups(NamedTuple):
    """What rows have in common.

    unit : number of each text's MR, values as slots, or context, int64 (texts,)
    same : number of each text's words, int64 (texts,)
    answered : by what texts' MRs or contexts, and what is beside them, are told apart: a list for
        each of them, with an empty string where a text has none
    """

    unit: Array
    same: Array
    answered: list[list[str]]


def groups(
    meanings: Sequence[str], texts: Sequence[str], kind: str, *beside: Sequence[str]
) -> Groups:
    """Which texts answer the same, and which have the same words.

    A text without MR or context is alone. Words are the same as they are written, or with slots in
    the place of values; a text may stand there under several MRs, which name different slots in it.
    They are what a network remembers.

    Parameters
    ----------
    kind : of the meanings, of `refless.models.rnn_qe.meaning.KINDS`
    beside : what else each text answers; what shares it has one number as well

    Raises
    ------
    FormatError : a meaning that cannot be read; ``line`` is its number, from 1.
    """
    read = tokens_of(meanings, texts, kind)
    said = [
        wording(m) if kind == TEXT else unordered(mr)
        for m, (mr, _) in zip(meanings, read, strict=True)
    ]
    keys = [said, *(list(map(wording, labels)) for labels in beside)]
    own = ([one or number for number, one in enumerate(labels)] for labels in keys)
    slotted = [wording(" ".join(words)) for _, words in read]
    return Groups(together(*own), together(list(map(wording, texts)), slotted), keys)


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
    numbers = [np.unique(own[known], return_inverse=True)[1] for own in (unit, same)]
    few = min(own.max(initial=-1) + 1 for own in numbers) < ENOUGH_UNITS
    units = drawn_together(*numbers)
    of = np.zeros(len(known), np.int64) if fold is None else fold[known]
    x, y = centred(p, of), centred(t, of)
    rank, error = (evaluate(*pair, units=units) for pair in ((x, y), (p, t)))
    nothing = Estimate(np.nan)
    intervals = {
        name: nothing if few else own
        for name, own in (("spearman", rank.spearman), ("mse", error.mse))
    }
    varies = not np.isnan(rank.spearman.value)
    found = {
        "n": len(known),
        "spearman": rank.spearman.value,
        "spearman_low": intervals["spearman"].low,
        "spearman_high": intervals["spearman"].high,
        "pearson": np.corrcoef(x, y)[0, 1] if varies else np.nan,
        "mse": error.mse.value,
        "mse_low": intervals["mse"].low,
        "mse_high": intervals["mse"].high,
        "mse_of_the_mean": t.var() if len(known) else np.nan,
    }
    return {
        name: value if name == "n" else None if np.isnan(value) else float(f"{value:.5g}")
        for name, value in found.items()
    }


def worth_lines(found: Mapping[str, Any]) -> list[str]:
    """What `worth` found, for people."""
    shown = {
        name: "undefined" if value is None else f"{value:.4g}" for name, value in found.items()
    }
    spearman, mse = (
        shown[name]
        + (
            ("" if found[name] is None else " (no interval: too few texts, MRs or contexts)")
            if found[f"{name}_low"] is None
            else f" (95% {shown[f'{name}_low']} to {shown[f'{name}_high']})"
        )
        for name in ("spearman", "mse")
    )
    return [
        f"Spearman {spearman}",
        f"Pearson {shown['pearson']}",
        f"MSE {mse}; of the mean rating {shown['mse_of_the_mean']}",
    ]
