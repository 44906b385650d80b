"""Does `refless compare` say whom a score favours only where it does? Scores and ratings are
simulated whose bias is known: ``python -m benchmarks.favour``.

The true quality of all texts has variance 1, half of it between systems; r is a score's correlation
with it, ICC that of a single rating. A favour is in deviations of true quality. Stage: none.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from refless.evaluation.bias import LENGTH, SYSTEM, BiasTexts, BySplit, bias_table
from refless.evaluation.evaluate import LEVEL
from refless.evaluation.read import FOLDS, MOST_SYSTEMS
from refless.statistics.bootstrap import ResamplingUnits

Array = np.ndarray

BETWEEN = 0.5
"""Share of the variance of true quality that lies between systems."""
BY_LENGTH = 0.08
"""The same by length."""
BY_CONTEXT = 0.125
"""The same by context, where there are contexts."""
DEVIATION_OF_LENGTH = 7.0
"""Of the number of words, about."""


@dataclass(frozen=True)
class World:
    """What is simulated."""

    systems: int = 6
    texts: int = 600
    r: float = 0.5  # of score and true quality
    icc: float = 0.8  # of single ratings
    raters: int = 2  # of each text; 0: one to four
    pool: int = 0  # raters from whom those of a text are drawn; 0: the same rate all texts
    outputs: int = 0  # of each system for a context; 0: each text is alone
    whole: bool = False  # ratings from 1 to 5
    centre: float = 3.0  # of whole ratings
    judge: Literal["line", "whole", "saturates"] = "line"
    favour: float = 0.0  # of the first system
    slope: float = 0.0  # by deviation of length
    uneven: bool = False  # the first systems have fewer texts


class Simulated(NamedTuple):
    texts: BiasTexts
    score: Array
    folds: BySplit


def simulate(world: World, generator: np.random.Generator) -> Simulated:
    """Ratings and one score."""
    k = world.systems
    n = world.texts
    system = np.tile(np.arange(k), n // k)
    if world.uneven:
        share = np.linspace(1, 5, k)
        system = np.repeat(np.arange(k), np.round(n * share / share.sum()).astype(int))
    n = len(system)
    context = np.arange(n) // (k * world.outputs) if world.outputs else np.arange(n)
    # systems stand still, so that the truth is one; the first is at an end, the longest is not
    means = np.linspace(-1, 1, k)
    means *= (BETWEEN**0.5) / means.std()
    wordy = 0.2 * np.cos(3 * np.arange(k))
    words = np.maximum(3, np.round(np.exp(2.8 + 0.4 * generator.normal(size=n) + wordy[system])))
    length = (words - 17.8) / DEVIATION_OF_LENGTH
    of_context = generator.normal(size=n)[context]
    by_context = BY_CONTEXT if world.outputs else 0.0
    rest = 1 - BETWEEN - BY_LENGTH - by_context
    quality = means[system] + BY_LENGTH**0.5 * length + by_context**0.5 * of_context
    quality = quality + rest**0.5 * generator.normal(size=n)
    noise = generator.normal(size=n)
    if world.outputs:  # a judge has moods, too
        noise = 0.9 * noise + 0.19**0.5 * generator.normal(size=n)[context]
    noise *= (1 / world.r**2 - 1) ** 0.5
    impression = quality + world.favour * (system == 0) + world.slope * length
    if world.judge == "saturates":
        score = np.tanh(impression) + noise
    elif world.judge == "whole":
        score = np.clip(np.round(3.5 + world.r * (impression + noise)), 1, 5)
    else:
        score = 10 + 0.3 * (impression + noise)
    ratings = rate(world, quality, generator)
    mean = ratings.groupby("text")["quality"].mean().to_numpy()
    texts = BiasTexts(
        quality=mean,
        units=ResamplingUnits(context),
        words=words,
        punctuation=generator.binomial(60, 0.04, n) / 60,
        system=np.array([f"system {number:02}" for number in range(k)])[system],
        ratings=ratings,
    )
    of_text = context % FOLDS if world.outputs else generator.permutation(n) % FOLDS
    of_system = system if k <= MOST_SYSTEMS else system % FOLDS
    return Simulated(texts, score, BySplit(of_text, of_system))


def rate(world: World, quality: Array, generator: np.random.Generator) -> pd.DataFrame:
    """Single ratings of texts of a true quality, (n,)."""
    n = len(quality)
    number = np.full(n, world.raters) if world.raters else generator.integers(1, 5, n)
    text = np.repeat(np.arange(n), number)
    turn = np.arange(len(text)) - np.repeat(np.cumsum(number) - number, number)
    if world.pool:
        order = np.argsort(generator.random((n, world.pool)), axis=1)
        rater = order[text, turn]
        severity = 0.3 * generator.normal(size=world.pool)
    else:
        rater = turn
        severity = np.array([0.3, -0.3, 0.0, 0.1, -0.2])
    noise = (1 / world.icc - 1) ** 0.5 * generator.normal(size=len(text))
    value = quality[text] + severity[rater] * (world.icc < 1) + noise
    if world.whole:
        value = np.clip(np.round(world.centre + value), 1, 5)
    return pd.DataFrame({"text": text, "rater": rater, "quality": value})


# ---- cases ---------------------------------------------------------------------------------------


class Bounds(NamedTuple):
    shown: float | None = None  # any line, at most
    found: float | None = None  # the planted line, at least
    covers: float | None = 0.92  # of intervals, at least


NULL = Bounds(shown=LEVEL)
RECORDED = Bounds(covers=None)


Case = tuple[str, World, Bounds]


def cases() -> Iterator[Case]:
    yield from impartial()
    yield from other_ratings()
    yield from planted()


def impartial() -> Iterator[Case]:
    for systems in (6, 12):
        for r in (0.3, 0.5, 0.8):
            for icc in (0.5, 0.8, 1.0):
                name = f"impartial, {systems} systems, r {r}, ICC {icc}"
                yield name, World(systems, r=r, icc=icc), NULL
        for r in (0.5, 0.8):
            for icc in (0.5, 0.8, 1.0):
                world = World(systems, r=r, icc=icc, outputs=1)
                yield f"impartial, contexts, {systems} systems, r {r}, ICC {icc}", world, NULL
                world = World(systems, r=r, icc=icc, whole=True)
                yield f"impartial, whole ratings, {systems} systems, r {r}, ICC {icc}", world, NULL
        world = World(systems, r=0.8, whole=True, judge="whole")
        yield f"impartial, whole ratings and scores, {systems} systems, r 0.8", world, NULL


def other_ratings() -> Iterator[Case]:
    """Impartial judges, and ratings of other kinds and numbers."""
    for pool in (6, 40, 300):
        name = f"impartial, two of {pool} raters, r 0.8, ICC 0.5"
        yield name, World(r=0.8, icc=0.5, pool=pool), NULL
    name = "impartial, one to four ratings, r 0.8, ICC 0.5"
    yield name, World(r=0.8, icc=0.5, raters=0), NULL
    yield "impartial, five raters, r 0.8, ICC 0.3", World(r=0.8, icc=0.3, raters=5), NULL
    yield "impartial, r 0.8, ICC 0.3", World(r=0.8, icc=0.3), NULL
    yield "impartial, 180 texts, r 0.5", World(texts=180), NULL
    yield "impartial, 180 texts, r 0.8, ICC 0.5", World(texts=180, r=0.8, icc=0.5), NULL
    yield "impartial, 2400 texts, r 0.8, ICC 0.5", World(texts=2400, r=0.8, icc=0.5), NULL
    yield "impartial, two systems, r 0.8", World(systems=2, r=0.8), NULL
    yield "impartial, systems of 33 to 167 texts, r 0.8", World(r=0.8, uneven=True), NULL
    for contexts in (12, 20):
        world = World(texts=contexts * 30, r=0.8, outputs=5)
        yield f"impartial, {contexts} contexts of 30, r 0.8", world, NULL
    name = "impartial, saturates, r 0.8"
    yield name, World(r=0.8, judge="saturates"), NULL
    for r in (0.5, 0.8):
        world = World(r=r, whole=True, centre=4.3)
        yield f"impartial, whole ratings, half of them the highest, r {r}", world, RECORDED
    world = World(r=0.8, icc=0.5, raters=1)
    yield "impartial, nobody rated twice, r 0.8, ICC 0.5", world, RECORDED


def planted() -> Iterator[Case]:
    for r in (0.5, 0.6, 0.7, 0.8):
        for icc in (0.5, 0.8):
            bound = 0.8 if (r, icc) == (0.8, 0.8) else None
            name = f"half a deviation for one system, r {r}, ICC {icc}"
            yield name, World(r=r, icc=icc, favour=0.5), Bounds(found=bound)
            name = f"half a deviation by length, r {r}, ICC {icc}"
            yield name, World(r=r, icc=icc, slope=0.5), Bounds(found=bound)
    world = World(r=0.8, favour=0.5, outputs=1)
    yield "half a deviation for one system, contexts, r 0.8", world, Bounds(found=0.8)
    world = World(texts=1800, r=0.6, favour=0.5)
    yield "half a deviation for one system, 1800 texts, r 0.6", world, Bounds(found=0.8)
    world = World(12, r=0.8, favour=0.5)
    yield "half a deviation for one of 12 systems, r 0.8", world, Bounds(found=None)
    world = World(12, texts=1200, r=0.8, favour=0.5)
    yield "half a deviation for one of 12 systems, 1200 texts, r 0.8", world, Bounds(found=0.8)
    yield "a fifth of a deviation by length, r 0.8", World(r=0.8, slope=0.2), Bounds()


# ---- what is counted -----------------------------------------------------------------------------

QUANTITIES = ("favour", "error", "error_left_out")


def replicate(name: str, world: World, seed: int) -> pd.DataFrame:
    """The table of one data set of a case."""
    simulated = simulate(world, np.random.default_rng([seed, *name.encode()]))
    return bias_table(simulated.texts, {"score": simulated.score}, simulated.folds)


def truth(world: World, rows: pd.DataFrame) -> Array:
    """The planted favour of each row."""
    values = np.zeros(len(rows))
    systems = (rows["kind"] == SYSTEM).to_numpy()
    values[systems] -= world.favour / world.systems
    values[0] += world.favour
    values[(rows["kind"] == LENGTH).to_numpy()] = world.slope * 10 / DEVIATION_OF_LENGTH
    return values


def mean_and_error(values: Array) -> str:
    """The mean of one number a data set, with its Monte Carlo error."""
    error = max(float(values.std()) / len(values) ** 0.5, 0.5 / len(values))
    return f"{values.mean():.3f} ± {error:.3f}"


def misses(values: Array, bound: float | None, least: bool) -> bool:
    """Whether a mean is beyond a bound by more than two Monte Carlo errors."""
    if bound is None:
        return False
    error = max(float(values.std()) / len(values) ** 0.5, 0.5 / len(values))
    beyond = bound - values.mean() if least else values.mean() - bound
    return bool(beyond > 2 * error)


def report(name: str, world: World, bounds: Bounds, tables: Sequence[pd.DataFrame]) -> str:
    """A line: what was observed, with Monte Carlo errors, and whether it holds."""
    favours = truth(world, tables[0])
    corrected = np.array([table["p_holm"] for table in tables], np.float64)
    significant: Array = corrected < LEVEL
    any_line = np.asarray(significant.any(axis=1))
    numbers = [f"any line {mean_and_error(any_line)}"]
    missed = misses(any_line, bounds.shown, least=False)
    if favours.any():
        planted_line = significant[:, 0 if world.favour else world.systems]
        numbers.append(f"the planted one {mean_and_error(planted_line)}")
        missed = missed or misses(planted_line, bounds.found, least=True)
    for quantity in QUANTITIES:
        columns = [quantity, f"{quantity}_low", f"{quantity}_high"]
        value, low, high = np.moveaxis(np.array([table[columns] for table in tables], float), 2, 0)
        true = favours
        if quantity != "favour":
            some = ~np.isnan(value).all(axis=0)
            value = value[:, some]
            low = low[:, some]
            high = high[:, some]
            true = value.mean(axis=0)
        else:
            numbers.append(f"no favour {np.isnan(low).mean():.2f}")
        estimated = ~np.isnan(low)
        covered = np.where(estimated, (low <= true) & (true <= high), np.nan)
        covers = np.nanmean(covered[estimated.any(axis=1)], axis=1)
        worst = np.nanmean(covered, axis=0).min()
        numbers.append(f"{quantity} covers {mean_and_error(covers)} (worst {worst:.3f})")
        missed = missed or misses(covers, bounds.covers, least=True)
    outcome = "missed" if missed else "recorded" if bounds == RECORDED else "holds"
    return f"{outcome:8} {name}: " + "; ".join(numbers)


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--case", action="append", help="part of a name; may be given several times")
options.add_argument("--number", type=int, default=300, help="replications of each case")


def main(arguments: argparse.Namespace) -> None:
    begin = time.perf_counter()
    with threadpool_limits(1):
        for name, world, bounds in cases():
            if any(part in name for part in arguments.case or [""]):
                tables = [replicate(name, world, seed) for seed in range(arguments.number)]
                print(report(name, world, bounds, tables), flush=True)
    print(f"{time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main(options.parse_args())
