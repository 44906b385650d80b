"""A whole comparison: every method under every split, and the learning curve."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from refless.errors import SettingError
from refless.evaluation import predict
from refless.evaluation.measures import Draws, averaged, measured
from refless.evaluation.predict import NEIGHBORS, NETWORKS, TRIVIAL, Settings, label, why_not
from refless.evaluation.read import Rated, Split, all_splits
from refless.models.baselines import Ngrams, RidgeTfidf
from refless.statistics import interval, ratings_saved

Array = np.ndarray

Row = tuple[str, str, str]
"""Split, method, kernel."""
LEVEL = 0.05
"""Of significance, after the correction."""
LEAST_COVERAGE = 0.5  # with which a method can be the best
LEAST_P = 1e-4
"""Tails of a normal distribution are not believed further out."""
MEANS = ("mse", "mse_of_mean", "coverage", "pairwise_accuracy")
"""Measures without an interval."""
COLUMNS = [
    *("method", "kernel", "split"),
    *("pearson", "pearson_low", "pearson_high", "spearman", "spearman_low", "spearman_high"),
    *(*MEANS, "ratings_saved"),
    *("difference", "difference_low", "difference_high", "p", "n", "reason"),
]
FIRST, PARTS, NEAR = 25, 3, 0.95
"""Of the learning curve: the first number of ratings; random parts of each number, of which a point
is the mean; the share of all ratings from which on a number is no point of its own."""


@dataclass
class Comparison:
    """What was found."""

    table: pd.DataFrame  # `COLUMNS`, a row for each split, method and kernel, also if left out
    # a row a text, split and repeat, with a column for each method, empty where it abstains
    predictions: pd.DataFrame
    draws: dict[Row, Draws]  # averaged over repeats
    splits: dict[str, list[Split]]  # repeats of each split that there is
    unread: list[str]  # why kernels are left out

    @property
    def order(self) -> list[str]:
        """The splits, the one that matters most first."""
        return [name for name in ("systems", "contexts", "texts") if name in self.splits]


def compare(
    rated: Rated,
    settings: Settings,
    step: Callable[[int, int, str], None] = lambda done, number, what: None,
) -> Comparison:
    """Compare every method on rated texts; ``step`` is told how many are done, how many there are,
    and what comes next. Raises KernelError: a kernel cannot be computed here. Raises SettingError:
    too few draws."""
    splits = all_splits(rated, settings.seed, settings.repeats)
    every = [split for own in splits.values() for split in own]
    methods = predict.methods(rated, settings)
    reasons = {}
    for name, (method, kernel) in product(splits, dict.fromkeys([*methods, *settings.left_out])):
        reasons[name, method, kernel] = why_not(method, kernel, rated, settings, name)
    tried = [key for key in methods if not reasons["texts", *key]]
    least = round(2 / LEVEL) * sum(method not in TRIVIAL for method, _ in tried)
    if settings.draws < least:
        message = f"{settings.draws} draws are too few to correct p for all methods"
        raise SettingError(message, remedy=f"give {least} draws or more")
    frames, quality = {}, rated.in_unit(rated.quality)
    for split in every:
        own = {"row": rated.rows, "split": split.name, "repeat": split.repeat, "fold": split.fold}
        frames[split.name, split.repeat] = pd.DataFrame({**own, "quality": quality})
    parts: dict[Row, list[Draws]] = {}
    for number, key in enumerate(tried):
        step(number, len(tried), label(*key))
        most = 1 if key[0] == NETWORKS else len(every)  # repeats
        asked = [one for one in every if not reasons[one.name, *key] and one.repeat < most]
        told = settings.draws, settings.seed, rated.scores.get(key[0])
        for split, estimate in zip(asked, methods[key](asked), strict=True):
            found = measured(estimate, rated, split, *told)
            parts.setdefault((split.name, *key), []).append(found)
            column = ":".join(filter(None, key))
            frames[split.name, split.repeat][column] = rated.in_unit(estimate)
    draws = {row: averaged(own) for row, own in parts.items()}
    draws = {row: own for row, own in draws.items() if own["coverage"][0] > 0}
    table = []
    for row, reason in reasons.items():
        cells: dict[str, Any] = dict(zip(("split", "method", "kernel"), row, strict=True))
        if row in draws:
            cells |= _numbers(row, parts, strongest(row[0], draws))
        else:
            reason = reason or "it has no estimate for any text"
        table.append({**cells, "n": len(rated), "reason": reason})
    known = [frame.dropna(axis=1, how="all") for frame in frames.values()]
    predictions = pd.concat(known, ignore_index=True)
    unread = {reason: None for row, reason in reasons.items() if row[1] == NEIGHBORS and reason}
    return Comparison(pd.DataFrame(table, columns=COLUMNS), predictions, draws, splits, [*unread])


def strongest(split: str, draws: Mapping[Row, Draws]) -> Row | None:
    """The trivial method with the greatest Pearson's r, of those that cover enough texts;
    None where none is above 0, which is what a constant has."""
    values = {
        row: own["pearson"][0]
        for row, own in draws.items()
        if row[0] == split and row[1] in TRIVIAL and own["coverage"][0] >= LEAST_COVERAGE
    }
    return max((row for row in values if values[row] > 0), key=values.__getitem__, default=None)


def _numbers(row: Row, parts: Mapping[Row, Sequence[Draws]], rival: Row | None) -> dict[str, Any]:
    """The measures of a row, and how far it is ahead of its rival."""
    own, method = averaged(parts[row]), row[1]
    found = {name: own[name][0] for name in MEANS}
    if method == "context_mean":  # it leaves out a text's own system, and falls as that rises
        del found["pairwise_accuracy"]
    found |= with_interval("pearson", own["pearson"])
    found |= with_interval("spearman", own["spearman"])
    found["ratings_saved"] = ratings_saved(own["pearson"][0])
    if method not in TRIVIAL and not np.isnan(own["pearson"][0]):
        # what ranks nothing has 0
        gap = np.nan_to_num(own["pearson"])
        if rival is not None:  # on the repeats that both have
            gap -= np.nan_to_num(averaged(parts[rival][: len(parts[row])])["pearson"])
        found |= {**with_interval("difference", gap), "p": p_value(gap)}
    return found


def with_interval(name: str, drawn: Array) -> dict[str, float]:
    """The first number with the interval of the others, as columns; no interval where it leaves the
    number out."""
    value, (low, high) = float(drawn[0]), interval(drawn[1:])
    if not low <= value <= high:
        low = high = float("nan")
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def p_value(gap: Array) -> float:
    """Two-sided bootstrap p of a difference, from its draws on the other side of 0 (where there are
    none, from a normal distribution with their spread, but at least `LEAST_P`); NaN without
    draws."""
    drawn = gap[1:]
    if len(drawn) == 0:
        return float("nan")
    other = min((drawn <= 0).sum(), (drawn >= 0).sum())
    p = min(1.0, 2 * (other + 1) / (len(drawn) + 1))
    if other:
        return float(p)
    spread = max(drawn.std(ddof=1), abs(gap[0]) * 1e-9)
    return float(min(p, max(LEAST_P, 2 * ndtr(-abs(gap[0]) / spread))))


def learning_curve(rated: Rated, found: Comparison, settings: Settings) -> pd.DataFrame:
    """Pearson's r of ridge regression for 25, 50, 100, ... ``ratings`` in training, with its
    interval, under the first repeat of the main split; the last point is from all of them."""
    main = found.order[0]
    split, n, ridge = found.splits[main][0], len(rated), RidgeTfidf(Ngrams(rated.texts))
    generator = np.random.default_rng(settings.seed + 1)
    sizes, points, size = np.bincount(split.fold), {}, FIRST
    while size < NEAR * (n - sizes.max()):
        share = size / n / (1 - 1 / split.folds)
        parts = []
        for _ in range(PARTS):
            place = pd.Series(generator.random(n)).groupby(split.fold).rank()
            used = place.to_numpy() <= np.maximum(1, share * sizes)[split.fold]
            estimate = predict.fitted(ridge, rated.texts, rated, split, used)
            own = measured(estimate, rated, split, settings.draws, settings.seed)
            parts.append(own["pearson"])
        # where nothing is ranked, r is 0
        points[size] = np.nan_to_num(parts).mean(axis=0)
        size *= 2
    points[round(n * (1 - 1 / split.folds))] = found.draws[main, "ridge", ""]["pearson"]
    rows = [(size, float(drawn[0]), *interval(drawn[1:])) for size, drawn in points.items()]
    return pd.DataFrame(rows, columns=["ratings", "pearson", "pearson_low", "pearson_high"])
