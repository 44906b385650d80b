"""How long BLEU Neighbors takes on a million rated texts, and how much memory.

`make benchmark`, or `python -m benchmarks.neighbors`. The peer is making the training texts ready
for each call. Memory is the most that the process had.
"""

import argparse
import resource
import statistics

import numpy as np

from benchmarks.common import HEAD, line, parser, real_texts, run, take, timed
from refless.models.neighbors import NeighborsRegressor

KERNEL = "bleu.char"
TAU = 0.08


def measure_neighbors(texts: list[str], candidates: int, runs: int) -> list[str]:
    """Return a line for each number of candidates, and one for the fit and the memory.

    texts : the first ``candidates`` are asked about, the others are rated
    runs : how often each time is taken
    """
    x = texts[:candidates]
    s = texts[candidates:]
    quality = np.random.default_rng(0).random(len(s))
    NeighborsRegressor(KERNEL, TAU).fit(s[:9], quality[:9]).predict(x[:3])  # compiles
    fits: list[float] = []
    # number of candidates -> seconds with a fit for each call, and with the fit that is kept
    seconds_of: dict[int, tuple[list[float], list[float]]] = {1: ([], []), candidates: ([], [])}
    for _ in range(runs):
        seconds, model = timed(NeighborsRegressor(KERNEL, TAU).fit, s, quality)
        fits.append(seconds)
        for size, (anew, kept) in seconds_of.items():
            taken, _ = timed(model.predict, x[:size])
            kept.append(taken)
            anew.append(seconds + taken)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    lines = [
        line(f"{len(s):,} rated, {size:,} candidates", "fit for each call", anew, kept)
        for size, (anew, kept) in seconds_of.items()
    ]
    return [*lines, f"fit {statistics.median(fits):.1f} s; at most {peak:.2f} GB in all"]


def main(arguments: argparse.Namespace) -> None:
    texts = take(real_texts(arguments.data), arguments.n + arguments.candidates)
    print(HEAD, *measure_neighbors(texts, arguments.candidates, arguments.runs), sep="\n")


_options = parser(__doc__.splitlines()[0])
_options.add_argument("--n", type=int, default=1_000_000, help="rated texts")
_options.add_argument("--candidates", type=int, default=1000)

if __name__ == "__main__":
    run(main, _options)
