"""Every method's estimates of texts that it has not seen, each from the training part of its fold,
that is, all other folds. Whatever is chosen is chosen inside that part."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from refless.data.wording import wording
from refless.evaluation.read import FOLDS, Rated, Split, all_splits
from refless.kernels import group_sums, unread
from refless.kernels._blocks import available_threads
from refless.models import baselines
from refless.models.delta_bleu import NOBODY, Rows, Texts, parts, scores, tokenize
from refless.models.neighbor_means import enough_evidence, means_of_sums

if TYPE_CHECKING:
    from refless.models.rnn_qe.saved import Model

Array = np.ndarray

KERNELS = ("bleu.char", "bleu.word", "rouge_l.stem")
TAUS = (
    *(0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.22, 0.26, 0.3, 0.35),
    *(0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98),
)
MIN_NEIGHBORS = (1, 2, 3, 5, 10, 20)
MAX_SHARE = 0.66

NEIGHBORS, NETWORKS, COMBINED = "neighbors", "rnn_qe", "combined"
TRIVIAL = {
    "constant": "mean of all ratings",
    "middle": "middle of the scale",
    "length": "number of characters",
    "words": "number of words",
    "lookup": "same text seen in training",
    "system_mean": "mean of the system",
    "context_mean": "mean of the context",
}
"""What a method has to beat, and how a reader knows it: they do not look at what a text says."""
NAMES = TRIVIAL | {
    "ridge_system": "ridge beside the mean of the system",
    "bleu": "BLEU against references",
    "delta_bleu": "ΔBLEU against references and rated texts",
    NETWORKS: "RNN-QE",
    COMBINED: "ridge over all scores",
}
NEEDS = {
    "system_mean": "system",
    "context_mean": "context",
    "ridge_system": "system",
    "bleu": "references",
    NETWORKS: "answers",
}
"""Method -> what of `Rated` must be there."""

Method = Callable[[Sequence[Split]], Iterable[Array]]
"""From splits to estimates in each, float64 (n,), NaN where the method abstains."""


@dataclass(frozen=True)
class Settings:
    """What decides a comparison, besides the texts."""

    kernels: Mapping[str, Mapping[str, Any]]  # of neighbors, each with its options
    draws: int = 2000  # of the bootstrap
    seed: int = 0  # of draws and folds
    repeats: int = 5  # of the folds, at most: see `refless.evaluation.read.all_splits`
    # method and kernel, or an empty string -> why it is not tried
    left_out: Mapping[tuple[str, str], str] = field(default_factory=dict)
    threads: int | None = None
    # what makes RNN-QE's estimates, of the first repeat; None: not tried
    networks: Callable[[Rated, Split], Array] | None = None


def label(method: str, kernel: str = "") -> str:
    """How a method is called: ``neighbors (bleu.char)``."""
    name = NAMES.get(method, method)
    return f"{name} ({kernel})" if kernel else name


def why_not(method: str, kernel: str, rated: Rated, settings: Settings, split: str) -> str:
    """Why a method is not tried in a split: a sentence, or nothing."""
    if reason := settings.left_out.get((method, kernel)):
        return reason
    if method == NEIGHBORS:
        lost, said = unread(kernel, rated.texts)
        return said if 2 * lost > len(rated) else ""
    if method in NEEDS and getattr(rated, NEEDS[method]) is None:
        return f"the ratings have no {NEEDS[method]}"
    new = method == "ridge_system" and split == "systems"
    return "a new system has no ratings yet" if new else ""


def methods(rated: Rated, settings: Settings) -> dict[tuple[str, str], Method]:
    """Every method, by its name and kernel, in the table's order."""
    texts, ngrams = rated.texts, baselines.Ngrams(rated.texts)
    pairs = [] if rated.system is None else list(zip(rated.system, texts, strict=True))
    models = {
        "constant": (baselines.Constant(), texts),
        "middle": (baselines.Constant(0.5), texts),
        "length": (baselines.Line(), [len(text) for text in texts]),
        "words": (baselines.Line(), [len(text.split()) for text in texts]),
        "lookup": (baselines.Lookup(), [wording(text) for text in rated.slots or texts]),
        "system_mean": (baselines.Lookup(), rated.system),
        "context_mean": (baselines.Lookup(), rated.context),
        "ridge": (baselines.RidgeTfidf(ngrams), texts),
        "ridge_system": (baselines.SystemRidge(ngrams), pairs),
    }
    found: dict[tuple[str, str], Method] = {}
    for name, (model, seen) in models.items():
        found[name, ""] = partial(map, partial(fitted, model, seen, rated))
    for kernel in settings.kernels:
        found[NEIGHBORS, kernel] = partial(by_neighbors, kernel, settings, rated)
    known = [*texts, *(text for own in rated.references or [] for text in own)]
    words = Texts(list(map(tokenize, known)), max_order=2)
    for name in ("bleu", "delta_bleu"):
        found[name, ""] = partial(map, partial(against_references, name, words, rated))
    if settings.networks is not None:
        found[NETWORKS, ""] = partial(map, partial(settings.networks, rated))
    for name, score in rated.scores.items():
        found[name, ""] = partial(map, partial(fitted, baselines.Line(), score, rated))
    if len(rated.scores) > 1:
        every = np.column_stack([*rated.scores.values()])
        found[COMBINED, ""] = partial(map, partial(fitted, baselines.RidgeScores(), every, rated))
    return found


def fitted(model: Any, seen: Any, rated: Rated, split: Split, used: Array | None = None) -> Array:
    """A model of what is ``seen`` of each text, fitted anew for each fold to the texts that are
    ``used``, bool (n,). Folds are also what ridge regression chooses on."""
    fold, estimate = split.fold, np.full(len(rated), np.nan)
    for k in range(split.folds):
        rows, asked = fold != k if used is None else used & (fold != k), fold == k
        model.fit([*compress(seen, rows)], rated.quality[rows], groups=fold[rows].tolist())
        estimate[asked] = model.predict([*compress(seen, asked)])
    return estimate


def by_neighbors(
    kernel: str, settings: Settings, rated: Rated, splits: Sequence[Split]
) -> list[Array]:
    """BLEU Neighbors; each pair of texts is compared once."""
    told = kernel, rated.texts, rated.texts, rated.quality, TAUS, [one.fold for one in splits]
    sums = group_sums(*told, threads=settings.threads, **settings.kernels[kernel])
    return [neighbors(rated, one, *own) for one, own in zip(splits, sums, strict=True)]


def neighbors(rated: Rated, split: Split, counts: Array, totals: Array) -> Array:
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
    return estimate


def against_references(method: str, words: Texts, rated: Rated, split: Split) -> Array:
    """BLEU against the references, or ΔBLEU with the rated texts of the context as well, and a line
    from it to ratings; ``words`` are of all texts and then of all references.

    References weigh 1, a rated text what its rating says: -1 at the lowest, 1 at the highest. A
    text's fold is its owner, so no text is scored against its own fold, or itself.
    """
    n, others = len(rated), rated.references or []
    whose = np.repeat(np.arange(len(others)), [len(own) for own in others])
    context = rated.context if method == "delta_bleu" else None
    item = np.arange(n) if context is None else context
    weight = np.append(2 * rated.quality - 1, np.ones(len(whose)))
    owner = np.append(split.fold, np.full(len(whose), NOBODY))
    side = Rows(np.arange(len(weight)), owner, np.append(item, item[whose]))
    asking = Rows(np.arange(n), split.fold, item)
    found = words.statistics(asking, side, weight, split.folds)
    # without a reference of positive weight there is none
    score = np.where(parts(found)[1][..., 0] > 0, scores(found, "smooth"), np.nan)
    estimate = np.full(n, np.nan)
    for k in range(split.folds):
        training, asked = split.fold != k, split.fold == k
        line = baselines.Line().fit(score[training, 1 + k], rated.quality[training])
        estimate[asked] = line.predict(score[asked, 0])
    return estimate


def by_networks(rated: Rated, split: Split, seed: int, threads: int | None = None) -> Array:
    """RNN-QE's estimates in [0, 1], float64 (n,), by networks trained anew for each fold: nothing
    is chosen on the texts that are estimated. Needs torch."""
    from refless.models.rnn_qe.own import cross_fit

    told = rated.texts, rated.answers, rated.quality, split.fold
    return cross_fit(*told, seed, threads=available_threads(threads))[1]


def trained_networks(
    rated: Rated, seed: int, threads: int | None = None, errors: bool = False
) -> "Model":
    """Networks to rate other texts, as by `refless.models.rnn_qe.own.cross_fit`, tested on new
    contexts, or where these make no `FOLDS` folds, on new texts. Needs torch."""
    from refless.models.rnn_qe.own import cross_fit

    splits = all_splits(rated, seed)
    (split,) = splits.get("contexts", splits["texts"])
    if split.folds < FOLDS:
        (split,) = splits["texts"]
    told = rated.texts, rated.answers, rated.quality, split.fold
    model, _ = cross_fit(*told, seed, errors, threads or 1, rated.scale)
    return replace(model, about={**model.about, "tested": split.name})
