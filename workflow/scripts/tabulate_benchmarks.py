"""The recorded benchmarks as tables: peers beside ours, and growth with the texts. Stage: table."""

import argparse
from pathlib import Path

from refless.data.ratings import write_table
from refless.report.benchmarks import beside_peers, growth
from refless.scripting import run
from refless.store.files import read_json


def main(arguments: argparse.Namespace) -> None:
    records = {path.stem: read_json(path) for path in arguments.records}
    write_table(beside_peers(records), arguments.peers)
    write_table(growth(records["kernels"]), arguments.growth)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument(
    "records", type=Path, nargs="+", help="kernels.json and others of resources/benchmarks"
)
parser.add_argument("--peers", type=Path, required=True, help="CSV: peers beside ours")
parser.add_argument("--growth", type=Path, required=True, help="CSV: growth with the texts")

if __name__ == "__main__":
    run(main, parser)
