"""Every method's estimates of texts that it has not seen.

Stage: prediction. In: rated texts, a split. Out: for each method the estimate of each text from the
training part of its fold, that is, all other folds. Whatever is chosen is chosen inside that part.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from refless.compare.read import Rated
from refless.compare.splits import Split
from refless.data.wording import wording
from refless.kernels import group_sums
from refless.models.baselines import (
    Baseline,
    Constant,
    Length,
    Lookup,
    RidgeTfidf,
    SystemRidge,
    line,
)
from refless.models.delta_bleu import NOBODY, Rows, Texts, parts, scores, tokenize
from refless.models.neighbor_means import enough_evidence, means_of_sums

Array = np.ndarray

TAUS = (
    *(0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.22, 0.26, 0.3, 0.35),
    *(0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98),
)
MIN_NEIGHBORS = (1, 2, 3, 5, 10, 20)
MAX_SHARE = 0.66
NEIGHBORS, NETWORKS, COMBINED = "neighbors", "rnn_qe", "combined"
BASELINES: dict[str, Callable[[Rated], Baseline]] = {
    "constant": lambda rated: Constant(),
    "middle": lambda rated: Constant(0.5),
    "length": lambda rated: Length(),
    "words": lambda rated: Length(),
    "lookup": lambda rated: Lookup(),
    "system_mean": lambda rated: Lookup(),
    "context_mean": lambda rated: Lookup(),
    "ridge": lambda rated: RidgeTfidf(rated.ngrams),
    "ridge_system": lambda rated: SystemRidge(rated.ngrams),
}
SEEN: dict[str, Callable[[Any], Iterable[Any]]] = {
    "words": lambda rated: map(str.split, rated.texts),
    "lookup": lambda rated: map(wording, rated.slots or rated.texts),
    "system_mean": lambda rated: rated.system,
    "context_mean": lambda rated: rated.context,
    "ridge_system": lambda rated: zip(rated.system, rated.texts, strict=True),
}
"""What a baseline looks at, where that is not the text itself."""
TRIVIAL = ("constant", "middle", "length", "words", "lookup", "system_mean", "context_mean")
"""What a method has to beat: they do not look at what a text says."""
NAMES = {
    "constant": "mean of all ratings",
    "middle": "middle of the scale",
    "length": "number of characters",
    "words": "number of words",
    "lookup": "same text seen in training",
    "system_mean": "mean of the system",
    "context_mean": "mean of the context",
    "ridge_system": "ridge beside the mean of the system",
    "bleu": "BLEU against references",
    "delta_bleu": "ΔBLEU against references and rated texts",
    NETWORKS: "RNN-QE",
    COMBINED: "ridge over all scores",
}
"""Method -> how a reader knows it, where that is not its name."""
NEEDS = {
    "system_mean": "system",
    "ridge_system": "system",
    "context_mean": "context",
    "bleu": "references",
    NETWORKS: "answers",
}
"""Method -> what of `Rated` must be there."""

Key = tuple[str, str]
"""Method, and kernel or an empty string."""
Networks = Callable[[Rated, Split], Array]
"""What makes RNN-QE's estimates."""


class Estimates(NamedTuple):
    """A method's estimates, float64 (n,) each.

    own : NaN where the method abstains; filled : there with the mean of the training part
    ranked : what the texts of a fold are ranked by
    """

    own: Array
    filled: Array
    ranked: Array


def label(method: str, kernel: str = "") -> str:
    """How a method is called: ``neighbors (bleu.char)``."""
    name = NAMES.get(method, method)
    return f"{name} ({kernel})" if kernel else name


def training_mean(quality: Array, fold: Array, used: Array | None = None) -> Array:
    """The mean of each text's training part, of texts that are ``used``, bool (n,); rounded as
    means of neighbors are, since equal means tie."""
    used = np.ones(len(fold), bool) if used is None else used
    means = [quality[used & (fold != k)].mean() for k in range(int(fold.max()) + 1)]
    return np.round(means, 12)[fold]


def filled_in(own: Array, quality: Array, fold: Array, used: Array | None = None) -> Estimates:
    """`Estimates`, where abstaining has `training_mean`."""
    filled = np.where(np.isnan(own), training_mean(quality, fold, used), own)
    return Estimates(own, filled, filled)


def keys(rated: Rated, kernels: Sequence[str], networks: bool) -> list[Key]:
    """The methods, in the table's order."""
    others = ["bleu", "delta_bleu", *([NETWORKS] if networks else []), *rated.scores]
    others += [COMBINED] if len(rated.scores) > 1 else []
    near = [(NEIGHBORS, kernel) for kernel in kernels]
    return [*((name, "") for name in BASELINES), *near, *((name, "") for name in others)]


def why_not(method: str, rated: Rated, split: str) -> str:
    """Why a method cannot be tried in a split: a sentence, or nothing."""
    if method in NEEDS and getattr(rated, NEEDS[method]) is None:
        return f"the ratings have no {NEEDS[method]}"
    new = method == "ridge_system" and split == "systems"
    return "a new system has no ratings yet" if new else ""


def estimates(
    key: Key,
    rated: Rated,
    splits: Sequence[Split],
    options: Mapping[str, Any],
    networks: Networks | None = None,
    threads: int | None = None,
) -> list[Estimates]:
    """A method's estimates in each split; ``options`` are those of its kernel, if it has one."""
    method, kernel = key
    if method == NEIGHBORS:
        told = kernel, rated.texts, rated.texts, rated.quality, TAUS
        # each pair of texts is compared once
        sums = group_sums(*told, [one.fold for one in splits], threads=threads, **options)
        return [neighbors(rated, one, *own) for one, own in zip(splits, sums, strict=True)]
    if method == NETWORKS and networks is not None:
        own = [networks(rated, one) for one in splits]
        return [filled_in(p, rated.quality, s.fold) for p, s in zip(own, splits, strict=True)]
    make: Callable[[Rated, Split], Estimates] = partial(score, method)
    if method in BASELINES:
        make = partial(baseline, method)
    elif method in ("bleu", "delta_bleu"):
        make = partial(against_references, method == "delta_bleu")
    elif method == COMBINED:
        make = combined
    return [make(rated, one) for one in splits]


def baseline(method: str, rated: Rated, split: Split, used: Array | None = None) -> Estimates:
    """A baseline, fitted anew for each fold. Folds are also what ridge regression chooses on."""
    fold, quality = split.fold, rated.quality
    train = np.ones(len(rated), bool) if used is None else used
    seen = list(SEEN[method](rated)) if method in SEEN else rated.texts
    estimate = np.full(len(rated), np.nan)
    for k in range(split.folds):
        rows, asked = train & (fold != k), fold == k
        model = BASELINES[method](rated)
        model.fit([*compress(seen, rows)], quality[rows], groups=fold[rows].tolist())
        estimate[asked] = model.predict([*compress(seen, asked)])
    return filled_in(estimate, quality, fold, used)


def neighbors(rated: Rated, split: Split, counts: Array, totals: Array) -> Estimates:
    """BLEU Neighbors with thresholds chosen in each fold's training part.

    For fold k, each text of the training part (in fold j) is estimated from the folds besides k and
    j; tau and the fewest neighbors are those with the least squared error, where the mean of these
    same folds counts as an estimate that is not made. The first of equally good ones is taken.

    ``counts`` and ``totals`` are number and summed quality of each text's neighbors in each fold,
    over `TAUS`, as from `refless.kernels.group_sums`.
    """
    fold, quality = split.fold, rated.quality
    size, total = np.bincount(fold), np.bincount(fold, quality)
    all_counts, all_totals = counts.sum(axis=1), totals.sum(axis=1)
    estimate = np.full(len(fold), np.nan)
    for k in range(split.folds):
        inner = np.flatnonzero(fold != k)
        own = fold[inner]
        inner_counts = all_counts[inner] - counts[inner, k] - counts[inner, own]
        inner_totals = all_totals[inner] - totals[inner, k] - totals[inner, own]
        inner_size = size.sum() - size[k] - size[own]
        mean = (total.sum() - total[k] - total[own]) / np.maximum(inner_size, 1)
        means = means_of_sums(inner_totals, inner_counts)
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
        near = all_counts[asked, t] - counts[asked, k, t]
        # a fold's sum taken away from the whole leaves rounding, which would break ties
        found = np.round(means_of_sums(all_totals[asked, t] - totals[asked, k, t], near), 12)
        training = int(size.sum() - size[k])
        estimate[asked] = enough_evidence(found, near, training, MIN_NEIGHBORS[a], MAX_SHARE)
    return filled_in(estimate, quality, fold)


def against_references(weighted: bool, rated: Rated, split: Split) -> Estimates:
    """BLEU against the references, or ΔBLEU with the rated texts of the context as well, and a line
    from it to ratings.

    References weigh 1, a rated text what its rating says: -1 at the lowest, 1 at the highest. A
    text's fold is its owner, so no text is scored against its own fold, or itself.
    """
    n, fold = len(rated), split.fold
    others = rated.references or [[] for _ in range(n)]
    extra = [text for own in others for text in own]
    whose = np.repeat(np.arange(n), [len(own) for own in others])
    counted = Texts([tokenize(text) for text in [*rated.texts, *extra]], max_order=2)
    item = rated.context if weighted and rated.context is not None else np.arange(n)
    owner = np.append(fold, np.full(len(extra), NOBODY))
    side = Rows(np.arange(n + len(extra)), owner, np.append(item, item[whose]))
    weight = np.append(2 * rated.quality - 1, np.ones(len(extra)))
    found = counted.statistics(Rows(np.arange(n), fold, item), side, weight, split.folds)
    # without a reference of positive weight there is none
    score = np.where(parts(found)[1][..., 0] > 0, scores(found, "smooth"), np.nan)
    estimate = np.full(n, np.nan)
    for k in range(split.folds):
        training, asked = fold != k, fold == k
        slope, intercept = line(score[training, 1 + k], rated.quality[training])
        estimate[asked] = intercept + slope * score[asked, 0]
    return filled_in(estimate, rated.quality, fold)


def score(name: str, rated: Rated, split: Split) -> Estimates:
    """Texts are ranked by the score as it is (a missing one by its mean over the training part);
    estimates are on a line from it to ratings, fitted on the training part."""
    given, fold = rated.scores[name], split.fold
    ranked, estimate = given.copy(), np.full(len(rated), np.nan)
    for k in range(split.folds):
        train, asked = fold != k, fold == k
        slope, intercept = line(given[train], rated.quality[train])
        estimate[asked] = intercept + slope * given[asked]
        known = given[train][~np.isnan(given[train])]
        ranked[asked & np.isnan(given)] = known.mean() if known.size else 0.0
    return filled_in(estimate, rated.quality, fold)._replace(ranked=ranked)


def combined(rated: Rated, split: Split) -> Estimates:
    """Ridge regression over all scores, standardised; its strength is chosen by leave-one-out
    inside the training part."""
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    every, fold = np.column_stack(list(rated.scores.values())), split.fold
    estimate = np.full(len(rated), np.nan)
    for k in range(split.folds):
        filled = SimpleImputer(keep_empty_features=True)
        model = make_pipeline(filled, StandardScaler(), RidgeCV(np.logspace(-2, 4, 13)))
        model.fit(every[fold != k], rated.quality[fold != k])
        estimate[fold == k] = model.predict(every[fold == k])
    estimate[np.isnan(every).all(axis=1)] = np.nan
    return filled_in(estimate, rated.quality, fold)
