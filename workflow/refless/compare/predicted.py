"""Every method's estimates of texts that it has not seen.

Stage: prediction. In: rated texts, a split. Out: for each method the estimate of each text from the
training part of its fold, that is, all other folds.

==================  =============================================================================
constant            the mean rating of the training part
middle              the middle of the scale, which needs no rating
length              a line from the number of characters
words               a line from the number of words, by blanks
lookup              the mean rating of the very same text; with MRs, with values as slots
system_mean         the mean rating of the system
context_mean        the mean rating of the context
neighbors           BLEU Neighbors, with each kernel
ridge               ridge regression on TF-IDF weights of character n-grams
ridge_system        the mean rating of the system, and ridge on what it leaves of the rating
bleu                smoothed BLEU against the references, and a line from it to ratings
delta_bleu          ΔBLEU against the references and the rated texts of the same context, likewise
rnn_qe              RNN-QE on text and MR, or text and context (see `networks`)
<name>              somebody else's score (column ``score_<name>``) as it is
<name>.calibrated   the same with a line from it to ratings
==================  =============================================================================

Whatever is chosen is chosen inside the training part: the folds of the training part take turns in
being left out there. So no threshold has seen a rating of the texts that it is used on.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refless.compare.rated import Rated
from refless.compare.splits import Split
from refless.data.wording import wording
from refless.experiments.delta_bleu.dialogues import tokenize
from refless.kernels import group_sums
from refless.models.baselines import (
    Baseline,
    Constant,
    Length,
    Lookup,
    RidgeTfidf,
    SystemMean,
    SystemRidge,
)
from refless.models.delta_bleu import Texts
from refless.models.neighbors import enough_evidence, means_of_sums
from refless.models.same_group import ORDER, defined_scores, line, references, weights

Array = np.ndarray

TAUS = (
    *(0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.22, 0.26, 0.3, 0.35),
    *(0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98),
)
MIN_NEIGHBORS = (1, 2, 3, 5, 10, 20)
MAX_SHARE = 0.66
TRIVIAL = ("constant", "middle", "length", "words", "lookup", "system_mean", "context_mean")
"""What a method has to beat: they do not look at what a text says."""
NETWORKS = "rnn_qe"
OWN = (*TRIVIAL, "ridge", "ridge_system", "neighbors", "bleu", "delta_bleu", NETWORKS)
PLACES = ("row", "split", "deal", "fold", "quality")
"""Columns of ``predictions.csv`` that are of no method."""


@dataclass(frozen=True)
class Prediction:
    """A method's estimates.

    estimate : float64 (n,), NaN where the method abstains, and outside of the split
    filled : the same with the mean of the training part where it abstains; squared errors are
        taken from it. None for a score that is on no scale of ratings
    ranked : (n,), what the texts of a fold are ranked by; NaN outside of the split
    chosen : what was chosen in each fold
    orders_systems : whether the order of its mean estimates for systems says something of them
    """

    method: str
    kernel: str
    estimate: Array
    filled: Array | None
    ranked: Array
    chosen: dict[str, list[Any]] = field(default_factory=dict)
    note: str = ""
    orders_systems: bool = True


def training_means(quality: Array, fold: Array, used: Array | None = None) -> Array:
    """Mean rating of the training part of each fold, shape (folds,).

    ``used`` says which texts the training part may have, bool (n,).
    """
    used = fold >= 0 if used is None else used & (fold >= 0)
    folds = range(int(fold.max()) + 1)
    return np.array([quality[used & (fold != k)].mean() for k in folds])


def filled_in(
    method: str,
    kernel: str,
    estimate: Array,
    quality: Array,
    fold: Array,
    used: Array | None = None,
    **facts: Any,
) -> Prediction:
    """A `Prediction` from its estimates; ``used`` as in `training_means`."""
    # rounded as means of neighbors are, since equal means tie
    means = np.round(training_means(quality, fold, used), 12)
    mean = np.where(fold >= 0, means[fold], np.nan)
    filled = np.where(np.isnan(estimate), mean, estimate)
    return Prediction(method, kernel, estimate, filled, filled, **facts)


def abstained(method: str, kernel: str, rated: Rated, split: Split) -> Prediction:
    """Of a method that has no estimate at all."""
    nothing = np.full(len(rated), np.nan)
    return filled_in(method, kernel, nothing, rated.quality, split.fold)


# ---- without the text, and ridge regression ------------------------------------------------------


def baseline(
    method: str, make: Callable[[], Baseline], rated: Rated, split: Split, used: Array | None = None
) -> Prediction:
    """A baseline, fitted anew for each fold. Folds are also what ridge regression chooses on."""
    fold, quality = split.fold, rated.quality
    train = split.inside if used is None else split.inside & used
    systems, texts = rated.systems, rated.texts
    if method == "lookup":
        texts = rated.slots or texts
    if method == "context_mean":
        assert rated.several is not None
        systems = [f"c{number}" for number in rated.several]
    elif systems is not None:  # numbers, since the model would part a name at its +
        systems = [f"s{number}" for number in np.unique(systems, return_inverse=True)[1]]
    estimate = np.full(len(rated), np.nan)
    for k in range(split.folds):
        rows, asked = np.flatnonzero(train & (fold != k)), np.flatnonzero(fold == k)
        model = make().fit(
            _of(texts, rows),
            quality[rows],
            systems=None if systems is None else _of(systems, rows),
            groups=fold[rows].tolist(),
        )
        named = None if systems is None else _of(systems, asked)
        estimate[asked] = model.predict(_of(texts, asked), systems=named)
    if method != "context_mean" or rated.systems is None:
        return filled_in(method, "", estimate, quality, fold, used)
    note = "systems are not ordered by it: it leaves out a text's own, and falls as that rises"
    return filled_in(method, "", estimate, quality, fold, used, orders_systems=False, note=note)


def _spelt(text: str) -> str:
    """A text with its marks, for which case, blanks and composed letters alone do not count."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


class SpeltLookup(Lookup):
    """The mean quality of the training examples of the same text, marks included; where there is
    none, of those of the same `wording`. Of these at once, where marks are shown to tell nothing:
    where it predicts training examples better from each other."""

    def __init__(self) -> None:
        super().__init__(_spelt, "nan")
        self.near = Lookup(wording, "nan")

    def fit(self, *args: Any, **more: Any) -> SpeltLookup:
        super().fit(*args, **more)
        self.near.fit(*args, **more)
        found = super().leave_one_out()
        there = ~np.isnan(found)
        gaps = (own[there] - self.quality_[there] for own in (found, self.near.leave_one_out()))
        exact, near = (gap @ gap for gap in gaps)
        self.marks_tell_ = bool(exact <= near)  # also where no text stands there twice
        return self

    def predict(self, *args: Any, **more: Any) -> Array:
        near = self.near.predict(*args, **more)
        if not self.marks_tell_:
            return near
        found = super().predict(*args, **more)
        return np.where(np.isnan(found), near, found)


def _of(values: Sequence[Any], rows: Array) -> list[Any]:
    return [values[row] for row in rows]


def baselines(rated: Rated, split: Split) -> dict[str, Callable[[], Baseline] | str]:
    """Method -> what makes it, or why it is left out."""
    same = "equal texts are never on both sides of this split"
    # a system or context that is left out has no mean
    new = "what is new in this split has no ratings yet"
    found: dict[str, Callable[[], Baseline] | str] = {
        "constant": Constant,
        "middle": lambda: Constant(0.5),
        "length": Length,
        "words": lambda: Length("tokens"),
        "lookup": SpeltLookup,
        "system_mean": lambda: SystemMean("nan"),
        "context_mean": lambda: SystemMean("nan"),
        "ridge": lambda: RidgeTfidf(rated.ngrams),
        "ridge_system": lambda: SystemRidge(rated.ngrams),
    }
    if split.name == "texts" and rated.slots is None:
        found["lookup"] = same
    for method, name, there in (
        ("system_mean", "systems", rated.systems),
        ("ridge_system", "systems", rated.systems),
        ("context_mean", "contexts", rated.context),
    ):
        if there is None:
            found[method] = f"the ratings do not tell {name} apart"
        elif split.name == name:
            found[method] = new
    return found


# ---- neighbors -----------------------------------------------------------------------------------


def fold_sums(
    kernel: str,
    texts: Sequence[str],
    quality: Array,
    folds: Sequence[Array],
    used: Array,
    *,
    threads: int | None = None,
    **options: Any,
) -> list[tuple[Array, Array]]:
    """Number and summed quality of each text's neighbors in each fold, for several splits at once:
    each pair of texts is compared once.

    ``folds`` has each split's, and ``used`` is as in `training_means`. Returns for each split
    counts int64 and sums float64, both of shape (n, its folds, taus), over `TAUS`.
    """
    rows = np.flatnonzero(used)
    ways = [fold[rows] for fold in folds]
    own = _of(texts, rows)
    found = group_sums(kernel, texts, own, quality[rows], TAUS, ways, threads=threads, **options)

    def whole(part: Array, fold: Array) -> Array:
        # a last fold without a text that may be used has no neighbors
        return np.pad(part, ((0, 0), (0, int(fold.max()) + 1 - part.shape[1]), (0, 0)))

    return [
        (whole(counts, fold), whole(sums, fold))
        for fold, (counts, sums) in zip(folds, found, strict=True)
    ]


def nested_neighbors(
    counts: Array, sums: Array, quality: Array, fold: Array, used: Array
) -> tuple[Array, dict[str, list[Any]]]:
    """BLEU Neighbors with thresholds chosen in each fold's training part.

    For fold k, each text of the training part (in fold j) is estimated from the folds besides k and
    j; tau and the fewest neighbors are those with the least squared error, where the mean of these
    same folds stands in for an estimate that is not made. The first of equally good ones is taken.

    Parameters
    ----------
    counts, sums : from `fold_sums`
    used : as in `training_means`

    Returns
    -------
    estimate : (n,), NaN where there is too little evidence or no fold
    chosen : ``tau`` and ``min_neighbors`` of each fold
    """
    used = used & (fold >= 0)
    folds = counts.shape[1]
    size = np.bincount(fold[used], minlength=folds)
    total = np.bincount(fold[used], quality[used], minlength=folds)
    all_counts, all_sums = counts.sum(axis=1), sums.sum(axis=1)
    estimate = np.full(len(fold), np.nan)
    chosen: dict[str, list[Any]] = {"tau": [], "min_neighbors": []}
    for k in range(folds):
        inner = np.flatnonzero(used & (fold != k))
        own = fold[inner]
        inner_counts = all_counts[inner] - counts[inner, k] - counts[inner, own]
        inner_sums = all_sums[inner] - sums[inner, k] - sums[inner, own]
        inner_size = size.sum() - size[k] - size[own]
        mean = (total.sum() - total[k] - total[own]) / np.maximum(inner_size, 1)
        means = means_of_sums(inner_sums, inner_counts)
        most = inner_counts <= np.floor(MAX_SHARE * inner_size + 1e-9)[:, None]
        gap = np.square(means - quality[inner][:, None])
        empty = np.square(mean - quality[inner])[:, None]
        error = np.stack(
            [np.where((inner_counts >= a) & most, gap, empty).mean(axis=0) for a in MIN_NEIGHBORS]
        )
        # a difference that is rounding decides nothing, however little of the scale is used
        least = np.round(error / max(error.max(), np.finfo(float).tiny), 9)
        a, t = np.unravel_index(int(np.argmin(least)), error.shape)
        asked = np.flatnonzero(fold == k)
        own_counts = all_counts[asked, t] - counts[asked, k, t]
        # a fold's sum taken away from the whole leaves rounding, which would break ties
        own_means = np.round(means_of_sums(all_sums[asked, t] - sums[asked, k, t], own_counts), 12)
        training = int(size.sum() - size[k])
        estimate[asked] = enough_evidence(
            own_means, own_counts, training, MIN_NEIGHBORS[a], MAX_SHARE
        )
        chosen["tau"].append(TAUS[t])
        chosen["min_neighbors"].append(MIN_NEIGHBORS[a])
    return estimate, chosen


def neighbors(
    kernel: str, rated: Rated, split: Split, sums: tuple[Array, Array], used: Array | None = None
) -> Prediction:
    """BLEU Neighbors with one kernel; ``sums`` as from `fold_sums`, ``used`` as there."""
    may = np.ones(len(rated), bool) if used is None else used
    estimate, chosen = nested_neighbors(*sums, rated.quality, split.fold, may)
    return filled_in("neighbors", kernel, estimate, rated.quality, split.fold, used, chosen=chosen)


# ---- against references --------------------------------------------------------------------------


def against_references(rated: Rated, split: Split, weighted: bool) -> Prediction | str:
    """BLEU against the references, or ΔBLEU with the rated texts of the context as well; or why
    there is none.

    References weigh 1, a rated text what its rating says: -1 at the lowest, 1 at the highest. A
    text's fold is its owner, so no text is scored against its own fold.
    """
    if rated.references is None and not (weighted and rated.context is not None):
        return "there are no references" + (" and no contexts" if weighted else "")
    n, fold = len(rated), split.fold
    others = rated.references or [[] for _ in range(n)]
    extra = [text for own in others for text in own]
    whose = np.repeat(np.arange(n), [len(own) for own in others])
    counted = Texts([tokenize(text) for text in [*rated.texts, *extra]], ORDER)
    number = n + np.arange(len(extra))
    nobody, heavy = np.full(len(extra), -1), np.ones(len(extra))
    # with ΔBLEU, what belongs to one context is shared by its texts; a text that has no context
    # has its own references alone
    if weighted and rated.context is not None:
        item, rows = rated.context, np.flatnonzero(split.inside)
        group = np.concatenate([item[rows], item[whose]])
        text, owner = np.concatenate([rows, number]), np.concatenate([fold[rows], nobody])
        weight = np.concatenate([weights(rated.quality[rows], 0.5, 0.0, 1.0), heavy])
        side = references(group, int(item.max()) + 1, text, owner, weight)
    else:
        item = np.arange(n)
        side = references(whose, n, number, nobody, heavy)
    found = counted.statistics(np.arange(n), np.maximum(fold, 0), item, side, split.folds)
    score = defined_scores(found, "smooth")
    estimate = np.full(n, np.nan)
    for k in range(split.folds):
        training, asked = split.inside & (fold != k), fold == k
        slope, intercept = line(score[training, 1 + k], rated.quality[training])
        estimate[asked] = intercept + slope * score[asked, 0]
    if np.isnan(estimate).all():
        return "no text has a reference, or a text rated above the middle of the scale, beside it"
    method = "delta_bleu" if weighted else "bleu"
    return filled_in(method, "", estimate, rated.quality, fold)


# ---- networks ------------------------------------------------------------------------------------


def by_networks(
    rated: Rated, split: Split, estimates: Callable[[Rated, Split], Array]
) -> Prediction | str:
    """RNN-QE, from what makes its estimates; or why there is none."""
    if rated.meanings is None:
        return "there are no MRs and no contexts"
    return filled_in(NETWORKS, "", estimates(rated, split), rated.quality, split.fold)


# ---- somebody else's score -----------------------------------------------------------------------


def raw_score(name: str, rated: Rated, split: Split) -> Prediction:
    """A score as it is; where there is none, its mean over the training part.

    Where the training part has none either, it is the mean of all that are given: no score holds a
    rating, and 0 would stand far from the others.
    """
    score, fold = np.where(split.inside, rated.scores[name], np.nan), split.fold
    known = ~np.isnan(score)
    every = score[known].mean() if known.any() else 0.0
    means = [
        score[known & (fold != k)].mean() if (known & (fold != k)).any() else every
        for k in range(split.folds)
    ]
    ranked = np.where(known | ~split.inside, score, np.array(means)[fold])
    if not rated.on_scale(name):
        note = "off the ratings' scale, or within less than half of it: no squared error"
        return Prediction(named(name), "", score, None, ranked, note=note)
    low, high = rated.scale
    score, ranked = ((values - low) / (high - low) for values in (score, ranked))
    return Prediction(named(name), "", score, ranked, ranked)


def calibrated_score(name: str, rated: Rated, split: Split) -> Prediction:
    """A score with a straight line from it to ratings, fitted on the training part."""
    score, fold = rated.scores[name], split.fold
    estimate = np.full(len(rated), np.nan)
    for k in range(split.folds):
        training = split.inside & (fold != k)
        asked = fold == k
        slope, intercept = line(score[training], rated.quality[training])
        estimate[asked] = intercept + slope * score[asked]
    return filled_in(
        f"{named(name)}.calibrated",
        "",
        estimate,
        rated.quality,
        fold,
        note="calibrated by a straight line, fitted on the training part",
    )


def named(name: str) -> str:
    """The method's name; a score that is called like one of ours, or like a column of
    ``predictions.csv``, keeps its column's name."""
    return f"score_{name}" if name in (*OWN, *PLACES) else name
