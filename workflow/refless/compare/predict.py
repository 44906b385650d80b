"""Every method's estimates of texts that it has not seen.

Stage: prediction. In: rated texts, a split. Out: for each method the estimate of each text from the
training part of its fold, that is, all other folds. `NAMES` says what each method is.

Whatever is chosen is chosen inside the training part: its folds take turns in being left out there.
So no threshold has seen a rating of the texts that it is used on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

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
    SystemMean,
    SystemRidge,
    line,
)
from refless.models.delta_bleu import Texts, group_references, scores, tokenize
from refless.models.neighbors import enough_evidence, means_of_sums

Array = np.ndarray

TAUS = (
    *(0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.22, 0.26, 0.3, 0.35),
    *(0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98),
)
MIN_NEIGHBORS = (1, 2, 3, 5, 10, 20)
MAX_SHARE = 0.66
TRIVIAL = ("constant", "middle", "length", "words", "lookup", "system_mean", "context_mean")
"""What a method has to beat: they do not look at what a text says."""
NETWORKS, COMBINED = "rnn_qe", "combined"
NAMES = {
    "constant": "mean of all ratings",
    "middle": "middle of the scale",
    "length": "number of characters",
    "words": "number of words",
    "lookup": "same text seen in training",
    "system_mean": "mean of the system",
    "context_mean": "mean of the context",
    "neighbors": "neighbors",
    "ridge": "ridge",
    "ridge_system": "ridge beside the mean of the system",
    "bleu": "BLEU against references",
    "delta_bleu": "ΔBLEU against references and rated texts",
    NETWORKS: "RNN-QE",
    COMBINED: "ridge over all scores",
}
"""Method -> how a reader knows it."""

Key = tuple[str, str]
"""Method, and kernel or an empty string."""


@dataclass(frozen=True)
class Estimates:
    """A method's estimates, float64 (n,) each.

    own : NaN where the method abstains; filled : there with the mean of the training part
    ranked : what the texts of a fold are ranked by
    orders_systems : whether the order of its mean estimates for systems says something of them
    """

    own: Array
    filled: Array
    ranked: Array
    orders_systems: bool = True


Method = Callable[[Split], Estimates]


def label(method: str, kernel: str = "") -> str:
    """How a method is called: ``neighbors (bleu.char)``."""
    name = NAMES.get(method, method)
    return f"{name} ({kernel})" if kernel else name


def filled_in(own: Array, quality: Array, fold: Array, used: Array | None = None) -> Estimates:
    """`Estimates`, where abstaining has the mean of the training part, of texts that are ``used``,
    bool (n,)."""
    used = np.ones(len(fold), bool) if used is None else used
    means = np.array([quality[used & (fold != k)].mean() for k in range(int(fold.max()) + 1)])
    # rounded as means of neighbors are, since equal means tie
    filled = np.where(np.isnan(own), np.round(means, 12)[fold], own)
    return Estimates(own, filled, filled)


def methods(
    rated: Rated,
    splits: Sequence[Split],
    kernels: Sequence[str],
    options: Mapping[str, Mapping[str, Any]],
    networks: Callable[[Rated, Split], Array] | None,
    threads: int | None,
) -> dict[Key, Method]:
    """What makes the estimates of each method, in the table's order; ``splits`` are all that will
    be asked for, and ``options`` those of each kernel."""

    @lru_cache(maxsize=1)
    def sums(kernel: str) -> dict[tuple[str, int], tuple[Array, Array]]:
        told = kernel, rated.texts, rated.texts, rated.quality, TAUS, [s.fold for s in splits]
        # each pair of texts is compared once
        made = group_sums(*told, threads=threads, **options.get(kernel, {}))
        return {(s.name, s.repeat): one for s, one in zip(splits, made, strict=True)}

    def near(kernel: str, split: Split) -> Estimates:
        return neighbors(rated, split, sums(kernel)[split.name, split.repeat])

    def trained(split: Split) -> Estimates:
        assert networks is not None
        return filled_in(networks(rated, split), rated.quality, split.fold)

    return {
        **{(name, ""): partial(baseline, name, rated) for name in baselines(rated)},
        **{("neighbors", kernel): partial(near, kernel) for kernel in kernels},
        ("bleu", ""): partial(against_references, rated, weighted=False),
        ("delta_bleu", ""): partial(against_references, rated, weighted=True),
        **({(NETWORKS, ""): trained} if networks is not None else {}),
        **{(name, ""): partial(score, name, rated) for name in rated.scores},
        **({(COMBINED, ""): partial(combined, rated)} if len(rated.scores) > 1 else {}),
    }


NEEDS = {
    "system_mean": "systems",
    "ridge_system": "systems",
    "context_mean": "context",
    "bleu": "references",
    NETWORKS: "answers",
}
"""Method -> what of `Rated` must be there."""


def why_not(method: str, rated: Rated, split: str) -> str:
    """Why a method cannot be tried in a split: a sentence, or nothing."""
    if method in NEEDS and getattr(rated, NEEDS[method]) is None:
        return f"the ratings have no {NEEDS[method]}"
    new = method == "ridge_system" and split == "systems"
    return "a new system has no ratings yet" if new else ""


# ---- without the text, and ridge regression ------------------------------------------------------


def baselines(rated: Rated) -> dict[str, Callable[[], Baseline]]:
    """Method -> what makes it."""
    return {
        "constant": Constant,
        "middle": lambda: Constant(0.5),
        "length": Length,
        "words": lambda: Length("tokens"),
        "lookup": lambda: Lookup(wording),
        "system_mean": SystemMean,
        "context_mean": SystemMean,
        "ridge": lambda: RidgeTfidf(rated.ngrams),
        "ridge_system": lambda: SystemRidge(rated.ngrams),
    }


def baseline(method: str, rated: Rated, split: Split, used: Array | None = None) -> Estimates:
    """A baseline, fitted anew for each fold. Folds are also what ridge regression chooses on."""
    fold, quality, make = split.fold, rated.quality, baselines(rated)[method]
    train = np.ones(len(rated), bool) if used is None else used
    texts = np.array(rated.slots if method == "lookup" and rated.slots else rated.texts, object)
    number = rated.context if method == "context_mean" else rated.system
    # a letter before the number: these are names, whose signs the model would look at
    names = None if number is None else np.array([f"s{one}" for one in number], object)
    estimate = np.full(len(rated), np.nan)
    for k in range(split.folds):
        rows, asked = train & (fold != k), fold == k
        own, new = (None if names is None else names[part].tolist() for part in (rows, asked))
        groups = fold[rows].tolist()
        model = make().fit(texts[rows].tolist(), quality[rows], systems=own, groups=groups)
        estimate[asked] = model.predict(texts[asked].tolist(), systems=new)
    found = filled_in(estimate, quality, fold, used)
    if method == "context_mean":  # it leaves out a text's own system, and falls as that rises
        return Estimates(found.own, found.filled, found.ranked, orders_systems=False)
    return found


# ---- neighbors -----------------------------------------------------------------------------------


def neighbors(rated: Rated, split: Split, sums: tuple[Array, Array]) -> Estimates:
    """BLEU Neighbors with thresholds chosen in each fold's training part.

    For fold k, each text of the training part (in fold j) is estimated from the folds besides k and
    j; tau and the fewest neighbors are those with the least squared error, where the mean of these
    same folds counts as an estimate that is not made. The first of equally good ones is taken.

    ``sums`` are number and summed quality of each text's neighbors in each fold, over `TAUS`, as
    from `refless.kernels.group_sums`.
    """
    (counts, totals), fold, quality = sums, split.fold, rated.quality
    folds = split.folds
    size, total = np.bincount(fold), np.bincount(fold, quality)
    all_counts, all_totals = counts.sum(axis=1), totals.sum(axis=1)
    estimate = np.full(len(fold), np.nan)
    for k in range(folds):
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


# ---- against references --------------------------------------------------------------------------


def against_references(rated: Rated, split: Split, weighted: bool) -> Estimates:
    """BLEU against the references, or ΔBLEU with the rated texts of the context as well, and a line
    from it to ratings.

    References weigh 1, a rated text what its rating says: -1 at the lowest, 1 at the highest. A
    text's fold is its owner, so no text is scored against its own fold.
    """
    n, fold = len(rated), split.fold
    others = rated.references or [[] for _ in range(n)]
    extra = [text for own in others for text in own]
    whose = np.repeat(np.arange(n), [len(own) for own in others])
    counted = Texts([tokenize(text) for text in [*rated.texts, *extra]], max_order=2)
    number = n + np.arange(len(extra))
    nobody, heavy = np.full(len(extra), -1), np.ones(len(extra))
    if weighted and rated.context is not None:
        item = rated.context
        group, text = np.append(item, item[whose]), np.append(np.arange(n), number)
        weight = np.append(2 * rated.quality - 1, heavy)
        owner = np.append(fold, nobody)
        side = group_references(group, int(item.max()) + 1, text, owner, weight)
    else:
        item = np.arange(n)
        side = group_references(whose, n, number, nobody, heavy)
    found = counted.statistics(np.arange(n), fold, item, side, split.folds)
    # without a reference of positive weight there is none
    score = np.where(found.totals[..., 0] > 0, scores(found, "smooth"), np.nan)
    estimate = np.full(n, np.nan)
    for k in range(split.folds):
        training, asked = fold != k, fold == k
        slope, intercept = line(score[training, 1 + k], rated.quality[training])
        estimate[asked] = intercept + slope * score[asked, 0]
    return filled_in(estimate, rated.quality, fold)


# ---- somebody else's scores ----------------------------------------------------------------------


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
    found = filled_in(estimate, rated.quality, fold)
    return Estimates(found.own, found.filled, ranked)


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
