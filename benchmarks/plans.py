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

CONTEXTS = 30
EACH = 10
"""Texts of each context."""
RATED = 100
"""Texts that are rated before the plan."""
R = 0.6
"""Correlation of predictions and ratings."""
TEXTS = CONTEXTS * EACH
SHARES = (0.0, 0.2, 0.5)
"""Shares of the variance of ratings that lie between contexts."""
SIZES = np.full(CONTEXTS, EACH)
CONTEXT = np.repeat(np.arange(CONTEXTS), EACH)


def true_components(share: float, left: float = 1.0) -> VarianceComponents:
    """Return the variance components of ratings of variance 1, or of what predictions leave.

    share : of the variance, what lies between contexts
    left : of the variance, what predictions leave, alike between contexts and within them
    """
    above = left * (1 - share + EACH * share)
    return VarianceComponents(above, left * (1 - share), EACH, TEXTS, CONTEXTS)


def possible_width(share: float, rated: int, these_outputs: bool) -> float:
    """Return the width of the interval of a mean, by the formulas of `plan_mean`.

    share : of the variance, what lies between contexts
    rated : the number of texts that are rated
    these_outputs : the mean is that of these texts, and of no others
    """
    variance = (1 / rated - 1 / TEXTS) * (1 - R**2)
    if not these_outputs:
        variance += share / CONTEXTS + (1 - share) / TEXTS
    freedom = rated - 1 if these_outputs else CONTEXTS - 1
    return 2 * t_quantile(freedom) * variance**0.5


def replication(seed: int, share: float, width: float, these_outputs: bool) -> dict[str, float]:
    """Simulate one plan, and return its numbers of texts and of contexts with their ranges
    (`PLAN_COLUMNS`); and, over the width that was asked for, the width once as many texts are rated
    as it says (``reached``), and once all are (``reached_by_all``)."""
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
        """Return what `refless.estimate` says of all texts once so many are rated: at least as many
        as before the plan, at most all."""
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
    """Return a line on some plans: how often the number that the true variances ask for lies in the
    plan's range; how often a plan named a number of these texts, and a range that ends; and the
    width that was reached, over the one that was asked for.

    results : by `replication`
    truth : the plan by the true variances
    """
    columns = {key: np.array([result[key] for result in results]) for key in results[0]}
    texts = columns["texts_needed"]
    parts = [f"{name}: true number {truth.texts.number:.0f}, median {np.median(texts):.0f}"]
    for kind, needed in (("texts", truth.texts), ("contexts", truth.contexts)):
        if not np.isnan(columns[f"{kind}_needed"]).all():
            above = columns[f"{kind}_needed_low"] <= needed.number
            below = needed.number <= columns[f"{kind}_needed_high"]
            parts.append(f"range of {kind} holds in {share_with_error(above & below)}")
    named = texts < np.inf
    certain = columns["texts_needed_high"] < np.inf  # then `refless.estimate` names the number
    vain = (certain & (columns["reached_by_all"] > 1)).mean()
    parts.append(
        f"a number of these texts in {named.mean():.3f}, its range in {certain.mean():.3f}, and all"
        f" would not do in {vain:.3f}"
    )
    if named.any():
        parts.append(reached_width(columns["reached"][named]))
    return "; ".join(parts)


def share_with_error(holds: Array) -> str:
    """Return the share of plans of which something holds, with its standard error.

    holds : of each plan, bool (plans,)
    """
    n = len(holds)
    share = holds.mean()
    error = max((share * (1 - share) / n) ** 0.5, 0.5 / n)
    return f"{share:.3f} ± {error:.3f}"


def reached_width(reached: Array) -> str:
    """Return what is said of the widths that were reached over those that were asked for, (plans,):
    their median, with the standard error of a median of normal values, and their quartiles."""
    error = 1.2533 * reached.std(ddof=1) / len(reached) ** 0.5 if len(reached) > 1 else np.nan
    lower, upper = np.quantile(reached, [0.25, 0.75])
    return (
        f"median width {np.median(reached):.3f} ± {error:.3f} of that asked (quarters"
        f" {lower:.2f}, {upper:.2f})"
    )


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--replications", type=int, default=400)


def main(arguments: argparse.Namespace) -> None:
    """Ask for a width that 200 of the 300 texts give, and for one that all of them do not give."""
    seeds = range(arguments.replications)
    for share in SHARES:
        ratings = true_components(share)
        residuals = true_components(share, 1 - R**2)
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
