"""Measure ΔBLEU's experiment beside scoring each unit anew. Stage: none.

`make benchmark` runs it. Dialogues are DSTC7's where the data are at hand, else generated. The
record goes to results/benchmarks; with --record also to resources.
"""

import argparse
import os
from pathlib import Path

from benchmarks.delta_bleu_timing import generated_dialogues, measure, real_dialogues, table

from refless.scripting import run
from refless.store.files import write_json


def main(arguments: argparse.Namespace) -> None:
    archive = arguments.data / "dstc7/dstc7-task2-human_eval.tgz"
    if archive.is_file():
        dialogues, source = real_dialogues(archive), "DSTC7"
    else:
        dialogues, source = generated_dialogues(), "generated"
    record = measure(
        dialogues,
        source,
        assignments=arguments.assignments,
        sample=arguments.sample,
        runs=arguments.runs,
    )
    for path in filter(None, (arguments.out, arguments.record)):
        write_json(record, path)
    print(table(record))


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--assignments", type=int, default=1000)
parser.add_argument("--sample", type=int, default=40, help="units that a peer scores in a run")
parser.add_argument("--runs", type=int, default=5)
parser.add_argument(
    "--data",
    type=Path,
    default=Path(os.environ.get("REFLESS_MIRROR") or "resources/data"),
    help="directory of raw data; default: REFLESS_MIRROR, else resources/data",
)
parser.add_argument("--out", type=Path, default=Path("results/benchmarks/delta_bleu.json"))
parser.add_argument(
    "--record",
    type=Path,
    nargs="?",
    const=Path("resources/benchmarks/delta_bleu.json"),
    help="write the record here as well",
)

if __name__ == "__main__":
    run(main, parser)
