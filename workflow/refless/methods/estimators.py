"""Estimators of the quality of texts: ``fit(table, quality)`` and ``predict(table)``.

Tables are those of `refless.methods.table`; quality is float64 (texts,), in any unit; estimates are
float64 (texts,) in the same unit, NaN where an estimator abstains. Whatever an estimator chooses,
such as a penalty, it chooses among the texts that it is fitted to.

`cross_fit` gives what fitting to all other folds and predicting a fold would give, for all folds of
several splits. An estimator that has a faster way to the same numbers has a method of that name.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import pandas as pd

from refless.data.text_ids import label_ids
from refless.kernels import group_sums
from refless.methods.table import (
    CONTEXT_GROUP,
    CONTEXT_KEY,
    TEXT_KEY,
    column,
    key_numbers,
    prompt_kind,
    references_of,
    score_names,
    with_keys,
)
from refless.models.additive import RatedText
from refless.models.baselines import Line
from refless.models.delta_bleu import NOBODY, IndexedTexts, TextRows, parts, scores, tokenize
from refless.models.neighbor_means import apply_thresholds, means_of_sums
from refless.models.neighbors import (
    AUTO,
    AUTO_CANDIDATES,
    TAUS,
    NeighborsRegressor,
    Others,
    TooFewNeighborsError,
    best_tau,
    spaced,
)

Array = np.ndarray
Features = Callable[[pd.DataFrame], list[Any]]


class TableEstimator(Protocol):
    """What a method makes."""

    def fit(self, table: pd.DataFrame, quality: Any) -> Self: ...

    def predict(self, table: pd.DataFrame) -> Array: ...


class Folds(NamedTuple):
    """One way of leaving texts out."""

    fold: Array  # of each text, int64 (texts,), from 0
    new_contexts: bool = False  # whether no context has texts in two folds


def cross_fit(
    make: Callable[[bool], Any], table: pd.DataFrame, quality: Array, splits: Sequence[Folds]
) -> list[Array]:
    """Estimates of each text under each split, by an estimator that was fitted to the texts of all
    other folds.

    make : gives an estimator, for texts of new contexts or not
    quality : float64 (texts,)

    >>> from refless.models.baselines import Constant
    >>> table, quality = pd.DataFrame({"text": ["a", "b", "c"]}), np.array([1.0, 2.0, 6.0])
    >>> split = Folds(np.array([0, 0, 1]))
    >>> cross_fit(lambda _: Estimator(Constant(), texts_of), table, quality, [split])
    [array([6. , 6. , 1.5])]
    """
    table = with_keys(table)
    # a faster way to the same numbers; each split says there whether it is of new contexts
    if hasattr(estimator := make(False), "cross_fit"):
        return list(estimator.cross_fit(table, quality, splits))
    from threadpoolctl import threadpool_limits

    # models of a fold are small: several threads would only wait for each other
    with threadpool_limits(1):
        return [
            cross_fit_split(make(split.new_contexts), table, quality, split.fold)
            for split in splits
        ]


def cross_fit_split(
    estimator: TableEstimator,
    table: pd.DataFrame,
    quality: Array,
    fold: Array,
    training: Array | None = None,
) -> Array:
    """`cross_fit` of one split by fitting and predicting; with ``training``, bool (texts,), these
    texts of the other folds alone are fitted to."""
    estimates = np.full(len(table), np.nan)
    for number in range(int(fold.max()) + 1):
        candidates = fold == number
        rows = fold != number
        if training is not None:
            rows = rows & training
        estimator.fit(table[rows], quality[rows])
        estimates[candidates] = estimator.predict(table[candidates])
    return estimates


# ---- what a text looks like to a model -----------------------------------------------------------


def texts_of(table: pd.DataFrame) -> list[str]:
    return list(table["text"])


def characters_of(table: pd.DataFrame) -> list[int]:
    return [len(text) for text in table["text"]]


def words_of(table: pd.DataFrame) -> list[int]:
    return [len(text.split()) for text in table["text"]]


def values_of(*names: str) -> Features:
    """The values of a column, or with several, tuples of theirs."""

    def features(table: pd.DataFrame) -> list[Any]:
        columns = [column(table, name) for name in names]
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    return features


def contexts_of(table: pd.DataFrame) -> list[Any]:
    """The key of each text's context, NaN where it has none."""
    return [key or np.nan for key in column(table, CONTEXT_KEY)]


def origins_of(table: pd.DataFrame) -> list[RatedText]:
    """Each text with its system and context."""
    columns = table["text"], column(table, "system"), column(table, CONTEXT_KEY)
    return [RatedText(*values) for values in zip(*columns, strict=True)]


def paired(first: Features, second: Features) -> Features:
    """Pairs of what two functions give."""
    return lambda table: list(zip(first(table), second(table), strict=True))


def clusters_of(table: pd.DataFrame, new_contexts: bool) -> Array:
    """Numbers of texts, int64, from 0 as they appear: texts of one cluster stay together where a
    method chooses something, such as a penalty. They are equal texts; or where texts of
    ``new_contexts`` will be asked about, the texts of a context, if there are several."""
    groups = column(table, CONTEXT_GROUP) if new_contexts else []
    if len(set(groups)) > 1:
        return key_numbers(groups)
    return label_ids(table[TEXT_KEY])


class Estimator:
    """A model of ``features`` of each text.

    Parameters
    ----------
    model : with ``fit(X, quality, groups)`` and ``predict(X)``, where X is a list; texts of one
        group stay together where the model chooses something
    features : what the model sees of each text of a table
    new_contexts : as of `clusters_of`, which are the groups
    """

    def __init__(self, model: Any, features: Features, new_contexts: bool = False) -> None:
        self.model = model
        self.features = features
        self.new_contexts = new_contexts

    def fit(self, table: pd.DataFrame, quality: Any) -> Self:
        """Fit the model."""
        self._prompt = prompt_kind(table)
        table = with_keys(table, self._prompt)
        values = np.asarray(quality, np.float64)
        groups = clusters_of(table, self.new_contexts).tolist()
        self.model.fit(self.features(table), values, groups=groups)
        return self

    def predict(self, table: pd.DataFrame) -> Array:
        """Estimates, float64 (texts,)."""
        features = self.features(with_keys(table, self._prompt))
        return np.asarray(self.model.predict(features), np.float64)


class Neighbors:
    """BLEU Neighbors with tau chosen in training (`refless.models.neighbors.best_tau`). It abstains
    from every text where no tau gives enough neighbors.

    Parameters
    ----------
    kernel : such as ``bleu.char``
    options : of the kernel
    threads : None for as many as the process may use
    new_contexts : as of `clusters_of`
    """

    def __init__(
        self,
        kernel: str,
        options: Mapping[str, Any] | None = None,
        threads: int | None = None,
        new_contexts: bool = False,
    ) -> None:
        self.model = NeighborsRegressor(kernel, tau=AUTO, threads=threads, options=options)
        self.new_contexts = new_contexts

    def fit(self, table: pd.DataFrame, quality: Any) -> Self:
        """Index the training texts and choose tau."""
        self._abstains = False
        groups = clusters_of(with_keys(table), self.new_contexts)
        try:
            self.model.fit(list(table["text"]), quality, groups=groups)
        except TooFewNeighborsError:
            self._abstains = True
        return self

    def predict(self, table: pd.DataFrame) -> Array:
        """Estimates, float64 (texts,)."""
        if self._abstains:
            return np.full(len(table), np.nan)
        return self.model.predict(list(table["text"]))

    def cross_fit(
        self, table: pd.DataFrame, quality: Array, splits: Sequence[Folds]
    ) -> list[Array]:
        """Return what the function `cross_fit` would: for each split the estimates of all texts,
        float64 (texts,). Each pair of texts is compared once, for all splits."""
        texts = list(table["text"])
        folds = [split.fold for split in splits]
        clusters = [clusters_of(table, split.new_contexts) for split in splits]
        sums = group_sums(
            self.model.kernel,
            texts,
            texts,
            quality,
            TAUS,
            [*folds, *folds],
            clusters=[*(None for _ in splits), *zip(clusters, clusters, strict=True)],
            threads=self.model.threads,
            **dict(self.model.options or {}),
        )
        of_all = sums[: len(splits)]
        of_others = sums[len(splits) :]
        return [
            self._cross_fit_split(fold, quality, cluster, *pair)
            for fold, cluster, *pair in zip(folds, clusters, of_all, of_others, strict=True)
        ]

    def _cross_fit_split(
        self,
        fold: Array,
        quality: Array,
        clusters: Array,
        of_all: tuple[Array, Array],
        of_others: tuple[Array, Array],
    ) -> Array:
        """Estimates under one split from number and summed quality of each text's neighbors in each
        fold, (texts, folds, taus), of all of them and of those in other clusters."""
        estimates = np.full(len(fold), np.nan)
        limits = self.model.min_neighbors, self.model.max_share
        for number in range(int(fold.max()) + 1):
            training = np.flatnonzero(fold != number)
            some = spaced(len(training), AUTO_CANDIDATES)
            others = Others.of(_renumbered(clusters[training]), quality[training])
            rows = training[some]
            counts, totals = (
                values[rows].sum(axis=1) - values[rows, number] for values in of_others
            )
            tau = best_tau(counts, totals, others.take(some), *limits)
            if tau is None:
                continue
            candidates = np.flatnonzero(fold == number)
            level = TAUS.index(tau)
            counts, totals = (
                values[candidates, :, level].sum(axis=1) - values[candidates, number, level]
                for values in of_all
            )
            # a fold's sum taken away from the whole leaves rounding, which would break ties
            means = np.round(means_of_sums(totals, counts), 12)
            estimates[candidates] = apply_thresholds(means, counts, len(training), *limits)
        return estimates


def _renumbered(numbers: Array) -> Array:
    """Return whole numbers (n,) renumbered from 0 without gaps, in the same order."""
    return np.unique(numbers, return_inverse=True)[1]


class WeightedReferences:
    """BLEU against the references of a text's context, or ΔBLEU with the rated training texts of
    the context as well, and a line from it to quality.

    References weigh 1, a rated text what its rating says: -1 at the lowest possible quality, 1 at
    the highest. ΔBLEU takes the references of all texts of the context, in training and among
    those that are asked about. Where the line is fitted, a training text is scored without rated
    texts of its cluster.

    Parameters
    ----------
    rated_texts : whether rated texts are references, too
    scale : the lowest and the highest possible quality
    new_contexts : as of `clusters_of`
    """

    def __init__(
        self,
        rated_texts: bool,
        scale: tuple[float, float] = (0.0, 1.0),
        new_contexts: bool = False,
    ) -> None:
        self.rated_texts = rated_texts
        self.scale = scale
        self.new_contexts = new_contexts

    def fit(self, table: pd.DataFrame, quality: Any) -> Self:
        """Keep the training texts as references, and fit the line."""
        self._prompt = prompt_kind(table)
        self._training = with_keys(table, self._prompt)
        self._quality = np.asarray(quality, np.float64)
        sources = _Sources(self._training, 0, self._quality, self)
        self._line = Line().fit(sources.scores_without_cluster(), self._quality)
        return self

    def predict(self, table: pd.DataFrame) -> Array:
        """Estimates, float64 (texts,); NaN for a text without a reference of positive weight."""
        new = with_keys(table, self._prompt)
        both = pd.concat([new, self._training], ignore_index=True)
        return self._line.predict(_Sources(both, len(new), self._quality, self).scores_of_new())

    def cross_fit(
        self, table: pd.DataFrame, quality: Array, splits: Sequence[Folds]
    ) -> list[Array]:
        """Return what the function `cross_fit` would: for each split the estimates of all texts,
        float64 (texts,). The words of all texts are counted once."""
        sources = _Sources(table, 0, quality, self)
        estimates = []
        for split in splits:
            clusters = clusters_of(table, split.new_contexts)
            estimates.append(self._cross_fit_split(sources, quality, split.fold, clusters))
        return estimates

    @staticmethod
    def _cross_fit_split(
        sources: "_Sources", quality: Array, fold: Array, clusters: Array
    ) -> Array:
        in_training, outside = sources.scores_by_fold(fold, clusters)
        estimates = np.full(len(fold), np.nan)
        for number in range(int(fold.max()) + 1):
            training = fold != number
            candidates = fold == number
            line = Line().fit(in_training[training, number], quality[training])
            estimates[candidates] = line.predict(outside[candidates])
        return estimates


class _Sources:
    """Texts with what they are scored against: references, and rated texts of the same context.

    table : with keys; its first ``new`` texts have no quality
    quality : of the other texts
    """

    def __init__(
        self, table: pd.DataFrame, new: int, quality: Array, settings: WeightedReferences
    ) -> None:
        n = len(table)
        self._new = new
        references = references_of(table)
        flat = [text for texts in references for text in texts]
        of_text = np.repeat(np.arange(n), [len(texts) for texts in references])
        context = key_numbers(table[CONTEXT_KEY].tolist())
        self._item = context if settings.rated_texts and context.max() > 0 else np.arange(n)
        self._cluster = clusters_of(table, settings.new_contexts)
        words = [tokenize(text) for text in [*table["text"], *flat]]
        self._words = IndexedTexts(words, max_order=2)
        low, high = settings.scale
        of_rating = np.round(2 * (quality - low) / (high - low) - 1, 12).clip(-1, 1)
        self._rated = np.arange(new, n)
        self._weight = np.append(of_rating, np.ones(len(flat)))
        self._source = np.append(self._rated, n + np.arange(len(flat)))
        self._source_item = np.append(self._item[new:], self._item[of_text])
        self._flat = len(flat)
        self._text_of_reference = of_text

    def _sources(self, owner: Array) -> TextRows:
        """All sources; ``owner`` is of each rated text, and references have none."""
        owners = np.append(owner, np.full(self._flat, NOBODY))
        return TextRows(self._source, owners, self._source_item)

    def scores_without_cluster(self) -> Array:
        """Return the score of each rated text, float64 (rated,), against the sources outside of its
        cluster; NaN without a reference of positive weight."""
        rows = self._rated
        cluster = self._cluster[self._new :]
        candidates = TextRows(rows, cluster, self._item[rows])
        statistics = self._words.statistics(candidates, self._sources(cluster), self._weight)
        return _positive_scores(statistics[:, 0])

    def scores_of_new(self) -> Array:
        """Return the score of each new text, float64 (new,), against all sources; NaN without a
        reference of positive weight."""
        rows = np.arange(self._new)
        nobody = np.full(len(self._rated), NOBODY)
        candidates = TextRows(rows, np.full(len(rows), NOBODY), self._item[rows])
        statistics = self._words.statistics(candidates, self._sources(nobody), self._weight)
        return _positive_scores(statistics[:, 0])

    def scores_by_fold(self, fold: Array, clusters: Array) -> tuple[Array, Array]:
        """Return the scores of each text in two ways, both NaN without a reference of positive
        weight.

        fold, clusters : the fold and the cluster of each rated text, int64 (texts,), from 0

        The first, float64 (texts, folds), are against the sources outside of each fold that are not
        of the text's cluster. The second, float64 (texts,), are against all sources outside of the
        text's own fold.
        """
        rows = self._rated
        folds = np.append(fold, fold[self._text_of_reference])
        candidates = TextRows(rows, clusters, self._item)
        inside = self._words.statistics(
            candidates, self._sources(clusters), self._weight, int(fold.max()) + 1, folds
        )
        candidates = TextRows(rows, fold, self._item)
        outside = self._words.statistics(candidates, self._sources(fold), self._weight)
        return _positive_scores(inside[:, 1:]), _positive_scores(outside[:, 0])


def _positive_scores(statistics: Array) -> Array:
    """ΔBLEU by the rule ``smooth``; NaN without a reference of positive weight."""
    positive = parts(statistics)[1][..., 0] > 0
    return np.where(positive, scores(statistics, "smooth"), np.nan)


class CombinedScores:
    """A model of all columns of scores that the training texts have."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, table: pd.DataFrame, quality: Any) -> Self:
        """Fit the model."""
        self._names = score_names(table)
        self.model.fit(table[self._names].to_numpy(np.float64), np.asarray(quality, np.float64))
        return self

    def predict(self, table: pd.DataFrame) -> Array:
        """Estimates, float64 (texts,)."""
        return np.asarray(self.model.predict(table[self._names].to_numpy(np.float64)), np.float64)
