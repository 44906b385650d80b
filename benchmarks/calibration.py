"""Do verdicts and intervals hold what they promise? Ratings are simulated whose truth is known, and
what `refless compare` says of them is counted: ``python -m benchmarks.calibration``.

What was simulated is kept in a file with the sum of the code that made it, so that a run goes on
where it stopped, and results of other code are made again. Stage: none.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from threadpoolctl import threadpool_limits

from refless import estimate
from refless.code_sums import code_sum
from refless.evaluation.decisions import decide_split
from refless.evaluation.differences import difference
from refless.evaluation.evaluate import (
    Comparison,
    ComparisonSettings,
    compare,
    estimate_splits,
)
from refless.evaluation.measures import mean_with_spread, measure
from refless.evaluation.pairs import pair_table
from refless.evaluation.read import Rated, all_splits
from refless.evaluation.replacement import replacement_table, replacing
from refless.methods import NEIGHBORS, RIDGE
from refless.methods import method as method_of
from refless.statistics import interval

Array = np.ndarray

VOCABULARY = 400
"""The number of words, which are drawn by Zipf's law."""
TOPIC_WORDS = 40
"""How many of them belong to a topic, where there are topics."""
DRAWS = 1000
FEWEST_VALUES = 3
"""Estimates without which nothing is said of their deviation."""
CODE = (
    Path(__file__).resolve(),
    "evaluation/decisions.py",
    "evaluation/pairs.py",
    "evaluation/replacement.py",
    "evaluation/evaluate.py",
    "evaluation/estimate_means.py",
)
"""What results are made by."""


@cache
def vocabulary() -> tuple[Array, Array]:
    """Words of 3 to 8 letters, and the weight of each in a signal."""
    generator = np.random.default_rng(0)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    words = [
        "".join(generator.choice(letters, generator.integers(3, 9))) for _ in range(VOCABULARY)
    ]
    return np.array(words), generator.normal(size=VOCABULARY)


@dataclass
class Texts:
    """Simulated texts: everything has one entry a text, (n,)."""

    texts: list[str]
    signal: Array  # of their words, standardised
    words: Array  # their number
    system: Array
    context: Array

    def rated(self, quality: Array, **scores: Array) -> Rated:
        n = len(self.texts)
        unit = (quality - quality.min()) / np.ptp(quality)
        return Rated(
            texts=self.texts,
            quality=unit,
            text_id=np.unique(self.texts, return_inverse=True)[1],
            system=self.system if self.system.any() else None,
            prompts=[f"context {number}" for number in self.context],
            context=self.context,
            context_group=self.context,
            scores={f"score_{name}": values for name, values in scores.items()},
            rows=np.arange(n) + 1,
        )


def simulate(generator: np.random.Generator, contexts: int, systems: int, topics: int = 0) -> Texts:
    """Texts of 5 to 20 words, one of each system for each context. With ``topics``, each context
    has one of so many, and texts of a topic share words."""
    words, weights = vocabulary()
    share = 1 / np.arange(1, VOCABULARY + 1)
    system = np.tile(np.arange(systems), contexts)
    context = np.repeat(np.arange(contexts), systems)
    lists = topics or contexts
    favourites = [generator.choice(VOCABULARY, TOPIC_WORDS, replace=False) for _ in range(lists)]
    number = generator.integers(5, 21, contexts * systems)
    rows = []
    for text, length in enumerate(number):
        chances = share.copy()
        if topics:
            chances[favourites[context[text] % topics]] *= 20
        rows.append(generator.choice(VOCABULARY, length, p=chances / chances.sum()))
    signal = np.array([weights[row].mean() for row in rows])
    return Texts(
        texts=[" ".join(words[row]) for row in rows],
        signal=(signal - signal.mean()) / signal.std(),
        words=number,
        system=system,
        context=context,
    )


# ---- quality without a signal --------------------------------------------------------------------

Quality = Callable[[np.random.Generator, Texts], Array]


def effect(generator: np.random.Generator, group: Array) -> Array:
    """A normal effect of each group."""
    return generator.normal(size=int(group.max()) + 1)[group]


def noise(generator: np.random.Generator, texts: Texts) -> Array:
    return generator.normal(size=len(texts.texts))


def standard(values: Array) -> Array:
    return (values - values.mean()) / values.std()


def u_shape(texts: Texts) -> Array:
    return standard((texts.words - 12.5) ** 2)


def same_text(generator: np.random.Generator, texts: Texts) -> Array:
    """The first system always writes what it wrote first."""
    for row in np.flatnonzero(texts.system == 0):
        texts.texts[row] = texts.texts[0]
        texts.words[row] = texts.words[0]
    return effect(generator, texts.system) + standard(texts.words) + noise(generator, texts)


def capitals(generator: np.random.Generator, texts: Texts) -> Array:
    """Each system writes some words in capitals, its raters like them more or less."""
    share = generator.uniform(0, 0.4, int(texts.system.max()) + 1)[texts.system]
    number = generator.binomial(texts.words, share)
    for row, text in enumerate(texts.texts):
        words = text.split()
        for place in generator.choice(len(words), number[row], replace=False):
            words[place] = words[place].upper()
        texts.texts[row] = " ".join(words)
    liking = effect(generator, texts.system)
    return (
        effect(generator, texts.system)
        + liking * standard(number / texts.words)
        + noise(generator, texts)
    )


def one_heavy_context(generator: np.random.Generator, texts: Texts) -> Array:
    """Half of the texts are of one context, and the others of ten."""
    half = len(texts.texts) // 2
    rest = np.arange(len(texts.texts) - half) * 10 // (len(texts.texts) - half)
    texts.context = np.append(np.zeros(half, np.int64), 1 + rest)
    return (
        effect(generator, texts.system) + effect(generator, texts.context) + noise(generator, texts)
    )


WORDY = "system + context + length, contexts with words"
TOPICS = "four topics with words of their own"
NULLS: dict[str, Quality] = {
    "nothing": noise,
    "system + context": lambda g, t: effect(g, t.system) + effect(g, t.context) + noise(g, t),
    "length": lambda g, t: standard(t.words) + noise(g, t),
    "length, U-shaped": lambda g, t: u_shape(t) + noise(g, t),
    "length in steps": lambda g, t: (
        standard(np.searchsorted([7, 11, 14, 16], t.words) % 2) + noise(g, t)
    ),
    "system + length": lambda g, t: effect(g, t.system) + standard(t.words) + noise(g, t),
    "system x length": lambda g, t: (
        effect(g, t.system) + effect(g, t.system) * standard(t.words) + noise(g, t)
    ),
    "capitals by system": capitals,
    WORDY: lambda g, t: (
        effect(g, t.system) + effect(g, t.context) + standard(t.words) + noise(g, t)
    ),
    TOPICS: lambda g, t: effect(g, t.context % 4) + noise(g, t),
    "one of 11 contexts has half the texts": one_heavy_context,
    "a system that writes one text": same_text,
}
NUMBERS_OF_TOPICS = {WORDY: (133, 133), TOPICS: (48, 4)}
"""Contexts and topics of texts that have topics."""


def null(seed: int, name: str) -> dict[str, Any]:
    """Whether a method is shown to be ahead under any split."""
    generator = np.random.default_rng(seed)
    contexts, topics = NUMBERS_OF_TOPICS.get(name, (50, 0))
    texts = simulate(generator, contexts, 6, topics)
    quality = NULLS[name](generator, texts)
    return {"hit": any(shown_by_split(texts.rated(quality), seed).values())}


def knows_the_system(seed: int, systems: int) -> dict[str, Any]:
    """Whether a score that knows a text's system and nothing else is shown, or any method; systems
    have five texts."""
    generator = np.random.default_rng(seed)
    texts = simulate(generator, 5, systems)
    texts.context = np.arange(len(texts.texts))
    worth = effect(generator, texts.system)
    quality = worth + noise(generator, texts)
    rated = texts.rated(quality, judge=worth + 0.1 * noise(generator, texts))
    return {"hit": any(shown_by_split(rated, seed).values())}


def power(seed: int, n: int) -> dict[str, Any]:
    """Whether a signal of r 0.5 is shown on new texts."""
    generator = np.random.default_rng(seed)
    texts = simulate(generator, contexts=n // 6, systems=6)
    quality = 0.5 * texts.signal + 0.75**0.5 * noise(generator, texts)
    return {"hit": shown_by_split(texts.rated(quality), seed)["texts"]}


def compared(rated: Rated, seed: int, *kernels: str) -> Comparison:
    """What `refless compare` computes, without repeats."""
    options: dict[str, dict[str, Any]] = {name: {} for name in kernels}
    return compare(rated, ComparisonSettings(options, DRAWS, seed=seed, repeats=1, threads=1))


def shown_by_split(rated: Rated, seed: int) -> dict[str, bool]:
    """The verdict of `refless compare` on each split."""
    comparison = compared(rated, seed, "bleu.char")
    return {name: decide_split(comparison, name).shown for name in comparison.splits}


# ---- intervals -----------------------------------------------------------------------------------


def gap(seed: int, a: str, b: str, n: int = 300) -> dict[str, Any]:
    """By how much r of one method is above that of another, with its interval, where ratings have a
    signal, length counts, and a score of r 0.5 is given."""
    generator = np.random.default_rng(seed)
    texts = simulate(generator, contexts=n // 6, systems=6)
    quality = 0.5 * texts.signal + 0.4 * standard(texts.words) + noise(generator, texts)
    score = 0.5 * standard(quality) + 0.75**0.5 * noise(generator, texts)
    comparison = compared(texts.rated(quality, judge=score), seed, "bleu.char")
    rows = [next(row for row in comparison.draws if row[:2] == ("texts", name)) for name in (a, b)]
    first, second = comparison.fixed_draws(rows)
    draws = difference(first, second, comparison.spread("texts"))
    low, high = interval(draws[1:])
    return {"value": float(draws[0]), "low": low, "high": high}


def row(method: str, rated: Rated, split: str, seed: int) -> dict[str, Any]:
    """r of one method with its interval."""
    name = "pearson_by_system" if split == "systems" else "pearson"
    splits = {split: all_splits(rated, seed)[split]}
    kernel = "bleu.char" if method == NEIGHBORS else ""
    settings = ComparisonSettings({"bleu.char": {}}, threads=1)
    (estimates,) = estimate_splits(method, kernel, rated, splits, settings)[split]
    score = rated.scores.get(method)
    values = measure(estimates, rated, splits[split][0], DRAWS, seed, score)
    folds = splits[split][0].folds
    draws = mean_with_spread([values], rated, folds, seed, method_of(method).learns)[name]
    low, high = interval(draws[1:])
    return {"value": float(draws[0]), "low": low, "high": high}


def learned(
    seed: int, method: str, n: int, split: str = "texts", systems: int = 6
) -> dict[str, Any]:
    """r of a method with its interval, where a fifth of the variance is a signal."""
    generator = np.random.default_rng(seed)
    texts = simulate(generator, contexts=n // systems, systems=systems)
    rated = texts.rated(0.5 * texts.signal + noise(generator, texts))
    return row(method, rated, split, seed)


def new_systems(seed: int, systems: int, deviation: float, mean: float = 0.3) -> dict[str, Any]:
    """The mean r of a given score within systems whose own r differ."""
    generator = np.random.default_rng(seed)
    texts = simulate(generator, contexts=50, systems=systems)
    r = np.clip(generator.normal(mean, deviation, systems), -0.95, 0.95)[texts.system]
    quality = noise(generator, texts)
    score = r * quality + (1 - r**2) ** 0.5 * noise(generator, texts)
    return row("score_judge", texts.rated(quality, judge=score), "systems", seed)


def few_contexts(seed: int, contexts: int, one_heavy: bool = False) -> dict[str, Any]:
    """r of a useless score that hangs on the context, as a part of quality does. If ``one_heavy``,
    one more context has as many texts as the others together."""
    generator = np.random.default_rng(seed)
    texts = simulate(generator, contexts * (2 if one_heavy else 1), systems=15)
    texts.context = np.minimum(texts.context, contexts)
    quality = effect(generator, texts.context) + noise(generator, texts)
    score = effect(generator, texts.context) + noise(generator, texts)
    return row("score_judge", texts.rated(quality, judge=score), "texts", seed)


# ---- decisions -----------------------------------------------------------------------------------


def pairs(seed: int, scores: int, r: float) -> dict[str, Any]:
    """Whether one of scores of equal worth is said to be better than another, or with ``r`` 0, any
    method than any other."""
    generator = np.random.default_rng(seed)
    texts = simulate(generator, contexts=50, systems=6)
    quality = noise(generator, texts)
    values = {
        f"{k}": r * quality + (1 - r**2) ** 0.5 * noise(generator, texts) for k in range(scores)
    }
    rated = texts.rated(quality, **values)
    table = pair_table(rated, compared(rated, seed))
    if r:
        table = table[table["a"].isin(rated.scores) & table["b"].isin(rated.scores)]
    return {"hit": bool((table["p_holm"] < 0.05).any())}


def replacement(seed: int, icc: float, whole: bool = False) -> dict[str, Any]:
    """Whether methods that are about constant may replace one of five raters, whose ratings have
    nothing to do with what a text says; ``whole`` ones are 1 to 5, most of them 5."""
    generator = np.random.default_rng(seed)
    texts = simulate(generator, contexts=25, systems=4)
    n = len(texts.texts)
    ratings = icc**0.5 * generator.normal(size=(n, 1))
    ratings = ratings + (1 - icc) ** 0.5 * generator.normal(size=(n, 5))
    flat = ratings.mean() + 0.01 * generator.normal(size=n)
    if whole:
        ratings = np.clip(np.round(5 + ratings), 1, 5)
        flat = 5.0 - (generator.random(n) < 0.03)
    quality = ratings.mean(axis=1)
    single = [(text, rater, ratings[text, rater]) for text in range(n) for rater in range(5)]
    rated = replace(
        texts.rated(quality, flat=flat),
        scale=(quality.min(), quality.max()),
        ratings=pd.DataFrame(single, columns=["text", "rater", "quality"]),
    )
    table, _ = replacement_table(rated, compared(rated, seed), epsilon=0.2)
    return {"hit": bool(replacing(table).any())}


def mean_of(seed: int, ratings: int, outputs: int, r: float) -> dict[str, Any]:
    """The mean of texts of which some are rated, with predictions from a score of correlation
    ``r``; contexts of ``outputs`` are rated whole. And the same of ratings alone."""
    generator = np.random.default_rng(seed)
    n = 10 * ratings
    context = np.arange(n) // outputs
    quality = generator.normal(size=n)
    if outputs > 1:
        quality = 0.6 * effect(generator, context) + 0.8 * quality
    score = 10 * (r * quality + (1 - r**2) ** 0.5 * generator.normal(size=n))
    texts = pd.DataFrame({"text": [f"text {k}" for k in range(n)], "score_judge": score})
    texts["context"] = [f"context {k}" for k in context]
    rated = texts[:ratings].assign(quality=quality[:ratings])
    table = estimate(rated, texts, method="score_judge", seed=seed).table.iloc[0]
    low = table["mean_low"]
    high = table["mean_high"]
    alone = table["rated_mean_high"] - table["rated_mean_low"]
    return {"value": table["mean"], "low": low, "high": high, "wider": (high - low) / alone}


def mean_with_one_heavy_context(seed: int, share: float) -> dict[str, Any]:
    """The mean of texts of 11 contexts, of which one has half the texts, and contexts have a share
    of the variance in common; 80 are rated. A score of r 0.7 helps."""
    generator = np.random.default_rng(seed)
    context = np.repeat(np.arange(11), [100] + [10] * 10)

    def numbers() -> Array:
        own = generator.normal(size=len(context))
        return share**0.5 * effect(generator, context) + (1 - share) ** 0.5 * own

    quality = numbers()
    texts = pd.DataFrame({"text": [f"text {k}" for k in range(len(context))]})
    texts["context"] = [f"context {k}" for k in context]
    texts["score_judge"] = 0.7 * quality + 0.51**0.5 * numbers()
    rows = generator.permutation(len(context))[:80]
    return mean_of_rated(texts, quality, rows, seed)


def mean_of_two_systems(seed: int, few: int) -> dict[str, Any]:
    """The mean of all texts of two systems, of which one has few ratings, and the other 40."""
    generator = np.random.default_rng(seed)
    texts = pd.DataFrame({"text": [f"text {k}" for k in range(200)]})
    texts["system"] = np.repeat(["a", "b"], 100)
    quality = generator.normal(size=200)
    texts["score_judge"] = 0.7 * quality + 0.51**0.5 * generator.normal(size=200)
    return mean_of_rated(texts, quality, np.append(np.arange(40), 100 + np.arange(few)), seed)


def mean_of_rated(texts: pd.DataFrame, quality: Array, rows: Array, seed: int) -> dict[str, Any]:
    """The mean of all texts, if some rows are rated."""
    rated = texts.iloc[rows].assign(quality=quality[rows])
    table = estimate(rated, texts, method="score_judge", seed=seed).table.iloc[0]
    return {"value": table["mean"], "low": table["mean_low"], "high": table["mean_high"]}


# ---- cases ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """What is simulated, how often, and the bound that it is held to."""

    replication: Callable[[int], dict[str, Any]]  # of a seed
    number: int  # of replications
    measure: str  # shown (at most), power (at least), coverage (at least)
    bound: float | None
    truth: float | None = field(default=None, kw_only=True)  # None: the mean of the estimates
    # standard error over the deviation of the estimates, at most
    widest: float | None = field(default=None, kw_only=True)


def cases() -> Iterator[tuple[str, Case]]:
    for name in NULLS:
        bound = None if name == TOPICS else 0.05
        yield f"null: {name}", Case(partial(null, name=name), 400, "shown", bound)
    for systems in (20, 60):
        simulated = partial(knows_the_system, systems=systems)
        yield f"null: a score knows the system, {systems} of 5", Case(simulated, 400, "shown", 0.05)
    for a, b in ((RIDGE, NEIGHBORS), (RIDGE, "length"), ("score_judge", "length")):
        case = Case(partial(gap, a=a, b=b), 400, "coverage", 0.92, widest=1.5)
        yield f"{a} less {b}, 300 texts", case
    for n, bound in ((300, None), (1200, 0.8)):
        yield f"signal of r 0.5, {n} texts", Case(partial(power, n=n), 100, "power", bound)
    for n, bound, number in ((300, 0.90, 400), (1200, 0.92, 200)):
        for method in ("ridge", "neighbors"):
            simulated = partial(learned, method=method, n=n)
            case = Case(simulated, number, "coverage", bound, widest=1.5)
            yield f"{method}, new texts, {n} texts", case
        simulated = partial(learned, method="ridge", n=n, split="contexts")
        yield f"ridge, new contexts, {n} texts", Case(simulated, number, "coverage", bound)
    for systems in (4, 8, 12, 20):
        for deviation in (0.15, 0.30):
            name = f"score, {systems} systems, r differs by {deviation}"
            simulated = partial(new_systems, systems=systems, deviation=deviation)
            yield name, Case(simulated, 400, "coverage", 0.92, truth=0.3)
    for systems in (6, 20):
        simulated = partial(learned, method="ridge", n=300, split="systems", systems=systems)
        name = f"ridge, {systems} new systems, 300 texts"
        yield name, Case(simulated, 400, "coverage", 0.92)
    for contexts in (12, 20, 29):
        name = f"useless score, {contexts} contexts of 15"
        yield name, Case(partial(few_contexts, contexts=contexts), 400, "coverage", 0.92, truth=0.0)
    simulated = partial(few_contexts, contexts=10, one_heavy=True)
    name = "useless score, one of 11 contexts has half the texts"
    yield name, Case(simulated, 400, "coverage", 0.92, truth=0.0)
    for scores, r in ((0, 0.0), (6, 0.4)):
        name = f"pairs of {scores} equal scores" if scores else "pairs of all methods, nothing"
        yield name, Case(partial(pairs, scores=scores, r=r), 200, "shown", 0.05)
    for icc in (0.2, 0.4, 0.6):
        for whole, kind in ((False, ""), (True, "whole numbers, ")):
            simulated = partial(replacement, icc=icc, whole=whole)
            yield f"may replace: constant, {kind}ICC {icc}", Case(simulated, 100, "shown", 0.05)
    for ratings, outputs in ((50, 1), (100, 1), (400, 1), (50, 5)):
        for r in (0.0, 0.7):
            name = f"estimate: {ratings} ratings, contexts of {outputs}, r {r}"
            simulated = partial(mean_of, ratings=ratings, outputs=outputs, r=r)
            bound = 0.935 if outputs == 1 else 0.92
            yield name, Case(simulated, 2000, "coverage", bound, truth=0.0)
    for share in (0.0, 0.5):
        name = f"estimate: one of 11 contexts has half the texts, ICC {share}"
        simulated = partial(mean_with_one_heavy_context, share=share)
        yield name, Case(simulated, 1000, "coverage", 0.92, truth=0.0)
    for few in (2, 5):
        name = f"estimate: systems with {few} and 40 ratings"
        yield name, Case(partial(mean_of_two_systems, few=few), 1000, "coverage", 0.92, truth=0.0)


def report(name: str, case: Case, results: Sequence[dict[str, Any]]) -> str:
    """A line: what is bounded, what was observed with its Monte Carlo error, whether it holds."""
    extra = ""
    too_wide = False
    if case.measure == "coverage":
        values = np.array([[r["value"], r["low"], r["high"]] for r in results])
        without = np.isnan(values[:, 1])
        values = values[~without]  # what has no interval promises nothing
        truth = values[:, 0].mean() if case.truth is None else case.truth
        hits = (values[:, 1] <= truth) & (truth <= values[:, 2])
        if without.any():
            extra += f"; {without.mean():.3f} without an interval"
        if "wider" in results[0]:
            extra += f"; {np.mean([r['wider'] for r in results]):.3f} of the width of ratings alone"
        if len(values) >= FEWEST_VALUES:
            error = (values[:, 2] - values[:, 1]).mean() / 2 / 1.96
            ratio = error / values[:, 0].std(ddof=1)
            extra += f"; standard error {ratio:.2f} of the deviation"
            # a deviation of n numbers has a relative error of 1 / sqrt(2 (n - 1))
            least = ratio * (1 - (2 / (len(values) - 1)) ** 0.5)
            too_wide = case.widest is not None and least > case.widest
    else:
        hits = np.array([r["hit"] for r in results])
    if not len(hits):
        return f"{'undecided':9} {name}: nothing in {len(results)} times{extra}"
    n = len(hits)
    low, high = limits(int(hits.sum()), n)
    outcome = judged(low, high, case.bound, at_most=case.measure == "shown")
    if too_wide:
        outcome = "missed"
    limit = "at most" if case.measure == "shown" else "at least"
    bound = "" if case.bound is None else f" ({limit} {case.bound:g})"
    numbers = f"{case.measure}{bound} {hits.mean():.3f} ({low:.3f}, {high:.3f}), {n} times"
    return f"{outcome:9} {name}: {numbers}{extra}"


def limits(hits: int, n: int) -> tuple[float, float]:
    """The 95% interval of a share of which ``hits`` of ``n`` were seen (Clopper and Pearson 1934).

    >>> [round(limit, 3) for limit in limits(0, 400)]
    [0.0, 0.009]
    """
    exact = binomtest(hits, n).proportion_ci(0.95)
    return float(exact.low), float(exact.high)


def judged(low: float, high: float, bound: float | None, at_most: bool) -> str:
    """Whether all of an interval is on the right side of a bound, or all on the wrong one.

    >>> judged(0.0, 0.04, 0.05, at_most=True), judged(0.01, 0.06, 0.05, at_most=True)
    ('holds', 'undecided')
    """
    if bound is None:
        return "recorded"
    within, beyond = (high <= bound, low > bound) if at_most else (low >= bound, high < bound)
    return "holds" if within else "missed" if beyond else "undecided"


def _replicate(name: str, seed: int) -> tuple[str, int, dict[str, Any]]:
    with threadpool_limits(1):
        return name, seed, dict(cases())[name].replication(seed)


def run(names: Sequence[str], number: int | None, jobs: int, path: Path) -> list[str]:
    """Simulate what the file does not have yet of this code; a line for each case."""
    every = dict(cases())
    done: dict[tuple[str, int], dict[str, Any]] = {}
    code = code_sum(*CODE)[:12]
    if path.is_file():
        for line in path.read_text("utf-8").splitlines():
            made_by, name, seed, result = json.loads(line)
            if made_by == code:
                done[name, seed] = result
    path.parent.mkdir(parents=True, exist_ok=True)
    numbers = {name: min(number or every[name].number, every[name].number) for name in names}
    wanted = [
        (name, seed) for name, replications in numbers.items() for seed in range(replications)
    ]
    missing = [key for key in wanted if key not in done]
    with ProcessPoolExecutor(jobs) as pool, path.open("a", encoding="utf-8") as file:
        simulated = pool.map(_replicate, *zip(*missing, strict=True)) if missing else []
        for name, seed, result in simulated:
            done[name, seed] = result
            file.write(json.dumps([code, name, seed, result]) + "\n")
            file.flush()
    return [
        report(name, every[name], [done[name, seed] for seed in range(replications)])
        for name, replications in numbers.items()
    ]


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--case", action="append", help="part of a name; may be given several times")
options.add_argument("--replications", type=int, help="of each case, at most")
options.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
options.add_argument("--results", type=Path, default=Path("build/calibration.jsonl"))


def main(arguments: argparse.Namespace) -> None:
    parts = arguments.case or [""]
    names = [name for name, _ in cases() if any(part in name for part in parts)]
    lines = run(names, arguments.replications, arguments.jobs, arguments.results)
    print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    main(options.parse_args())
