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
MEAN_LENGTH = 17.8
"""The mean number of words of a text, about."""
DEVIATION_OF_LENGTH = 7.0
"""The standard deviation of the number of words, about."""


@dataclass(frozen=True)
class World:
    """What is simulated: texts, their ratings, and a judge that scores them.

    systems, texts : their numbers
    r : correlation of the score and true quality
    icc : ICC of single ratings
    raters : the number of raters of each text; 0: one to four
    pool : the number of raters from whom those of a text are drawn; 0: the same rate all texts
    outputs : the number of outputs of each system for a context; 0: each text is alone
    whole, centre : ratings are whole numbers from 1 to 5, whose centre this is
    judge : the score is linear in what the judge sees; or it is, from 1 to 5, a whole number; or it
        saturates at both ends
    favour : what the first system gets, in deviations of true quality
    slope : what a text gets for each deviation of length, in deviations of true quality
    uneven : the first systems have fewer texts
    """

    systems: int = 6
    texts: int = 600
    r: float = 0.5
    icc: float = 0.8
    raters: int = 2
    pool: int = 0
    outputs: int = 0
    whole: bool = False
    centre: float = 3.0
    judge: Literal["line", "whole", "saturates"] = "line"
    favour: float = 0.0
    slope: float = 0.0
    uneven: bool = False


class Simulated(NamedTuple):
    """The texts of one data set with their ratings, the score of each, and the folds."""

    texts: BiasTexts
    score: Array
    folds: BySplit


def simulate(world: World, generator: np.random.Generator) -> Simulated:
    """Return a data set of a world: its texts, their ratings and one score."""
    texts = write_texts(world, generator)
    quality = true_quality(world, texts, generator)
    score = judge(world, texts, quality, generator)
    ratings = rate(world, quality, generator)
    n = len(texts.system)
    names = np.array([f"system {number:02}" for number in range(world.systems)])
    rated = BiasTexts(
        quality=ratings.groupby("text")["quality"].mean().to_numpy(),
        units=ResamplingUnits(texts.context),
        words=texts.words,
        punctuation=generator.binomial(60, 0.04, n) / 60,
        system=names[texts.system],
        ratings=ratings,
    )
    of_text = texts.context % FOLDS if world.outputs else generator.permutation(n) % FOLDS
    of_system = texts.system if world.systems <= MOST_SYSTEMS else texts.system % FOLDS
    return Simulated(rated, score, BySplit(of_text, of_system))


class WrittenTexts(NamedTuple):
    """Texts before they are rated, (n,) each.

    system : the number of the system that wrote a text
    context : the number of its context; where each text is alone, its own number
    words : its number of words
    length : this number in deviations from `MEAN_LENGTH`
    """

    system: Array
    context: Array
    words: Array
    length: Array


def write_texts(world: World, generator: np.random.Generator) -> WrittenTexts:
    """Return the texts of a world. Some systems write longer texts than others, on each data set
    the same, and neither the best nor the worst writes the longest."""
    k = world.systems
    system = np.tile(np.arange(k), world.texts // k)
    if world.uneven:
        share = np.linspace(1, 5, k)
        numbers = np.round(world.texts * share / share.sum()).astype(int)
        system = np.repeat(np.arange(k), numbers)
    n = len(system)
    context = np.arange(n) // (k * world.outputs) if world.outputs else np.arange(n)
    wordy = 0.2 * np.cos(3 * np.arange(k))
    words = np.maximum(3, np.round(np.exp(2.8 + 0.4 * generator.normal(size=n) + wordy[system])))
    return WrittenTexts(system, context, words, (words - MEAN_LENGTH) / DEVIATION_OF_LENGTH)


def true_quality(world: World, texts: WrittenTexts, generator: np.random.Generator) -> Array:
    """Return the true quality of each text, float64 (n,), of variance 1."""
    n = len(texts.system)
    # systems stand still, so that the truth is one; the first is at an end
    means = np.linspace(-1, 1, world.systems)
    means *= (BETWEEN**0.5) / means.std()
    of_context = generator.normal(size=n)[texts.context]
    by_context = BY_CONTEXT if world.outputs else 0.0
    rest = 1 - BETWEEN - BY_LENGTH - by_context
    quality = means[texts.system] + BY_LENGTH**0.5 * texts.length + by_context**0.5 * of_context
    return quality + rest**0.5 * generator.normal(size=n)


def judge(
    world: World, texts: WrittenTexts, quality: Array, generator: np.random.Generator
) -> Array:
    """Return the score of each text, float64 (n,): its true quality, what the judge favours, and
    noise, on the judge's own scale."""
    n = len(quality)
    noise = generator.normal(size=n)
    if world.outputs:  # a judge has moods, too
        noise = 0.9 * noise + 0.19**0.5 * generator.normal(size=n)[texts.context]
    noise *= (1 / world.r**2 - 1) ** 0.5
    impression = quality + world.favour * (texts.system == 0) + world.slope * texts.length
    if world.judge == "saturates":
        return np.tanh(impression) + noise
    if world.judge == "whole":
        return np.clip(np.round(3.5 + world.r * (impression + noise)), 1, 5)
    return 10 + 0.3 * (impression + noise)


def rate(world: World, quality: Array, generator: np.random.Generator) -> pd.DataFrame:
    """Return single ratings of texts of a true quality, (n,), each with the numbers of its text and
    of its rater."""
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
    """What must hold in a case, as shares of data sets; None: nothing.

    shown : any line is significant, in this share at most
    found : the planted line is significant, in this share at least
    covers : intervals have the truth, in this share at least
    """

    shown: float | None = None
    found: float | None = None
    covers: float | None = 0.92


NULL = Bounds(shown=LEVEL)
RECORDED = Bounds(covers=None)


Case = tuple[str, World, Bounds]


def cases() -> Iterator[Case]:
    """Yield the name of each case, its world and its bounds."""
    yield from impartial()
    yield from other_ratings()
    yield from planted()


def impartial() -> Iterator[Case]:
    """Yield cases of judges that favour nobody, and two ratings of each text."""
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
    """Yield cases of judges that favour nobody, and ratings of other kinds and numbers."""
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
    """Yield cases of judges that favour the first system, or long texts."""
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
    """Return the table of `bias_table` of one data set of a case."""
    simulated = simulate(world, np.random.default_rng([seed, *name.encode()]))
    return bias_table(simulated.texts, {"score": simulated.score}, simulated.folds)


def truth(world: World, rows: pd.DataFrame) -> Array:
    """Return the planted favour of each row of a table, (rows,)."""
    values = np.zeros(len(rows))
    systems = (rows["kind"] == SYSTEM).to_numpy()
    values[systems] -= world.favour / world.systems
    values[0] += world.favour
    values[(rows["kind"] == LENGTH).to_numpy()] = world.slope * 10 / DEVIATION_OF_LENGTH
    return values


def mean_and_error(values: Array) -> str:
    """Return the mean of one number a data set, (data sets,), with its Monte Carlo error."""
    return f"{values.mean():.3f} ± {monte_carlo_error(values):.3f}"


def monte_carlo_error(values: Array) -> float:
    """Return the standard error of a mean over n data sets, (n,), and 0.5 / n at least, since a
    share of 0 or 1 has none."""
    return max(float(values.std()) / len(values) ** 0.5, 0.5 / len(values))


def misses(values: Array, bound: float | None, least: bool) -> bool:
    """Return whether a mean over data sets, (data sets,), is beyond a bound by more than two Monte
    Carlo errors: below it if it should be the ``least``, else above it."""
    if bound is None:
        return False
    beyond = bound - values.mean() if least else values.mean() - bound
    return bool(beyond > 2 * monte_carlo_error(values))


def report(name: str, world: World, bounds: Bounds, tables: Sequence[pd.DataFrame]) -> str:
    """Return a line on a case: what was observed, with Monte Carlo errors, and whether it holds.

    tables : by `replicate`
    """
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
    without_favour = np.isnan(np.array([table["favour_low"] for table in tables], float))
    numbers.append(f"no favour {without_favour.mean():.2f}")
    for quantity in QUANTITIES:
        covers, worst = coverage(quantity, tables, favours)
        numbers.append(f"{quantity} covers {mean_and_error(covers)} (worst {worst:.3f})")
        missed = missed or misses(covers, bounds.covers, least=True)
    outcome = "recorded" if bounds == RECORDED else "holds"
    if missed:
        outcome = "missed"
    return f"{outcome:8} {name}: " + "; ".join(numbers)


def coverage(quantity: str, tables: Sequence[pd.DataFrame], favours: Array) -> tuple[Array, float]:
    """Return in what share of lines the interval of a quantity has the truth, of each data set that
    has intervals, (data sets,), and the lowest share of data sets, over lines.

    quantity : one of `QUANTITIES`; the truth of ``favour`` is what is planted, and that of an error
        its mean over all data sets
    favours : what is planted, (lines,)
    """
    columns = [quantity, f"{quantity}_low", f"{quantity}_high"]
    estimates = np.array([table[columns] for table in tables], float)
    if quantity == "favour":
        true = favours
    else:
        estimates = estimates[:, ~np.isnan(estimates[:, :, 0]).all(axis=0)]
        true = estimates[:, :, 0].mean(axis=0)
    low = estimates[:, :, 1]
    high = estimates[:, :, 2]
    estimated = ~np.isnan(low)
    covered = np.where(estimated, (low <= true) & (true <= high), np.nan)
    of_data_sets = np.nanmean(covered[estimated.any(axis=1)], axis=1)
    return of_data_sets, float(np.nanmean(covered, axis=0).min())


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
