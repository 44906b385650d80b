"""How fast RNN-QE is trained, on one core: `make torch`, then `python -m benchmarks.rnn_qe`."""

import argparse
import time

import numpy as np
import pandas as pd

from benchmarks.common import parser, run
from refless.models.rnn_qe.batches import Encoded


def main(arguments: argparse.Namespace) -> None:
    from refless.models.rnn_qe.names import Schedule
    from refless.models.rnn_qe.training import fit

    rows, generator = arguments.rows, np.random.default_rng(0)
    # as many tokens as set-up 1 has
    lengths = np.clip(generator.poisson(7.5, rows) + 3, 3, 40), 3 * generator.integers(1, 6, rows)
    text, mr = (
        [" ".join(map(str, generator.integers(0, words, n))) for n in sizes]
        for sizes, words in zip(lengths, (290, 45), strict=True)
    )
    columns = {"part": "train", "mr": mr, "text": text, "rating": 3.0}
    table = pd.DataFrame({"id": range(rows), **columns})
    table.loc[:20, "part"] = "dev"
    data, begin = Encoded(table), time.process_time()
    fit(data, Schedule(0, arguments.runs, 1e-4, 50), 0)
    speed = arguments.runs * len(data.rows("train")) / (time.process_time() - begin)
    print(f"{speed:.0f} instances a second of one core")


_options = parser(__doc__)
_options.add_argument("--rows", type=int, default=1500)
if __name__ == "__main__":
    run(main, _options)
