"""A whole comparison: every method under every split, and the learning curve.

Stage: cell -> table. In: rated texts, settings. Out: `Comparison`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from refless.compare.curve import COLUMNS as CURVE
from refless.compare.curve import learning_curve, sizes
from refless.compare.measures import Draws, averaged, measured, truth_of
from refless.compare.predict import (
    NETWORKS,
    TRIVIAL,
    Estimates,
    Key,
    label,
    methods,
    why_not,
)
from refless.compare.read import Rated
from refless.compare.readable import sentence, unread
from refless.compare.splits import Split, repeated, repeats_of
from refless.statistics import Estimate, interval, ratings_saved

Array = np.ndarray

Row = tuple[str, str, str]
"""Split, method, kernel."""
LEAST_P = 1e-4
"""Tails of a normal distribution are not believed further out."""
LEVEL = 0.05
KERNELS = ("bleu.char", "bleu.word", "rouge_l.stem")
REPEATS = 5
INTERVALS = ("pearson", "spearman")
COLUMNS = [
    *("method", "kernel", "split"),
    *(f"{name}{end}" for name in INTERVALS for end in ("", "_low", "_high")),
    *("mse", "mse_of_mean", "coverage", "pairwise_accuracy", "ratings_saved"),
    *("difference", "difference_low", "difference_high", "p", "n", "reason"),
]


@dataclass(frozen=True)
class Settings:
    """What decides a comparison, besides the texts.

    kernels : of neighbors; the first has the learning curve
    options : kernel -> its options, e.g. where WordNet lies
    draws, seed : of the bootstrap; the seed also makes the folds
    repeats : how often folds are made, at most (see `repeats_of`)
    left_out : (method, kernel) -> why it is not tried
    networks : what makes RNN-QE's estimates, in the first repeat alone; None: it is not tried
    """

    kernels: tuple[str, ...] = KERNELS
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    draws: int = 2000
    seed: int = 0
    repeats: int = REPEATS
    curve: bool = True
    left_out: Mapping[Key, str] = field(default_factory=dict)
    threads: int | None = None
    networks: Callable[[Rated, Split], Array] | None = None


@dataclass
class Comparison:
    """What was found.

    table : `COLUMNS`, a row for each split, method and kernel, also for what is left out
    predictions : a row a text, split and repeat: ``row`` of the input, ``split``, ``repeat``,
        ``fold``, ``quality`` and a column for each method, empty where it abstains
    curve : `refless.compare.curve.COLUMNS`, of the first repeat of the main split
    draws : the measures of each row, averaged over the repeats; first : those of the first repeat,
        the only one that RNN-QE has
    unread : kernels that cannot read most of the texts, and why
    splits, why : those there are, a list of repeats each, and why there is no other
    """

    table: pd.DataFrame
    predictions: pd.DataFrame
    curve: pd.DataFrame
    draws: dict[Row, Draws]
    first: dict[Row, Draws]
    splits: dict[str, list[Split]]
    why: dict[str, str]
    unread: dict[Key, str] = field(default_factory=dict)

    @property
    def main(self) -> str:
        """The split that matters most: new systems, else new contexts, else new texts."""
        return next(name for name in ("systems", "contexts", "texts") if name in self.splits)


def compare(
    rated: Rated,
    settings: Settings | None = None,
    step: Callable[[int, int, str], None] = lambda done, number, what: None,
) -> Comparison:
    """Compare every method on rated texts.

    Parameters
    ----------
    step : called before each piece of work with how many are done, how many there are, and what
        comes next

    Raises
    ------
    KernelError : a kernel that cannot be computed here.
    """
    settings = settings or Settings()
    repeats = repeats_of(len(rated), settings.repeats)
    splits, why = repeated(rated, settings.seed, repeats)
    options = settings.options
    unread = _unreadable(rated, settings)
    left_out = {**settings.left_out, **unread}
    kernels = [kernel for kernel in settings.kernels if ("neighbors", kernel) not in left_out]
    every = [split for own in splits.values() for split in own]
    made = methods(rated, every, kernels, options, settings.networks, settings.threads)
    found = Comparison(pd.DataFrame(), pd.DataFrame(), pd.DataFrame(), {}, {}, splits, why, unread)
    first = splits[found.main][0]
    points = len(sizes(first)) if settings.curve else 0
    done, number = 0, len(made) * len(splits) + points

    def tell(what: str) -> None:
        nonlocal done
        step(done, number, what)
        done += 1

    truths = {name: [truth_of(rated, split) for split in own] for name, own in splits.items()}
    reasons = {(name, *key): reason for name in splits for key, reason in left_out.items()}
    estimates: dict[Row, list[Estimates]] = {}
    # method by method, so that what its splits share is made once and kept no longer
    for key, make in made.items():
        for name, own in splits.items():
            tell(f"new {name}: {label(*key)}")
            if reason := why_not(key[0], rated, name):
                reasons[name, *key] = reason
                continue
            estimated = [make(split) for split in (own[:1] if key[0] == NETWORKS else own)]
            if all(np.isnan(one.own).all() for one in estimated):
                reasons[name, *key] = "it has no estimate for any text"
                continue
            estimates[name, *key] = estimated
            parts = [
                measured(one, truth, settings.draws, settings.seed)
                for one, truth in zip(estimated, truths[name], strict=False)
            ]
            found.draws[name, *key], found.first[name, *key] = averaged(parts), parts[0]
    keys = [*made, *left_out]
    rows = [_row((name, *key), rated, found, reasons) for name in splits for key in keys]
    found.table = pd.DataFrame(rows, columns=COLUMNS)
    found.predictions = _predictions(rated, splits, estimates)
    found.curve = pd.DataFrame(columns=CURVE)
    if settings.curve:
        whole = found.draws[found.main, "ridge", ""]["pearson"]
        found.curve = learning_curve(rated, first, whole, settings.draws, settings.seed, tell)
    return found


def least_draws(rated: Rated, settings: Settings) -> int:
    """Draws with which p, corrected for all methods, can be below `LEVEL`."""
    told = settings.kernels, settings.options, settings.networks, None
    tried = [
        method
        for method, _ in methods(rated, [], *told)
        if method not in TRIVIAL and not why_not(method, rated, "texts")
    ]
    return round(2 / LEVEL) * len(tried)


def _unreadable(rated: Rated, settings: Settings) -> dict[Key, str]:
    """Kernels that cannot read most of the texts, and why."""
    lost = {
        name: unread(name, rated.texts, **settings.options.get(name, {}))
        for name in settings.kernels
    }
    return {
        ("neighbors", name): sentence(name, number, len(rated))
        for name, number in lost.items()
        if 2 * number > len(rated)
    }


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
    ranking = {row: value for row, value in values.items() if value > 0}
    return max(ranking, key=lambda row: ranking[row]) if ranking else None


def difference(found: Comparison, own: Row, other: Row | None) -> Array:
    """Of Pearson's r, on the texts and on each draw; a method that ranks nothing has 0."""
    draws = found.first if own[1] == NETWORKS else found.draws
    r: Array = np.nan_to_num(draws[own]["pearson"])
    gap = r - (0 if other is None else np.nan_to_num(draws[other]["pearson"]))
    if np.isnan(draws[own]["pearson"][1:]).all():
        gap[1:] = np.nan
    return gap


def p_value(gap: Array) -> float:
    """Two-sided bootstrap p of a difference, from its draws on the other side of 0; NaN without
    draws.

    Where no draw is there, their number would be all that p tells. Then it is what a normal
    distribution with the spread of the draws has there, but never below `LEAST_P`.
    """
    drawn = gap[1:]
    if np.isnan(drawn).all():
        return float("nan")
    other = min((drawn <= 0).sum(), (drawn >= 0).sum())
    p = float(min(1.0, 2 * (other + 1) / (len(drawn) + 1)))
    if other or len(drawn) < 2:
        return p
    spread = max(float(drawn.std(ddof=1)), abs(float(gap[0])) * 1e-9)
    return min(p, max(LEAST_P, float(2 * ndtr(-abs(gap[0]) / spread))))


def _row(key: Row, rated: Rated, found: Comparison, reasons: Mapping[Row, str]) -> dict[str, Any]:
    split, method, kernel = key
    row: dict[str, Any] = {"method": method, "kernel": kernel, "split": split}
    row |= {"n": len(rated), "reason": reasons.get(key, "")}
    if key not in found.draws:
        return row
    own = found.draws[key]
    for name in INTERVALS:
        row |= estimate(own[name]).columns(name)
    unit = (rated.scale[1] - rated.scale[0]) ** 2
    row |= {name: unit * own[name][0] for name in ("mse", "mse_of_mean")}
    row |= {name: own[name][0] for name in ("coverage", "pairwise_accuracy")}
    row["ratings_saved"] = ratings_saved(own["pearson"][0])
    rival = strongest(split, found.draws)
    if rival is not None and method not in TRIVIAL and not np.isnan(own["pearson"][0]):
        gap = difference(found, key, rival)
        row |= {**estimate(gap).columns("difference"), "p": p_value(gap)}
    return row


def _predictions(
    rated: Rated, splits: Mapping[str, list[Split]], found: Mapping[Row, list[Estimates]]
) -> pd.DataFrame:
    """In the user's unit; see `Comparison`."""
    names = {row[1:]: ":".join(filter(None, row[1:])) for row in found}
    parts = []
    for split in (split for own in splits.values() for split in own):
        part = pd.DataFrame({"row": rated.rows, "split": split.name, "repeat": split.repeat})
        part = part.assign(fold=split.fold, quality=rated.in_unit(rated.quality))
        for key, name in names.items():
            own = found.get((split.name, *key), [])[split.repeat : split.repeat + 1]
            part[name] = rated.in_unit(own[0].own) if own else np.nan
        parts.append(part)
    return pd.concat(parts, ignore_index=True)
