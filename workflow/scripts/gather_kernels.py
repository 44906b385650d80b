"""Put the shards of kernels together. Stage: kernel."""

import argparse
from pathlib import Path

from refless.scripting import run
from refless.store.kernel_files import gather_kernel


def main(arguments: argparse.Namespace) -> None:
    for name in arguments.kernels:
        paths = [directory / f"{name}.npz" for directory in arguments.shards]
        gather_kernel(paths, arguments.out / f"{name}.npz")


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("kernels", nargs="+", help="names of kernels, e.g. bleu.char")
parser.add_argument(
    "--shards", type=Path, nargs="+", required=True, help="directories of the shards, in order"
)
parser.add_argument("--out", type=Path, required=True, help="directory for the kernel files")

if __name__ == "__main__":
    run(main, parser)
