"""Copy RNN-QE's predictions, packed, to resources/shipped: no text is in them. Stage: none.

For the maintainers, after the trainer or its data have changed.
"""

import argparse
from pathlib import Path

from refless.experiments.rnn_qe.predictions import pack
from refless.scripting import run


def main(arguments: argparse.Namespace) -> None:
    for path in arguments.predictions:
        pack(path, arguments.out / "predictions")


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("predictions", type=Path, nargs="+", help="CSV files, a JSON beside each")
parser.add_argument("--out", type=Path, default=Path("resources/shipped/rnn_qe"))

if __name__ == "__main__":
    run(main, parser)
