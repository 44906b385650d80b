"""Predict with every variant of BLEU Neighbors on one task. Stage: prediction.

One job serves all variants that need the same packages: they share texts and neighbors.
"""

import argparse
import json
import logging
import time
from pathlib import Path

import numpy as np

from refless.data.ratings import TEXT_COLUMNS, read_table
from refless.experiments.bleu_neighbors.ablation import (
    Settings,
    other_kernel,
    rated,
    system_groups,
    training_variants,
)
from refless.scripting import run
from refless.store.files import read_json
from refless.store.kernel_files import kernel_arguments, sign
from refless.store.numbers import write_numbers

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    about = read_json(arguments.ratings / "about.json")
    data = rated(read_table(arguments.ratings / "texts.csv", TEXT_COLUMNS))
    settings = Settings(**json.loads(arguments.settings))
    signed = {
        name: sign(name, about, arguments)
        for name in dict.fromkeys([settings.kernel, *arguments.kernels])
    }
    begin = time.perf_counter()
    found = {}
    if not arguments.kernels_only:
        found |= training_variants(data, settings, arguments.threads)
        log.info("training texts: %.1f s", time.perf_counter() - begin)
    for name in arguments.kernels:
        begin = time.perf_counter()
        options, _ = signed[name]
        found[name] = other_kernel(name, data, settings, arguments.threads, **options)
        log.info("%s: tau %g, %.1f s", name, found[name].tau, time.perf_counter() - begin)
    write_numbers(
        {
            "quality": data.quality,
            "group": system_groups(data),
            "estimates": np.array([one.estimate for one in found.values()]),
        },
        {
            "task": about["task"],
            "provenance": "computed",
            "settings": json.loads(arguments.settings),
            "variants": {
                name: {
                    "kernel": one.kernel,
                    "tau": one.tau,
                    "neighbors": one.neighbors,
                    "training": one.training,
                }
                for name, one in found.items()
            },
            "order": list(found),
            "signatures": [signature for _, signature in signed.values()],
        },
        arguments.out,
    )


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument("--settings", required=True, help="JSON: bleu_neighbors_ablation.Settings")
parser.add_argument("--kernels", nargs="*", default=[], help="other kernels to try")
kernel_arguments(parser)
parser.add_argument("--kernels-only", action="store_true", help="without the training variants")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--out", type=Path, required=True, help="NPZ")

if __name__ == "__main__":
    run(main, parser)
