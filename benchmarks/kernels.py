"""Measure how fast the kernels are, beside other packages and as texts grow. Stage: none.

`make benchmark` runs it. Texts are real where the data are at hand, else generated. The record
goes to results/benchmarks; with --record also to resources, whence the README's table comes
(update_readme.py).
"""

import argparse
import os
from pathlib import Path

from benchmarks.kernels_timing import KERNELS, TAUS, generated_texts, measure, real_texts, tables

from refless.scripting import run
from refless.store.files import write_json


def main(arguments: argparse.Namespace) -> None:
    texts, about = real_texts(arguments.data)
    if not texts:
        texts, about = generated_texts()
    wordnet = arguments.wordnet or arguments.data / "nltk/wordnet.zip"
    record = measure(
        arguments.kernels,
        texts,
        about,
        n=arguments.n,
        sample=arguments.sample,
        runs=arguments.runs,
        sizes=arguments.sizes,
        wordnet=wordnet if wordnet.exists() else None,
    )
    for path in filter(None, (arguments.out, arguments.record)):
        write_json(record, path)
    print(tables(record))


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--kernels", nargs="+", default=KERNELS, choices=TAUS, metavar="KERNEL")
parser.add_argument("--n", type=int, default=10_000, help="candidates, and training texts")
parser.add_argument("--sample", type=int, default=2_000, help="pairs that a peer scores in a run")
parser.add_argument("--runs", type=int, default=5)
parser.add_argument(
    "--sizes", type=int, nargs="*", help="numbers of texts over which growth is measured"
)
parser.add_argument(
    "--data",
    type=Path,
    default=Path(os.environ.get("REFLESS_MIRROR") or "resources/data"),
    help="directory of raw data; default: REFLESS_MIRROR, else resources/data",
)
parser.add_argument("--wordnet", type=Path, help="WordNet 3.0, for METEOR; default: among the data")
parser.add_argument("--out", type=Path, default=Path("results/benchmarks/kernels.json"))
parser.add_argument(
    "--record",
    type=Path,
    nargs="?",
    const=Path("resources/benchmarks/kernels.json"),
    help="write the record here as well, for the README",
)

if __name__ == "__main__":
    run(main, parser)
