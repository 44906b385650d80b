"""A whole comparison: every method under every split, the learning curve, and what follows.

Stage: cell -> table. In: rated texts, settings. Out: `Comparison`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from refless.compare import curve
from refless.compare.measures import (
    ALL,
    COVERED,
    SYSTEMS,
    WITHIN,
    Draws,
    averaged,
    measured,
    truth_of,
)
from refless.compare.predicted import (
    NETWORKS,
    PLACES,
    TRIVIAL,
    Prediction,
    abstained,
    against_references,
    baseline,
    baselines,
    by_networks,
    calibrated_score,
    fold_sums,
    named,
    neighbors,
    raw_score,
)
from refless.compare.rated import Rated
from refless.compare.splits import Split, deals_of, dealt
from refless.errors import FormatError
from refless.statistics import Estimate, interval
from refless.statistics.ratings_saved import ratings_saved

Array = np.ndarray

Key = tuple[str, str, str]
"""Split, method, kernel."""
LEAST_P = 1e-4
"""Tails of a normal distribution are not believed further out."""

DEALS = 20
KERNELS = ("bleu.char", "bleu.word", "rouge_l.stem")
ESTIMATES = (
    *("spearman", "pearson", "mse", "coverage", "pairwise_accuracy", "ratings_saved"),
    *COVERED,
    *("ratings_saved_within", *WITHIN.values(), "spearman_systems", "difference"),
)
COLUMNS = [
    *("method", "kernel", "split"),
    *(f"{name}{end}" for name in ESTIMATES for end in ("", "_low", "_high")),
    *("p", "tau", "min_neighbors", "n", "n_covered", "systems"),
    *("deals", "pearson_least", "pearson_most", "note"),
]


@dataclass(frozen=True)
class Settings:
    """What decides a comparison, besides the texts.

    kernels : of neighbors; the first has the learning curve
    options : kernel -> its options, e.g. where WordNet lies
    draws, seed : of the bootstrap; the seed also deals the folds
    deals : how often texts are dealt to folds, at most (see `deals_of`)
    left_out : (method, kernel) -> why it is not tried
    networks : what makes RNN-QE's estimates; None, with a reason in ``left_out``: it is not tried
    """

    kernels: tuple[str, ...] = KERNELS
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    draws: int = 2000
    seed: int = 0
    deals: int = DEALS
    curve: bool = True
    left_out: Mapping[tuple[str, str], str] = field(default_factory=dict)
    threads: int | None = None
    networks: Callable[[Rated, Split], Array] | None = None


@dataclass
class Comparison:
    """What was found.

    table : `COLUMNS`, a row for each split, method and kernel, also for what is left out; ``note``
        holds lists of sentences
    predictions : one row a text, split and deal: ``row`` of the input, ``split``, ``deal``,
        ``fold``, ``quality``, and a column for each method, empty where it abstains
    curve : `curve.COLUMNS`, in the first deal; from all ratings, over the deals
    systems : of each split and method, ``system``, ``quality`` and ``estimate`` with ``n``
    draws : key -> the measures with their draws, averaged over the deals
    first : the same in the first deal alone, the only one that RNN-QE has
    splits, why : those there are, in the first deal, and why there is no other
    deals : split -> how many different deals there are
    curve_split : on which split the learning curve was made
    curve_draws : (method, ratings) -> Pearson's r with its draws
    """

    table: pd.DataFrame
    predictions: pd.DataFrame
    curve: pd.DataFrame
    systems: pd.DataFrame
    draws: dict[Key, Draws]
    first: dict[Key, Draws]
    splits: list[Split]
    why: dict[str, str]
    deals: dict[str, int]
    curve_split: str = ""
    curve_draws: dict[tuple[str, int], Array] = field(default_factory=dict)

    def main_split(self) -> str:
        """See `main_split`."""
        return main_split(self.splits)


def main_split(splits: Sequence[Split]) -> str:
    """The split that matters most: a new system, else a new context, else a new text."""
    there = [split.name for split in splits]
    return next(name for name in ("systems", "contexts", "texts") if name in there)


def label(method: str, kernel: str) -> str:
    """How a method is called: ``neighbors (bleu.char)``."""
    return f"{method} ({kernel})" if kernel else method


def compare(
    rated: Rated,
    settings: Settings | None = None,
    step: Callable[[int, int, str], None] | None = None,
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
    ways, why = dealt(rated, settings.seed, deals_of(len(rated), settings.deals))
    splits = [replace(own[0], repeated=max(deal.repeated for deal in own)) for own in ways]
    near = _shared_sums(rated, [split for own in ways for split in own], settings)
    made = [[_makers(rated, split, settings, near) for split in own] for own in ways]
    main = main_split(splits)
    at = [split.name for split in splits].index(main)
    parts = 2 * len(curve.sizes(splits[at])) if settings.curve else 0
    makers = [maker for own in made for deal in own for maker in deal.values()]
    count = sum(map(callable, makers)) + parts
    done = 0

    def tell(what: str) -> None:
        nonlocal done
        if step is not None:
            step(done, count, what)
        done += 1

    draws: dict[Key, Draws] = {}
    first: dict[Key, Draws] = {}
    spread: dict[Key, tuple[float, float]] = {}
    found: dict[Key, list[Prediction]] = {}
    notes: dict[Key, str] = {}
    truths = [[truth_of(rated, split) for split in own] for own in ways]
    # method by method, so that what its splits share is made once and kept no longer
    for method, kernel in made[0][0]:
        for dealt_ways, own_truths, own in zip(ways, truths, made, strict=True):
            name = dealt_ways[0].name
            key = name, method, kernel
            made_here: list[Prediction | str] = []
            for maker in (deal[method, kernel] for deal in own if (method, kernel) in deal):
                if callable(maker):
                    tell(f"{name}: {label(method, kernel)}")
                made_here.append(maker() if callable(maker) else maker)
            if all(isinstance(one, str) for one in made_here):
                notes[key] = str(made_here[0])
                continue
            # in a deal without an estimate, the mean of the training part stands in for all
            found[key] = [
                abstained(method, kernel, rated, deal) if isinstance(one, str) else one
                for one, deal in zip(made_here, dealt_ways, strict=False)
            ]
            measures = [
                measured(prediction, truth, settings.draws, settings.seed)
                for prediction, truth in zip(found[key], own_truths, strict=False)
            ]
            draws[key], first[key] = averaged(measures), measures[0]
            spread[key] = _spread([own["pearson"][0] for own in measures])
    order = [(split.name, *key) for split, own in zip(splits, made, strict=True) for key in own[0]]
    found = {key: found[key] for key in order if key in found}
    draws = {key: draws[key] for key in order if key in draws}
    whole = {key[1:]: own["pearson"] for key, own in draws.items() if key[0] == main}
    table = pd.DataFrame(columns=curve.COLUMNS)
    curve_draws: dict[tuple[str, int], Array] = {}
    if settings.curve:
        table, curve_draws = curve.learning_curve(
            *(rated, ways[at], settings.kernels[0], whole),
            draws=settings.draws,
            seed=settings.seed,
            threads=settings.threads,
            options=settings.options.get(settings.kernels[0]),
            step=tell,
        )
    deals = {split.name: len(own) for split, own in zip(splits, ways, strict=True)}
    rows = [
        row
        for split, own in zip(splits, made, strict=True)
        for row in _rows(split, rated, list(own[0]), found, notes, draws, first, spread)
    ]
    return Comparison(
        pd.DataFrame(rows, columns=COLUMNS),
        _predictions(rated, ways, found),
        table,
        _systems(rated, splits, found),
        draws,
        first,
        splits,
        why,
        deals,
        main if settings.curve else "",
        curve_draws,
    )


Maker = Callable[[], Prediction | str]


Sums = Callable[[str], dict[tuple[str, int], tuple[Array, Array]]]


def _shared_sums(rated: Rated, splits: Sequence[Split], settings: Settings) -> Sums:
    """Kernel -> what `neighbors` takes of each split and deal; of the last kernel asked for it is
    kept."""

    @functools.lru_cache(maxsize=1)
    def sums(kernel: str) -> dict[tuple[str, int], tuple[Array, Array]]:
        every, folds = np.ones(len(rated), bool), [split.fold for split in splits]
        options = settings.options.get(kernel, {})
        told = kernel, rated.texts, rated.quality, folds, every
        found = fold_sums(*told, threads=settings.threads, **options)
        return {(split.name, split.deal): own for split, own in zip(splits, found, strict=True)}

    return sums


def _makers(
    rated: Rated, split: Split, settings: Settings, near: Sums
) -> dict[tuple[str, str], Maker | str]:
    """(method, kernel) -> what makes its estimates, or why it is left out; in the table's order."""
    found: dict[tuple[str, str], Maker | str] = {}
    for method, make in baselines(rated, split).items():
        if callable(make):
            found[method, ""] = lambda m=method, f=make: baseline(m, f, rated, split)  # type: ignore[misc]
        else:
            found[method, ""] = make
    for kernel in settings.kernels:
        found["neighbors", kernel] = lambda k=kernel: neighbors(  # type: ignore[misc]
            k, rated, split, near(k)[split.name, split.deal]
        )
    for method, weighted in (("bleu", False), ("delta_bleu", True)):
        found[method, ""] = lambda w=weighted: against_references(rated, split, w)  # type: ignore[misc]
    # trained for minutes, so in one deal
    if settings.networks is not None and split.deal == 0:
        found[NETWORKS, ""] = lambda make=settings.networks: by_networks(rated, split, make)  # type: ignore[misc]
    for name in rated.scores:
        if {named(name), f"{named(name)}.calibrated"} & {label(*key) for key in found}:
            raise FormatError(
                f"the column score_{name} would be called as another method is",
                remedy="give it another name; score_<name> makes <name> and <name>.calibrated",
            )
        found[named(name), ""] = lambda n=name: raw_score(n, rated, split)  # type: ignore[misc]
        found[f"{named(name)}.calibrated", ""] = lambda n=name: calibrated_score(  # type: ignore[misc]
            n, rated, split
        )
    for left_out, reason in settings.left_out.items():
        found[left_out] = reason
    return found


def _spread(each: Sequence[float]) -> tuple[float, float]:
    """The least and the greatest r of the deals; one without an order has 0, as in `averaged`."""
    if np.isnan(each).all():
        return float("nan"), float("nan")
    own = np.nan_to_num(each)
    return float(own.min()), float(own.max())


def _rows(
    split: Split,
    rated: Rated,
    methods: Sequence[tuple[str, str]],
    found: Mapping[Key, Sequence[Prediction]],
    notes: Mapping[Key, str],
    draws: Mapping[Key, Draws],
    first: Mapping[Key, Draws],
    spread: Mapping[Key, tuple[float, float]],
) -> list[dict[str, Any]]:
    rival = strongest(split.name, draws)
    systems = 0 if rated.systems is None else len(rated.memberships()[0])
    rows = []
    for method, kernel in methods:
        key = split.name, method, kernel
        row: dict[str, Any] = {"method": method, "kernel": kernel, "split": split.name}
        row |= {"n": int(split.inside.sum()), "systems": systems, "note": []}
        if key not in found:
            rows.append({**row, "note": [f"left out: {notes[key]}"]})
            continue
        own, made = draws[key], found[key]
        empty = sum(bool(np.isnan(one.estimate).all()) for one in made)
        prediction = next((one for one in made if not np.isnan(one.estimate).all()), made[0])
        for name in (*ALL, *COVERED, *SYSTEMS):
            if name in own:
                row |= estimate(own[name]).columns(name)
        row |= estimate(ratings_saved(own["pearson"])).columns("ratings_saved")
        if "pearson_within" in own:
            saved = ratings_saved(own["pearson_within"])
            row |= estimate(saved).columns("ratings_saved_within")
        if rival is not None and method not in TRIVIAL and not np.isnan(own["pearson"][0]):
            gap = difference(draws, first, key, rival)
            tested = not np.isnan(own["pearson"][1:]).all()
            row |= estimate(gap if tested else gap[:1]).columns("difference")
            row["p"] = p_value(gap) if tested else np.nan
            row["note"].append(f"the difference is Pearson's r less that of {rival[1]}")
        row["n_covered"] = round(row["coverage"] * row["n"])
        for name, values in made[0].chosen.items():
            row[name] = " ".join(f"{value:g}" for value in values)
        row["note"] += [prediction.note] if prediction.note else []
        row["deals"] = len(made)
        row["pearson_least"], row["pearson_most"] = spread[key]
        if 0 < empty < len(made):
            row["note"].append(f"it has no estimate in {empty} of {len(made)} deals")
        if np.isnan(own["pearson"][0]):
            row["note"].append("one value for all candidates of a fold ranks nothing")
        rows.append(row)
    return rows


def estimate(drawn: Array) -> Estimate:
    """The first number with the interval of the others; no interval where there is no number."""
    if np.isnan(drawn[0]):
        return Estimate(float("nan"))
    return Estimate(float(drawn[0]), *interval(drawn[1:]))


def strongest(split: str, draws: Mapping[Key, Draws]) -> Key | None:
    """The trivial method with the greatest Pearson's r in a split; None where none ranks at all."""
    values = {
        key: own["pearson"][0]
        for key, own in draws.items()
        if key[0] == split and key[1] in TRIVIAL and not np.isnan(own["pearson"][0])
    }
    return max(values, key=lambda key: values[key]) if values else None


def difference(
    draws: Mapping[Key, Draws],
    first: Mapping[Key, Draws],
    own: Key,
    other: Key,
    measure: str = "pearson",
) -> Array:
    """Of a correlation, on the candidates and on each draw; a method that ranks nothing has 0.

    ``draws`` and ``first`` are as in `Comparison`: where a side has the first deal alone, so has
    the other.
    """
    of = first if NETWORKS in (own[1], other[1]) else draws
    gap: Array = np.nan_to_num(of[own][measure]) - np.nan_to_num(of[other][measure])
    return gap


def p_value(gap: Array) -> float:
    """Two-sided bootstrap p of a difference, from its draws on the other side of 0.

    Where no draw is there, their number would be all that p tells. Then it is what a normal
    distribution with the spread of the draws has there, but never below `LEAST_P`.
    """
    drawn = gap[1:]
    other = min((drawn <= 0).sum(), (drawn >= 0).sum())
    p = float(min(1.0, 2 * (other + 1) / (len(drawn) + 1)))
    if other or len(drawn) < 2:
        return p
    spread = max(float(drawn.std(ddof=1)), abs(float(gap[0])) * 1e-9)
    return min(p, max(LEAST_P, float(2 * ndtr(-abs(gap[0]) / spread))))


def _predictions(
    rated: Rated, ways: Sequence[Sequence[Split]], found: Mapping[Key, Sequence[Prediction]]
) -> pd.DataFrame:
    names = list(dict.fromkeys(label(*key[1:]) for key in found))
    parts = []
    for split in (split for own in ways for split in own):
        row = rated.lines if len(rated.lines) else np.arange(1, len(rated) + 1)
        where = row, split.name, split.deal, split.fold, rated.quality
        part = pd.DataFrame(dict(zip(PLACES, where, strict=True)))
        own = {
            label(*key[1:]): made[split.deal].estimate
            for key, made in found.items()
            if key[0] == split.name and split.deal < len(made)
        }
        empty = np.full(len(rated), np.nan)
        part = part.assign(**{name: own.get(name, empty) for name in names})
        parts.append(part[split.inside])
    return pd.concat(parts, ignore_index=True)


def _systems(
    rated: Rated, splits: Sequence[Split], found: Mapping[Key, Sequence[Prediction]]
) -> pd.DataFrame:
    columns = ["split", "method", "kernel", "system", "n", "quality", "se", "estimate"]
    if rated.systems is None:
        return pd.DataFrame(columns=columns)
    names, wrote = rated.memberships()
    inside = {split.name: split.inside for split in splits}
    rows = []
    for (split, method, kernel), made in found.items():
        for k, name in enumerate(names):
            own = wrote[:, k] & inside[split]
            if own.sum() < 2:
                continue
            quality = rated.quality[own]
            # outside of the split in another deal
            estimates = np.concatenate([prediction.ranked[own] for prediction in made])
            rows.append(
                (
                    *(split, method, kernel, name, int(own.sum()), quality.mean()),
                    quality.std(ddof=1) / np.sqrt(own.sum()),
                    np.nanmean(estimates),
                )
            )
    return pd.DataFrame(rows, columns=columns)
