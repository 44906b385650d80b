"""Do intervals of means hold with few contexts, or with one that has most texts?
Numbers are simulated: ``python -m benchmarks.few_contexts``.

Stage: none.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from refless.statistics.cluster_robust import (
    ClusteredEstimate,
    clustered_mean,
)

Array = np.ndarray

SIZES = {
    "11 contexts, one with half the texts": [100] + [10] * 10,
    "12 equal contexts": [15] * 12,
    "20 contexts, one with 30%": [130] + [16] * 19,
    "5 equal contexts": [20] * 5,
    "30 equal contexts": [10] * 30,
    "8 contexts, one with two thirds": [98] + [7] * 7,
}
SHARES = (0.0, 0.2, 0.5)
"""Of the variance between contexts."""


def clustered_normal(generator: np.random.Generator, context: Array, share: float) -> Array:
    """Numbers of variance 1, a share of which contexts have in common, (n,)."""
    of_context = generator.normal(size=int(context.max()) + 1)[context]
    return share**0.5 * of_context + (1 - share) ** 0.5 * generator.normal(size=len(context))


def of_a_mean(seed: int, context: Array, share: float) -> dict[str, float]:
    """Whether the interval of a mean of 0 has it; NaN where there is none."""
    generator = np.random.default_rng(seed)
    mean = clustered_mean(
        clustered_normal(generator, context, share), context, int(context.max()) + 1
    )
    return outcome(mean, mean.interval, 0.0)


def of_a_difference(seed: int, context: Array, share: float) -> dict[str, float]:
    """The same of two systems, one of which writes each second text."""
    generator = np.random.default_rng(seed)
    values, contexts = clustered_normal(generator, context, share), int(context.max()) + 1
    a, b = (clustered_mean(values[k::2], context[k::2], contexts) for k in (0, 1))
    return outcome(a - b, (a - b).interval, 0.0)


def outcome(
    estimate: ClusteredEstimate, interval: tuple[float, float], truth: float
) -> dict[str, float]:
    low, high = interval
    covers = float(low <= truth <= high) if estimate.has_interval else float("nan")
    return {"covers": covers, "freedom": estimate.freedom, "effective": estimate.effective}


def report(name: str, results: Sequence[dict[str, float]]) -> str:
    covers = np.array([result["covers"] for result in results])
    with_interval = covers[~np.isnan(covers)]
    numbers = ", ".join(
        f"{key} {np.median([result[key] for result in results]):.1f}"
        for key in ("freedom", "effective")
    )
    line = f"{name}: {numbers}, an interval in {len(with_interval) / len(covers):.2f}"
    if not len(with_interval):
        return line
    coverage, n = with_interval.mean(), len(with_interval)
    error = max((coverage * (1 - coverage) / n) ** 0.5, 0.5 / n)
    return f"{line}, covers {coverage:.3f} ± {error:.3f}"


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--replications", type=int, default=1000)


def main(arguments: argparse.Namespace) -> None:
    seeds = range(arguments.replications)
    for name, sizes in SIZES.items():
        context = np.repeat(np.arange(len(sizes)), sizes)
        for share in SHARES:
            label = f"{name}, ICC {share}"
            print(report(f"mean, {label}", [of_a_mean(k, context, share) for k in seeds]))
            differences = [of_a_difference(k, context, share) for k in seeds]
            print(report(f"difference, {label}", differences), flush=True)


if __name__ == "__main__":
    main(options.parse_args())
