"""Compute kernels of a task's texts with themselves, and sign them. Stage: kernel.

One job serves all variants of a family: to start the compiled code takes longer than to run it on
a few hundred texts. A large kernel is cut into shards of candidates (`--shard 2-of-8`), which
gather_kernels.py puts together again.
"""

import argparse
import logging
import time
from pathlib import Path

from refless.store.files import read_json, read_texts
from refless.kernels import kernel
from refless.scripting import run
from refless.store.kernel_files import kernel_arguments, shard_rows, sign, write_kernel

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    about = read_json(arguments.ratings / "about.json")
    texts = read_texts(arguments.ratings / "texts.csv")
    rows = None if arguments.shard is None else shard_rows(arguments.shard, len(texts))
    for name in arguments.kernels:
        options, signed = sign(name, about, arguments)
        begin = time.perf_counter()
        matrix = kernel(name, texts, texts, rows=rows, threads=arguments.threads, **options)
        seconds = time.perf_counter() - begin
        log.info("%s on %s: %d x %d pairs in %.2f s", name, about["task"], *matrix.shape, seconds)
        if arguments.shard is not None:
            signed["shard"] = arguments.shard
        write_kernel(matrix, signed, arguments.out / f"{name}.npz")


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("kernels", nargs="+", help="names of kernels, e.g. bleu.char")
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
kernel_arguments(parser)
parser.add_argument("--shard", help="which part of the candidates, e.g. 2-of-8; default: all")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--out", type=Path, required=True, help="directory for the kernel files")

if __name__ == "__main__":
    run(main, parser)
