"""A whole comparison: every method under every split, and the learning curve.

Stage: cell -> table. In: rated texts, settings. Out: `Comparison`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from refless.compare import predict
from refless.compare.measures import Draws, averaged, measured
from refless.compare.predict import NEIGHBORS, NETWORKS, TRIVIAL, Key
from refless.compare.read import Rated
from refless.compare.splits import Split, repeated
from refless.kernels import unread
from refless.statistics import Estimate, interval, ratings_saved

Array = np.ndarray

Row = tuple[str, str, str]
"""Split, method, kernel."""
LEAST_P = 1e-4
"""Tails of a normal distribution are not believed further out."""
KERNELS = ("bleu.char", "bleu.word", "rouge_l.stem")
COLUMNS = [
    *("method", "kernel", "split"),
    *("pearson", "pearson_low", "pearson_high", "spearman", "spearman_low", "spearman_high"),
    *("mse", "mse_of_mean", "coverage", "pairwise_accuracy", "ratings_saved"),
    *("difference", "difference_low", "difference_high", "p", "n", "reason"),
]
CURVE = ["ratings", "pearson", "pearson_low", "pearson_high"]
FIRST, PARTS, NEAR = 25, 3, 0.95
"""Of the learning curve: the first number of ratings; random parts of each number, of which a point
is the mean; the share of all ratings from which on a number is no point of its own."""


@dataclass(frozen=True)
class Settings:
    """What decides a comparison, besides the texts."""

    kernels: Sequence[str] = KERNELS  # of neighbors
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # kernel -> its own
    draws: int = 2000  # of the bootstrap
    seed: int = 0  # of draws and folds
    repeats: int = 5  # of the folds, at most: see `refless.compare.splits.repeated`
    curve: bool = True
    left_out: Mapping[Key, str] = field(default_factory=dict)  # why a method is not tried
    threads: int | None = None
    networks: predict.Networks | None = None  # RNN-QE, of the first repeat; None: not tried


@dataclass
class Comparison:
    """What was found.

    table : `COLUMNS`, a row for each split, method and kernel, also for what is left out; errors
        in the user's unit, squared
    predictions : a row a text, split and repeat: ``row`` of the input, ``split``, ``repeat``,
        ``fold``, ``quality`` and a column for each method, empty where it abstains
    curve : `CURVE`, of the first repeat of the main split
    draws : the measures of each row, averaged over the repeats; ``pearson_first`` is of the first
        repeat, the only one that RNN-QE has
    rivals : the best trivial method of each split, by `strongest`
    unread : what is said of kernels that read most of the texts as empty
    """

    table: pd.DataFrame
    predictions: pd.DataFrame
    curve: pd.DataFrame
    draws: dict[Row, Draws]
    splits: dict[str, list[Split]]  # repeats of each split that there is
    rivals: dict[str, Row | None]
    unread: list[str]

    @property
    def order(self) -> list[str]:
        """The splits, the one that matters most first."""
        return [name for name in ("systems", "contexts", "texts") if name in self.splits]


def compare(
    rated: Rated,
    settings: Settings | None = None,
    step: Callable[[int, int, str], None] = lambda done, number, what: None,
) -> Comparison:
    """Compare every method on rated texts.

    ``step`` is called before each piece of work with how many are done, how many there are, and
    what comes next.

    Raises KernelError: a kernel that cannot be computed here.
    """
    settings = settings or Settings()
    splits = repeated(rated, settings.seed, settings.repeats)
    every = [split for own in splits.values() for split in own]
    unreadable = _unreadable(rated, settings)
    left_out = {**settings.left_out, **unreadable}
    kernels = [kernel for kernel in settings.kernels if (NEIGHBORS, kernel) not in left_out]
    tried = predict.keys(rated, kernels, settings.networks is not None)
    reasons = {(name, *key): why for name, (key, why) in product(splits, left_out.items())}
    columns: dict[tuple[str, int], dict[str, Any]] = {}
    for split in every:
        own = {"row": rated.rows, "split": split.name, "repeat": split.repeat, "fold": split.fold}
        columns[split.name, split.repeat] = own | {"quality": rated.in_unit(rated.quality)}
    draws: dict[Row, Draws] = {}
    for number, key in enumerate(tried):
        step(number, len(tried) + settings.curve, predict.label(*key))
        reasons |= {(name, *key): predict.why_not(key[0], rated, name) for name in splits}
        asked = [split for split in every if not reasons[split.name, *key]]
        if key[0] == NETWORKS:
            asked = [split for split in asked if split.repeat == 0]
        options = settings.options.get(key[1], {})
        made = predict.estimates(key, rated, asked, options, settings.networks, settings.threads)
        for name in dict.fromkeys(split.name for split in asked):
            both = zip(asked, made, strict=True)
            found = [(one, rated, split) for split, one in both if split.name == name]
            if all(np.isnan(one.own).all() for one, *_ in found):
                reasons[name, *key] = "it has no estimate for any text"
                continue
            parts = [measured(*one, settings.draws, settings.seed) for one in found]
            draws[name, *key] = {**averaged(parts), "pearson_first": parts[0]["pearson"]}
            for one, _, split in found:
                estimates = rated.in_unit(one.own)
                columns[name, split.repeat][":".join(filter(None, key))] = estimates
    rivals = {name: strongest(name, draws) for name in splits}
    rows = [
        _row((name, *key), rated, draws, rivals[name], reasons[name, *key])
        for name, key in product(splits, [*tried, *left_out])
    ]
    table, curve = pd.DataFrame(rows, columns=COLUMNS), pd.DataFrame(columns=CURVE)
    predictions = pd.concat(map(pd.DataFrame, columns.values()), ignore_index=True)
    empty = list(unreadable.values())
    whole = Comparison(table, predictions, curve, draws, splits, rivals, empty)
    if settings.curve:
        step(len(tried), len(tried) + 1, "learning curve")
        main = whole.order[0]
        of_all = draws[main, "ridge", ""]["pearson"]
        told = of_all, settings.draws, settings.seed
        whole.curve = learning_curve(rated, splits[main][0], *told)
    return whole


def _unreadable(rated: Rated, settings: Settings) -> dict[Key, str]:
    """Kernels that cannot read most of the texts, and why."""
    found = {}
    for name in settings.kernels:
        number, said = unread(name, rated.texts)
        if 2 * number > len(rated):
            found[NEIGHBORS, name] = said
    return found


def estimate(drawn: Array) -> Estimate:
    """The first number with the interval of the others; no interval where there is no number, or
    where it leaves the number out."""
    value, (low, high) = float(drawn[0]), interval(drawn[1:])
    return Estimate(value, low, high) if low <= value <= high else Estimate(value)


def strongest(split: str, draws: Mapping[Row, Draws]) -> Row | None:
    """The trivial method with the greatest Pearson's r, of those that cover half of the texts;
    None where none is above 0, which is what a constant has."""
    values = {
        row: own["pearson"][0]
        for row, own in draws.items()
        if row[0] == split and row[1] in TRIVIAL and own["coverage"][0] >= 0.5
    }
    return max((row for row in values if values[row] > 0), key=values.__getitem__, default=None)


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


def _row(
    key: Row, rated: Rated, draws: Mapping[Row, Draws], rival: Row | None, reason: str
) -> dict[str, Any]:
    split, method, kernel = key
    row: dict[str, Any] = {"method": method, "kernel": kernel, "split": split}
    row |= {"n": len(rated), "reason": reason}
    if key not in draws:
        return row
    own, unit = draws[key], (rated.scale[1] - rated.scale[0]) ** 2
    row |= {name: own[name][0] for name in ("mse", "mse_of_mean", "coverage", "pairwise_accuracy")}
    row |= {name: unit * own[name][0] for name in ("mse", "mse_of_mean")}
    if method == "context_mean":  # it leaves out a text's own system, and falls as that rises
        del row["pairwise_accuracy"]
    for name in ("pearson", "spearman"):
        row |= estimate(own[name]).columns(name)
    row["ratings_saved"] = ratings_saved(own["pearson"][0])
    if method not in TRIVIAL and not np.isnan(own["pearson"][0]):
        name = "pearson_first" if method == NETWORKS else "pearson"
        # what ranks nothing has 0
        gap = np.nan_to_num(own[name])
        if rival is not None:
            gap -= np.nan_to_num(draws[rival][name])
        row |= {**estimate(gap).columns("difference"), "p": p_value(gap)}
    return row


def learning_curve(rated: Rated, split: Split, whole: Array, draws: int, seed: int) -> pd.DataFrame:
    """`CURVE` of ridge regression for 25, 50, 100, ... ratings in training, in the mean of the
    folds; and as the last point r from all of them, with its draws, which is ``whole``."""
    generator = np.random.default_rng(seed + 1)
    sizes, found, size = np.bincount(split.fold), {}, FIRST
    while size < NEAR * (len(rated) - sizes.max()):
        share = size / len(rated) / (1 - 1 / split.folds)
        parts = []
        for _ in range(PARTS):
            place = pd.Series(generator.random(len(rated))).groupby(split.fold).rank()
            used = place.to_numpy() <= np.maximum(1, share * sizes)[split.fold]
            made = predict.baseline("ridge", rated, split, used)
            parts.append(measured(made, rated, split, draws, seed)["pearson"])
        # where nothing is ranked, r is 0
        found[size] = np.nan_to_num(parts).mean(axis=0)
        size *= 2
    found[round(len(rated) * (1 - 1 / split.folds))] = whole
    rows = [(size, float(drawn[0]), *interval(drawn[1:])) for size, drawn in found.items()]
    return pd.DataFrame(rows, columns=CURVE)
