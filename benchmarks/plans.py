"""Do plans of `refless.estimate` come true? A hundred texts are rated, a plan is made, and as many
are rated as it says, or all: ``python -m benchmarks.plans``.

Stage: none.
"""

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd

from refless import estimate
from refless.evaluation.means import PLAN_COLUMNS
from refless.statistics.bootstrap import t_quantile
from refless.statistics.variance_components import MeanPlan, VarianceComponents, plan_mean

Array = np.ndarray

CONTEXTS, EACH, RATED, R = 30, 10, 100, 0.6
"""Contexts, texts of each, texts that are rated before the plan, and r of the predictions."""
TEXTS = CONTEXTS * EACH
SHARES = (0.0, 0.2, 0.5)
"""Of the variance between contexts."""
SIZES = np.full(CONTEXTS, EACH)
CONTEXT = np.repeat(np.arange(CONTEXTS), EACH)


def true_components(share: float, left: float = 1.0) -> VarianceComponents:
    """Of ratings of variance 1, and of what predictions leave of them: both kinds alike."""
    above = left * (1 - share + EACH * share)
    return VarianceComponents(above, left * (1 - share), EACH, TEXTS, CONTEXTS)


def possible_width(share: float, rated: int, these_outputs: bool) -> float:
    """Of an interval with so many of the texts rated, by the formulas of `plan_mean`."""
    variance = (1 / rated - 1 / TEXTS) * (1 - R**2)
    if not these_outputs:
        variance += share / CONTEXTS + (1 - share) / TEXTS
    freedom = rated - 1 if these_outputs else CONTEXTS - 1
    return 2 * t_quantile(freedom) * variance**0.5


def replication(seed: int, share: float, width: float, these_outputs: bool) -> dict[str, float]:
    """The plan's texts and contexts, with their ranges; the width after rating so many, and after
    rating all, over the one that was asked."""
    generator = np.random.default_rng(seed)
    # predictions share the contexts' part of quality as they share the rest
    effects = generator.normal(size=(2, CONTEXTS))[:, CONTEXT]
    mixed = share**0.5 * effects + (1 - share) ** 0.5 * generator.normal(size=(2, TEXTS))
    quality = mixed[0]
    texts = pd.DataFrame(
        {
            "text": [f"text {number}" for number in range(TEXTS)],
            "context": [f"context {number}" for number in CONTEXT],
            "score_judge": R * mixed[0] + (1 - R**2) ** 0.5 * mixed[1],
        }
    )
    order = generator.permutation(TEXTS)

    def row(number: float) -> pd.Series:
        """What `refless.estimate` says of all texts, once so many are rated, at most all."""
        number = int(min(max(number, RATED), TEXTS))
        rated = texts.iloc[order[:number]].assign(quality=quality[order[:number]])
        answer = estimate(
            rated,
            texts,
            method="score_judge",
            plan=width,
            these_outputs=these_outputs,
            seed=seed,
        )
        return answer.table.iloc[0]

    plan = row(RATED)
    found = {name: float(plan[name]) for name in PLAN_COLUMNS}
    for name, number in (("reached", plan["texts_needed"]), ("reached_by_all", TEXTS)):
        after = row(number)
        found[name] = (after["mean_high"] - after["mean_low"]) / width
    return found


def report(name: str, results: Sequence[dict[str, float]], truth: MeanPlan) -> str:
    """The median width over the one that was asked, with the standard error of a median; how often
    the number that the true variances ask for lies in the plan's range; how often a plan named a
    number of these texts, and a range that ends."""

    def column(key: str) -> Array:
        return np.array([result[key] for result in results])

    n = len(results)
    texts = column("texts_needed")
    named = texts < np.inf
    parts = [f"{name}: true number {truth.texts.number:.0f}, median {np.median(texts):.0f}"]
    for kind, needed in (("texts", truth.texts), ("contexts", truth.contexts)):
        if np.isnan(column(f"{kind}_needed")).all():
            continue
        inside = (column(f"{kind}_needed_low") <= needed.number) & (
            needed.number <= column(f"{kind}_needed_high")
        )
        error = max((inside.mean() * (1 - inside.mean()) / n) ** 0.5, 0.5 / n)
        parts.append(f"range of {kind} holds in {inside.mean():.3f} ± {error:.3f}")
    certain = column("texts_needed_high") < np.inf  # then `refless.estimate` names the number
    vain = (certain & (column("reached_by_all") > 1)).mean()
    parts.append(
        f"a number of these texts in {named.mean():.3f}, its range in {certain.mean():.3f}, and all"
        f" would not do in {vain:.3f}"
    )
    if named.any():
        reached = column("reached")[named]
        error = 1.2533 * reached.std(ddof=1) / len(reached) ** 0.5 if len(reached) > 1 else np.nan
        quarters = np.quantile(reached, [0.25, 0.75])
        parts.append(
            f"median width {np.median(reached):.3f} ± {error:.3f} of that asked (quarters"
            f" {quarters[0]:.2f}, {quarters[1]:.2f})"
        )
    return "; ".join(parts)


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--replications", type=int, default=400)


def main(arguments: argparse.Namespace) -> None:
    """Of a width that 200 of the 300 texts give; and of one that all do not."""
    seeds = range(arguments.replications)
    for share in SHARES:
        ratings, residuals = true_components(share), true_components(share, 1 - R**2)
        asked = [
            ("these outputs", possible_width(share, 200, True), True),
            ("more contexts", possible_width(share, 200, False), False),
            ("more contexts, too narrow", 0.75 * possible_width(share, TEXTS, False), False),
        ]
        for name, width, these_outputs in asked:
            truth = plan_mean(ratings, residuals, SIZES, width, these_outputs)
            results = [replication(k, share, width, these_outputs) for k in seeds]
            label = f"{name}, ICC {share}, width {width:.3f}"
            print(report(label, results, truth), flush=True)


if __name__ == "__main__":
    main(options.parse_args())
