"""A whole comparison: every method under every split, and the learning curve.

Stage: cell -> table. In: rated texts, settings. Out: `Comparison`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from refless.compare.curve import COLUMNS as CURVE
from refless.compare.curve import learning_curve
from refless.compare.measures import Draws, averaged, measured
from refless.compare.predict import (
    NEIGHBORS,
    NETWORKS,
    TRIVIAL,
    Estimates,
    Key,
    Networks,
    estimates,
    keys,
    label,
    why_not,
)
from refless.compare.read import Rated
from refless.compare.readable import unread
from refless.compare.splits import Split, repeated
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


@dataclass(frozen=True)
class Settings:
    """What decides a comparison, besides the texts.

    kernels : of neighbors; options : kernel -> its options, e.g. where WordNet lies
    draws, seed : of the bootstrap; the seed also makes the folds
    repeats : how often folds are made, at most (see `refless.compare.splits.repeated`)
    left_out : (method, kernel) -> why it is not tried
    networks : what makes RNN-QE's estimates, in the first repeat alone; None: it is not tried
    """

    kernels: tuple[str, ...] = KERNELS
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    draws: int = 2000
    seed: int = 0
    repeats: int = 5
    curve: bool = True
    left_out: Mapping[Key, str] = field(default_factory=dict)
    threads: int | None = None
    networks: Networks | None = None


@dataclass
class Comparison:
    """What was found.

    table : `COLUMNS`, a row for each split, method and kernel, also for what is left out; errors
        in the user's unit, squared
    predictions : a row a text, split and repeat: ``row`` of the input, ``split``, ``repeat``,
        ``fold``, ``quality`` and a column for each method, empty where it abstains
    curve : `refless.compare.curve.COLUMNS`, of the first repeat of the main split
    draws : the measures of each row, averaged over the repeats; ``pearson_first`` is of the first
        repeat, the only one that RNN-QE has
    splits : those that there are, a list of repeats each
    rivals : the best trivial method of each split, by `strongest`
    unread : what is said of kernels that read most of the texts as empty
    """

    table: pd.DataFrame
    predictions: pd.DataFrame
    curve: pd.DataFrame
    draws: dict[Row, Draws]
    splits: dict[str, list[Split]]
    rivals: dict[str, Row | None]
    unread: list[str]

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

    ``step`` is called before each piece of work with how many are done, how many there are, and
    what comes next.

    Raises KernelError: a kernel that cannot be computed here.
    """
    settings = settings or Settings()
    splits = repeated(rated, settings.seed, settings.repeats)
    every = [split for own in splits.values() for split in own]
    unread = _unreadable(rated, settings)
    left_out = {**settings.left_out, **unread}
    kernels = [kernel for kernel in settings.kernels if (NEIGHBORS, kernel) not in left_out]
    tried = keys(rated, kernels, settings.networks is not None)
    reasons = {(name, *key): why for name, (key, why) in product(splits, left_out.items())}
    made: dict[Row, list[Estimates]] = {}
    draws: dict[Row, Draws] = {}
    for number, key in enumerate(tried):
        step(number, len(tried) + settings.curve, label(*key))
        reasons |= {(name, *key): why_not(key[0], rated, name) for name in splits}
        asked = [split for split in every if not reasons[split.name, *key]]
        if key[0] == NETWORKS:
            asked = [split for split in asked if split.repeat == 0]
        options = settings.options.get(key[1], {})
        own = estimates(key, rated, asked, options, settings.networks, settings.threads)
        for split, one in zip(asked, own, strict=True):
            made.setdefault((split.name, *key), []).append(one)
        for row in [(name, *key) for name in splits if (name, *key) in made]:
            if all(np.isnan(one.own).all() for one in made[row]):
                reasons[row] = "it has no estimate for any text"
                continue
            parts = [
                measured(one, rated, split, settings.draws, settings.seed)
                for one, split in zip(made[row], splits[row[0]], strict=False)
            ]
            draws[row] = {**averaged(parts), "pearson_first": parts[0]["pearson"]}
    rivals = {name: strongest(name, draws) for name in splits}
    rows = [
        _row((name, *key), rated, draws, rivals[name], reasons[name, *key])
        for name, key in product(splits, [*tried, *left_out])
    ]
    predictions = _predictions(rated, every, {row: made[row] for row in draws})
    table, curve = pd.DataFrame(rows, columns=COLUMNS), pd.DataFrame(columns=CURVE)
    empty = list(unread.values())
    found = Comparison(table, predictions, curve, draws, splits, rivals, empty)
    if settings.curve:
        step(len(tried), len(tried) + 1, "learning curve")
        whole = draws[found.main, "ridge", ""]["pearson"]
        first = splits[found.main][0]
        found.curve = learning_curve(rated, first, whole, settings.draws, settings.seed)
    return found


def _unreadable(rated: Rated, settings: Settings) -> dict[Key, str]:
    """Kernels that cannot read most of the texts, and why."""
    found = {}
    for name in settings.kernels:
        number, said = unread(name, rated.texts, **settings.options.get(name, {}))
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


def difference(draws: Mapping[Row, Draws], own: Row, rival: Row | None) -> Array:
    """Of Pearson's r, on the texts and on each draw; a method that ranks nothing has 0."""
    name = "pearson_first" if own[1] == NETWORKS else "pearson"
    r: Array = np.nan_to_num(draws[own][name])
    return r if rival is None else r - np.nan_to_num(draws[rival][name])


def p_value(gap: Array) -> float:
    """Two-sided bootstrap p of a difference, from its draws on the other side of 0; NaN without
    draws.

    Where no draw is there, their number would be all that p tells. Then it is what a normal
    distribution with the spread of the draws has there, but never below `LEAST_P`.
    """
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
    own = draws[key]
    row |= estimate(own["pearson"]).columns("pearson") | estimate(own["spearman"]).columns(
        "spearman"
    )
    unit = (rated.scale[1] - rated.scale[0]) ** 2
    row |= {name: unit * own[name][0] for name in ("mse", "mse_of_mean")}
    row["coverage"] = own["coverage"][0]
    # it leaves out a text's own system, and falls as that rises
    if method != "context_mean":
        row["pairwise_accuracy"] = own["pairwise_accuracy"][0]
    row["ratings_saved"] = ratings_saved(own["pearson"][0])
    if rival is not None and method not in TRIVIAL and not np.isnan(own["pearson"][0]):
        gap = difference(draws, key, rival)
        row |= {**estimate(gap).columns("difference"), "p": p_value(gap)}
    return row


def _predictions(
    rated: Rated, splits: Iterable[Split], made: Mapping[Row, list[Estimates]]
) -> pd.DataFrame:
    """In the user's unit; see `Comparison`."""
    parts = []
    for split in splits:
        part = pd.DataFrame({"row": rated.rows, "split": split.name, "repeat": split.repeat})
        part = part.assign(fold=split.fold, quality=rated.in_unit(rated.quality))
        for (name, *key), own in made.items():
            if name == split.name and split.repeat < len(own):
                part[":".join(filter(None, key))] = rated.in_unit(own[split.repeat].own)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)
