"""Compute the kernel of a task's texts with themselves, and sign it. Stage: kernel."""

import argparse
import logging
import time
from pathlib import Path

from refless.files import read_json
from refless.kernels import kernel, signature
from refless.ratings import TEXT_COLUMNS, read_table
from refless.scripting import run
from refless.store import write_kernel

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    about = read_json(arguments.ratings / "about.json")
    texts = read_table(arguments.ratings / "texts.csv", TEXT_COLUMNS)["text"].tolist()
    options = {} if arguments.wordnet is None else {"wordnet": str(arguments.wordnet)}
    begin = time.perf_counter()
    matrix = kernel(arguments.kernel, texts, texts, threads=arguments.threads, **options)
    log.info(
        "%s on %s: %d x %d pairs in %.2f s",
        arguments.kernel,
        about["task"],
        *matrix.shape,
        time.perf_counter() - begin,
    )
    signed = signature(arguments.kernel, about["text_sum"], **options)
    signed |= {"task": about["task"], "provenance": "computed"}
    write_kernel(matrix, signed, arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("kernel", help="name of the kernel, e.g. bleu.char")
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument("--wordnet", type=Path, help="WordNet 3.0 in nltk's layout, for METEOR")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--out", type=Path, required=True, help="kernel file (.npz)")

if __name__ == "__main__":
    run(main, parser)
