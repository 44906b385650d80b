"""Copy files of numbers to resources/shipped: no text is in them. Stage: none.

For the maintainers, after a kernel or a setting has changed.
"""

import argparse
from pathlib import Path

from refless.errors import StaleError
from refless.store.numbers import read_numbers, write_numbers
from refless.scripting import run


def main(arguments: argparse.Namespace) -> None:
    for path in arguments.numbers:
        arrays, about = read_numbers(path)
        if about["provenance"] != "computed":
            raise StaleError("these numbers were not computed here", path=path)
        about["provenance"] = "shipped"
        for signature in about["signatures"]:
            signature["provenance"] = "shipped"
        write_numbers(arrays, about, arguments.out / about["task"] / arguments.kind / path.name)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("numbers", type=Path, nargs="+", help="NPZ files")
parser.add_argument("--kind", required=True, help="folder below the task's")
parser.add_argument("--out", type=Path, default=Path("resources/shipped"))

if __name__ == "__main__":
    run(main, parser)
