"""Every method's estimates of texts that it has not seen.

Stage: prediction. In: rated texts, a split. Out: for each method the estimate of each text from the
training part of its fold, that is, all other folds. Whatever is chosen is chosen inside that part.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from refless.compare.read import Rated
from refless.compare.splits import Split
from refless.data.wording import wording
from refless.kernels import group_sums
from refless.kernels._blocks import available_threads
from refless.models import baselines
from refless.models.delta_bleu import NOBODY, Rows, parts, scores
from refless.models.neighbor_means import enough_evidence, means_of_sums
from refless.models.rnn_qe.meaning import TEXT, kind_of

if TYPE_CHECKING:
    from refless.models.rnn_qe.own import How

Array = np.ndarray

TAUS = (
    *(0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.22, 0.26, 0.3, 0.35),
    *(0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98),
)
MIN_NEIGHBORS = (1, 2, 3, 5, 10, 20)
MAX_SHARE = 0.66
WORDS = 50
"""The last words of a context that RNN-QE reads; the authors' code reads as many of a text."""


class Method(NamedTuple):
    """A method that is no score of somebody else's."""

    name: str  # how a reader knows it
    model: Callable[[Rated], Any] | None = None
    seen: Callable[[Any], Iterable[Any]] = attrgetter("texts")  # what the model looks at
    needs: str = ""  # what of `Rated` must be there


NEIGHBORS, NETWORKS, COMBINED = "neighbors", "rnn_qe", "combined"
TRIVIAL = {
    "constant": Method("mean of all ratings", lambda rated: baselines.Constant()),
    "middle": Method("middle of the scale", lambda rated: baselines.Constant(0.5)),
    "length": Method("number of characters", lambda rated: baselines.Length()),
    "words": Method(
        "number of words",
        lambda rated: baselines.Length(),
        lambda rated: map(str.split, rated.texts),
    ),
    "lookup": Method(
        "same text seen in training",
        lambda rated: baselines.Lookup(),
        lambda rated: map(wording, rated.slots or rated.texts),
    ),
    "system_mean": Method(
        "mean of the system", lambda rated: baselines.Lookup(), attrgetter("system"), "system"
    ),
    "context_mean": Method(
        "mean of the context", lambda rated: baselines.Lookup(), attrgetter("context"), "context"
    ),
}
"""What a method has to beat: they do not look at what a text says."""
METHODS = TRIVIAL | {
    "ridge": Method("ridge", lambda rated: baselines.RidgeTfidf(rated.ngrams)),
    "ridge_system": Method(
        "ridge beside the mean of the system",
        lambda rated: baselines.SystemRidge(rated.ngrams),
        lambda rated: zip(rated.system, rated.texts, strict=True),
        "system",
    ),
    "bleu": Method("BLEU against references", needs="references"),
    "delta_bleu": Method("ΔBLEU against references and rated texts"),
    NETWORKS: Method("RNN-QE", needs="answers"),
    COMBINED: Method("ridge over all scores"),
}

Key = tuple[str, str]
"""Method, and kernel or an empty string."""
Networks = Callable[[Rated, Split], Array]
"""What makes RNN-QE's estimates."""


class Estimates(NamedTuple):
    """A method's estimates, float64 (n,) each."""

    own: Array  # NaN where the method abstains
    filled: Array  # there with the mean of the training part
    ranked: Array  # what the texts of a fold are ranked by


def label(method: str, kernel: str = "") -> str:
    """How a method is called: ``neighbors (bleu.char)``."""
    name = METHODS.get(method, Method(method)).name
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
    models = [name for name, method in METHODS.items() if method.model]
    others = ["bleu", "delta_bleu", *([NETWORKS] if networks else []), *rated.scores]
    others += [COMBINED] if len(rated.scores) > 1 else []
    near = [(NEIGHBORS, kernel) for kernel in kernels]
    return [*((name, "") for name in models), *near, *((name, "") for name in others)]


def why_not(method: str, rated: Rated, split: str) -> str:
    """Why a method cannot be tried in a split: a sentence, or nothing."""
    needs = METHODS.get(method, Method(method)).needs
    if needs and getattr(rated, needs) is None:
        return f"the ratings have no {needs}"
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
        return [filled_in(networks(rated, one), rated.quality, one.fold) for one in splits]
    others = {"bleu": against_references, "delta_bleu": against_references, COMBINED: combined}
    make = others.get(method, baseline if method in METHODS else score)
    return [make(method, rated, one) for one in splits]


def baseline(method: str, rated: Rated, split: Split, used: Array | None = None) -> Estimates:
    """A baseline, fitted anew for each fold. Folds are also what ridge regression chooses on."""
    fold, quality, made = split.fold, rated.quality, METHODS[method].model
    assert made is not None
    train = np.ones(len(rated), bool) if used is None else used
    seen = list(METHODS[method].seen(rated))
    estimate = np.full(len(rated), np.nan)
    for k in range(split.folds):
        rows, asked = train & (fold != k), fold == k
        model = made(rated)
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


def against_references(method: str, rated: Rated, split: Split) -> Estimates:
    """BLEU against the references, or ΔBLEU with the rated texts of the context as well, and a line
    from it to ratings.

    References weigh 1, a rated text what its rating says: -1 at the lowest, 1 at the highest. A
    text's fold is its owner, so no text is scored against its own fold, or itself.
    """
    n, fold = len(rated), split.fold
    counted, whose = rated.counted
    item = rated.context if method == "delta_bleu" else None
    item = np.arange(n) if item is None else item
    owner = np.append(fold, np.full(len(whose), NOBODY))
    side = Rows(np.arange(n + len(whose)), owner, np.append(item, item[whose]))
    weight = np.append(2 * rated.quality - 1, np.ones(len(whose)))
    found = counted.statistics(Rows(np.arange(n), fold, item), side, weight, split.folds)
    # without a reference of positive weight there is none
    score = np.where(parts(found)[1][..., 0] > 0, scores(found, "smooth"), np.nan)
    estimate = np.full(n, np.nan)
    for k in range(split.folds):
        training, asked = fold != k, fold == k
        slope, intercept = baselines.line(score[training, 1 + k], rated.quality[training])
        estimate[asked] = intercept + slope * score[asked, 0]
    return filled_in(estimate, rated.quality, fold)


def score(name: str, rated: Rated, split: Split) -> Estimates:
    """Texts are ranked by the score as it is (a missing one by its mean over the training part);
    estimates are on a line from it to ratings, fitted on the training part."""
    given, fold = rated.scores[name], split.fold
    ranked, estimate = given.copy(), np.full(len(rated), np.nan)
    for k in range(split.folds):
        train, asked = fold != k, fold == k
        slope, intercept = baselines.line(given[train], rated.quality[train])
        estimate[asked] = intercept + slope * given[asked]
        known = given[train][~np.isnan(given[train])]
        ranked[asked & np.isnan(given)] = known.mean() if known.size else 0.0
    return filled_in(estimate, rated.quality, fold)._replace(ranked=ranked)


def combined(method: str, rated: Rated, split: Split) -> Estimates:
    """Ridge regression over all scores, standardised; its strength is chosen by leave-one-out
    inside the training part."""
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import PredefinedSplit, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    every = np.column_stack([*rated.scores.values()])
    filled = SimpleImputer(keep_empty_features=True)
    model = make_pipeline(filled, StandardScaler(), RidgeCV(np.logspace(-2, 4, 13)))
    estimate = cross_val_predict(model, every, rated.quality, cv=PredefinedSplit(split.fold))
    estimate[np.isnan(every).all(axis=1)] = np.nan
    return filled_in(estimate, rated.quality, split.fold)


def by_networks(rated: Rated, split: Split, how: "How", threads: int | None = None) -> Array:
    """RNN-QE's estimates in [0, 1], float64 (n,), by networks trained anew for each fold, as by
    ``refless train-qe``: the next fold chooses the pass that predicts, and the others are trained
    on, so nothing is chosen on the texts that are estimated. Needs torch."""
    from refless.models.rnn_qe import data, own
    from refless.models.rnn_qe.scale import Scale

    answers, scale = rated.answers or [], Scale(0.0, 1.0)
    kind = kind_of(answers)
    if kind == TEXT:
        answers = [" ".join(answer.split()[-WORDS:]) for answer in answers]
    quality = scale.stretched(rated.quality)
    table = data.read(answers, rated.texts, kind).assign(median_quality=quality)
    found, *_ = own.cross_validated(table, split.fold, how, available_threads(threads))
    return scale.given_back(found)
