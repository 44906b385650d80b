"""Number and sum of each text's neighbors, without the kernel matrix, and sign them. Stage: kernel.

For tasks that are too large for matrices. One job serves all variants of a family, as in
compute_kernels.py; shards of candidates are put together by gather_kernels.py.
"""

import argparse
import json
import logging
import time
from pathlib import Path

from refless.experiments.bleu_neighbors.leave_one_out import read_truths
from refless.experiments.bleu_neighbors.stored import quality_sums, streamed_sums
from refless.data.ratings import read_task
from refless.scripting import run
from refless.store.kernel_files import kernel_arguments, sign, write_arrays

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    about, texts, ratings = read_task(arguments.ratings)
    truths = read_truths(texts, ratings, about["scale"])
    taus = json.loads(arguments.taus)
    for name in arguments.kernels:
        options, signed = sign(name, about, arguments)
        begin = time.perf_counter()
        arrays = streamed_sums(
            name,
            texts["text"].tolist(),
            truths,
            taus[name],
            shard=arguments.shard,
            threads=arguments.threads,
            **options,
        )
        log.info("%s on %s: %.2f s", name, about["task"], time.perf_counter() - begin)
        signed |= {"tau": taus[name], "quality": quality_sums(truths)}
        if arguments.shard is not None:
            signed["shard"] = arguments.shard
        write_arrays(arrays, signed, arguments.out / f"{name}.npz")


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("kernels", nargs="+", help="names of kernels, e.g. bleu.char")
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument("--taus", required=True, help="JSON: kernel -> tau")
kernel_arguments(parser)
parser.add_argument("--shard", help="which part of the candidates, e.g. 2-of-8; default: all")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--out", type=Path, required=True, help="directory for the files")

if __name__ == "__main__":
    run(main, parser)
