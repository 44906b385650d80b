"""Every method's estimates of texts that it has not seen, each from the training part of its fold,
that is, all other folds. Whatever is chosen is chosen inside that part."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from refless.data.text_ids import fold_key
from refless.evaluation import COMBINED, NEIGHBORS, NETWORKS, RIDGE, SYSTEM_RIDGE
from refless.evaluation.read import FOLDS, CvSplit, Rated, all_splits
from refless.kernels import group_sums, unread
from refless.machine import available_threads
from refless.models import baselines
from refless.models.additive import TEXT_PENALTIES, Additive, RatedText
from refless.models.delta_bleu import NOBODY, IndexedTexts, TextRows, parts, scores, tokenize
from refless.models.neighbor_means import apply_thresholds, means_of_sums

if TYPE_CHECKING:
    from refless.models.rnn_qe.saved import QEModel

Array = np.ndarray

KERNELS = ("bleu.char", "bleu.word", "rouge_l.stem")
TAUS = (
    *(0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.18, 0.22, 0.26, 0.3, 0.35),
    *(0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98),
)
MIN_NEIGHBORS = (1, 2, 3, 5, 10, 20)
MAX_SHARE = 0.66

TRIVIAL = {
    "constant": "mean of all ratings",
    "middle": "middle of the scale",
    "length": "number of characters",
    "words": "number of words",
    "lookup": "same text seen in training",
    "human": "written by a person",
    "system_mean": "mean of the system",
    "context_mean": "mean of the context",
    "additive": "system, context and length",
}
"""What a method has to beat, and how a reader knows it: they do not look at what a text says."""
NAMES = TRIVIAL | {
    SYSTEM_RIDGE: "ridge beside the mean of the system",
    "additive_ridge": "ridge beside system, context and length",
    "bleu": "BLEU against references",
    "delta_bleu": "ΔBLEU against references and rated texts",
    NETWORKS: "RNN-QE",
    COMBINED: "ridge over all scores",
}
NEEDS = {
    "system_mean": "system",
    "context_mean": "context",
    SYSTEM_RIDGE: "system",
    "bleu": "references",
    NETWORKS: "prompts",
}
"""Method -> what of `Rated` must be there."""
MISSING = {"prompts": "context or mr"}
"""How a reader knows it, where that is another word."""


class Method(Protocol):
    """Something that estimates texts. ``repeats`` is on how many repeats of a split, at most.
    ``learned``: other training texts would have ranked texts otherwise, so intervals are widened;
    not so of a given score, and of RNN-QE, whose estimates are held fixed."""

    @property
    def repeats(self) -> int | None: ...

    @property
    def learned(self) -> bool: ...

    def estimate(self, rated: Rated, splits: Sequence[CvSplit]) -> list[Array]:
        """Estimates under each split, float64 (n,), NaN where the method abstains."""
        ...


@dataclass(frozen=True)
class ComparisonSettings:
    """What decides a comparison, besides the texts."""

    kernels: Mapping[str, Mapping[str, Any]]  # of neighbors, each with its options
    draws: int = 2000  # of the bootstrap
    seed: int = 0  # of draws and folds
    repeats: int = 5  # of the folds, at most: see `refless.evaluation.read.all_splits`
    # method and kernel, or an empty string -> why it is not tried
    left_out: Mapping[tuple[str, str], str] = field(default_factory=dict)
    threads: int | None = None
    # what makes RNN-QE's estimates, of the first repeat; None: not tried
    networks: Callable[[Rated, CvSplit], Array] | None = None
    unrated: int | None = (
        None  # texts without ratings whose mean predictions would help to estimate
    )


def label(method: str, kernel: str = "") -> str:
    """How a method is called: ``neighbors (bleu.char)``."""
    name = NAMES.get(method, method)
    return f"{name} ({kernel})" if kernel else name


def column_name(method: str, kernel: str = "") -> str:
    """How a method is called in files: ``neighbors:bleu.char``."""
    return ":".join(filter(None, (method, kernel)))


def why_not(
    method: str, kernel: str, rated: Rated, settings: ComparisonSettings, split: str
) -> str:
    """Why a method is not tried in a split: a sentence, or nothing."""
    if reason := settings.left_out.get((method, kernel)):
        return reason
    if method == NEIGHBORS:
        lost, sentence = unread(kernel, rated.texts)
        return sentence if 2 * lost > len(rated) else ""
    if method in NEEDS and getattr(rated, NEEDS[method]) is None:
        return f"the ratings have no {MISSING.get(NEEDS[method], NEEDS[method])}"
    new_system = method == SYSTEM_RIDGE and split == "systems"
    return "a new system has no ratings yet" if new_system else ""


def methods(rated: Rated, settings: ComparisonSettings) -> dict[tuple[str, str], Method]:
    """Every method, by its name and kernel, in the table's order."""
    texts, ngrams = rated.texts, baselines.Ngrams(rated.texts)
    nobody = np.full(len(rated), -1)
    systems = nobody if rated.system is None else rated.system
    contexts = nobody if rated.context is None else rated.context
    whole = list(map(RatedText, texts, systems.tolist(), contexts.tolist()))
    pairs = [] if rated.system is None else list(zip(rated.system, texts, strict=True))
    people: dict[tuple[str, str], Method] = {}
    if rated.human is not None:
        people["human", ""] = Fitted(baselines.Lookup(), rated.human)
    every: dict[tuple[str, str], Method] = {
        ("constant", ""): Fitted(baselines.Constant(), texts),
        ("middle", ""): Fitted(baselines.Constant(0.5), texts),
        ("length", ""): Fitted(baselines.Line(), [len(text) for text in texts]),
        ("words", ""): Fitted(baselines.Line(), [len(text.split()) for text in texts]),
        ("lookup", ""): Fitted(
            baselines.Lookup(), [fold_key(text) for text in rated.delexicalised or texts]
        ),
        **people,
        ("system_mean", ""): Fitted(baselines.Lookup(), rated.system),
        ("context_mean", ""): Fitted(baselines.Lookup(), rated.context),
        ("additive", ""): Fitted(Additive(), whole),
        (RIDGE, ""): Fitted(baselines.RidgeTfidf(ngrams), texts),
        (SYSTEM_RIDGE, ""): Fitted(baselines.RidgeBeside(baselines.Lookup(), ngrams), pairs),
        ("additive_ridge", ""): Fitted(
            baselines.RidgeBeside(Additive(), ngrams, TEXT_PENALTIES),
            list(zip(whole, texts, strict=True)),
        ),
    }
    for kernel, options in settings.kernels.items():
        every[NEIGHBORS, kernel] = Neighbors(kernel, options, settings.threads)
    words = WeightedReferences.words_of(rated)
    for name in ("bleu", "delta_bleu"):
        every[name, ""] = WeightedReferences(words, rated_texts=name == "delta_bleu")
    if settings.networks is not None:
        every[NETWORKS, ""] = Networks(settings.networks)
    for name, score in rated.scores.items():
        every[name, ""] = Fitted(baselines.Line(), score, learned=False)
    if len(rated.scores) > 1:
        features = np.column_stack([*rated.scores.values()])
        every[COMBINED, ""] = Fitted(baselines.RidgeScores(), features)
    return every


@dataclass(frozen=True)
class Fitted:
    """A model of what ``X`` has of each text, (n,), fitted anew for each fold."""

    model: Any
    X: Any
    learned: bool = True
    repeats: int | None = None

    def estimate(self, rated: Rated, splits: Sequence[CvSplit]) -> list[Array]:
        return [fit_folds(self.model, self.X, rated, split) for split in splits]


def fit_folds(
    model: Any, X: Any, rated: Rated, split: CvSplit, training: Array | None = None
) -> Array:
    """Estimates of each fold by a model that was fitted to the texts of the others, or to those of
    them that are ``training``, bool (n,). Folds are also what a penalty is chosen on."""
    fold, estimates = split.fold, np.full(len(rated), np.nan)
    for k in range(split.folds):
        rows, candidates = fold != k if training is None else training & (fold != k), fold == k
        model.fit([*compress(X, rows)], rated.quality[rows], groups=fold[rows].tolist())
        estimates[candidates] = model.predict([*compress(X, candidates)])
    return estimates


@dataclass(frozen=True)
class Neighbors:
    """BLEU Neighbors; each pair of texts is compared once."""

    kernel: str
    options: Mapping[str, Any]
    threads: int | None = None
    learned: bool = True
    repeats: int | None = None

    def estimate(self, rated: Rated, splits: Sequence[CvSplit]) -> list[Array]:
        sums = group_sums(
            self.kernel,
            rated.texts,
            rated.texts,
            rated.quality,
            TAUS,
            [split.fold for split in splits],
            threads=self.threads,
            **self.options,
        )
        return [
            neighbor_estimates(rated, split, counts, totals)
            for split, (counts, totals) in zip(splits, sums, strict=True)
        ]


def neighbor_estimates(rated: Rated, split: CvSplit, counts: Array, totals: Array) -> Array:
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
    estimates = np.full(len(fold), np.nan)
    for k in range(split.folds):
        inner = np.flatnonzero(fold != k)
        inner_fold = fold[inner]
        inner_counts = all_counts[inner] - counts[inner, k] - counts[inner, inner_fold]
        inner_totals = all_totals[inner] - totals[inner, k] - totals[inner, inner_fold]
        inner_size = size.sum() - size[k] - size[inner_fold]
        mean = (total.sum() - total[k] - total[inner_fold]) / np.maximum(inner_size, 1)
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
        candidates = np.flatnonzero(fold == k)
        near = all_counts[candidates, t] - counts[candidates, k, t]
        # a fold's sum taken away from the whole leaves rounding, which would break ties
        mean_ratings = np.round(
            means_of_sums(all_totals[candidates, t] - totals[candidates, k, t], near), 12
        )
        training = int(size.sum() - size[k])
        estimates[candidates] = apply_thresholds(
            mean_ratings, near, training, MIN_NEIGHBORS[a], MAX_SHARE
        )
    return estimates


@dataclass(frozen=True)
class WeightedReferences:
    """BLEU against the references, or ΔBLEU with the rated texts of the context as well, and a line
    from it to ratings.

    References weigh 1, a rated text what its rating says: -1 at the lowest, 1 at the highest. A
    text's fold is its owner, so no text is scored against its own fold, or itself.
    """

    words: IndexedTexts  # of `words_of`
    rated_texts: bool
    learned: bool = True
    repeats: int | None = None

    @staticmethod
    def words_of(rated: Rated) -> IndexedTexts:
        """Tokens of all texts and then of all references."""
        references = [text for texts in rated.references or [] for text in texts]
        return IndexedTexts(list(map(tokenize, [*rated.texts, *references])), max_order=2)

    def estimate(self, rated: Rated, splits: Sequence[CvSplit]) -> list[Array]:
        return [self._estimate(rated, split) for split in splits]

    def _estimate(self, rated: Rated, split: CvSplit) -> Array:
        n, references = len(rated), rated.references or []
        of_text = np.repeat(np.arange(n), [len(texts) for texts in references] or 0)
        context = rated.context if self.rated_texts else None
        item = np.arange(n) if context is None else context
        weight = np.append((2 * rated.quality - 1).round(12), np.ones(len(of_text)))
        owner = np.append(split.fold, np.full(len(of_text), NOBODY))
        rows = TextRows(np.arange(len(weight)), owner, np.append(item, item[of_text]))
        candidates = TextRows(np.arange(n), split.fold, item)
        statistics = self.words.statistics(candidates, rows, weight, split.folds)
        # without a reference of positive weight there is none
        positive = parts(statistics)[1][..., 0] > 0
        score = np.where(positive, scores(statistics, "smooth"), np.nan)
        estimates = np.full(n, np.nan)
        for k in range(split.folds):
            training, rest = split.fold != k, split.fold == k
            line = baselines.Line().fit(score[training, 1 + k], rated.quality[training])
            estimates[rest] = line.predict(score[rest, 0])
        return estimates


@dataclass(frozen=True)
class Networks:
    """RNN-QE. Its training is too long to be repeated, so its estimates are held fixed."""

    predict: Callable[[Rated, CvSplit], Array]
    learned: bool = False
    repeats: int = 1

    def estimate(self, rated: Rated, splits: Sequence[CvSplit]) -> list[Array]:
        return [self.predict(rated, split) for split in splits]


def by_networks(rated: Rated, split: CvSplit, seed: int, threads: int | None = None) -> Array:
    """RNN-QE's estimates in [0, 1], float64 (n,), by networks trained anew for each fold: nothing
    is chosen on the texts that are estimated. Needs torch."""
    from refless.models.rnn_qe.cross_fit import cross_fit

    return cross_fit(
        rated.texts,
        rated.prompts,
        rated.quality,
        split.fold,
        seed,
        threads=available_threads(threads),
    )[1]


def trained_networks(
    rated: Rated, seed: int, threads: int | None = None, errors: bool = False
) -> "QEModel":
    """Networks to rate other texts, as by `refless.models.rnn_qe.cross_fit`, tested on new
    contexts, or where these make no `FOLDS` folds, on new texts. Needs torch."""
    from refless.models.rnn_qe.cross_fit import cross_fit

    splits = all_splits(rated, seed)
    (split,) = splits.get("contexts", splits["texts"])
    if split.folds < FOLDS:
        (split,) = splits["texts"]
    model, _ = cross_fit(
        rated.texts,
        rated.prompts,
        rated.quality,
        split.fold,
        seed,
        errors,
        threads or 1,
        rated.scale,
    )
    return replace(model, metadata={**model.metadata, "tested": split.name})
