"""How fast RNN-QE is trained, on one core: `make torch`, then `python -m benchmarks.rnn_qe`."""

import argparse
import time

import numpy as np
import pandas as pd

from benchmarks.common import parser, run
from refless.models.rnn_qe.batches import Encoded


def made_up_instances(rows: int) -> pd.DataFrame:
    """Return a table of training instances, with as many tokens as those of set-up 1 have."""
    generator = np.random.default_rng(0)
    text_lengths = np.clip(generator.poisson(7.5, rows) + 3, 3, 40)
    mr_lengths = 3 * generator.integers(1, 6, rows)
    texts = [made_up_text(n, 290, generator) for n in text_lengths]
    mrs = [made_up_text(n, 45, generator) for n in mr_lengths]
    columns = {"part": "train", "mr": mrs, "text": texts, "rating": 3.0}
    table = pd.DataFrame({"id": range(rows), **columns})
    table.loc[:20, "part"] = "dev"
    return table


def made_up_text(n: int, words: int, generator: np.random.Generator) -> str:
    """Return a text of n words, from a vocabulary of ``words``."""
    return " ".join(map(str, generator.integers(0, words, n)))


def main(arguments: argparse.Namespace) -> None:
    from refless.models.rnn_qe.names import Schedule
    from refless.models.rnn_qe.training import fit

    data = Encoded(made_up_instances(arguments.rows))
    begin = time.process_time()
    fit(data, Schedule(0, arguments.runs, 1e-4, 50), 0)
    speed = arguments.runs * len(data.rows("train")) / (time.process_time() - begin)
    print(f"{speed:.0f} instances a second of one core")


_options = parser(__doc__)
_options.add_argument("--rows", type=int, default=1500)
if __name__ == "__main__":
    run(main, _options)
