"""What each variant changes against plain BLEU Neighbors, on each task. Stage: table."""

import argparse
import json
from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from refless.data.ratings import write_table
from refless.errors import StaleError
from refless.experiments.bleu_neighbors.ablation import (
    Prediction,
    Settings,
    TaskNumbers,
    ablation_markdown,
    ablation_rows,
    ablation_table,
    absent_row,
    lead_text,
)
from refless.experiments.bleu_neighbors.table1 import signature_note
from refless.scripting import run
from refless.store.numbers import read_numbers, require_fresh, require_same_texts
from refless.store.provenance import write_signed_markdown

# arrays and what they hang on, of one file
File = tuple[dict[str, np.ndarray], dict[str, Any]]


def main(arguments: argparse.Namespace) -> None:
    settings = json.loads(arguments.settings)
    plain = {}
    for path in arguments.numbers:
        file = read_numbers(path)
        require_fresh(file[1], settings, path)
        plain[file[1]["task"]] = file
    extra, refused = read_extra(arguments.extra, settings, plain)
    absent = json.loads(arguments.absent)
    missing = json.loads(arguments.missing)
    rows = []
    for task in arguments.tasks:
        if task in absent:
            rows.append(absent_row(task, absent[task]))
            continue
        reasons = missing.get(task, {}) | refused.get(task, {})
        numbers = put_together([plain[task], *extra.get(task, [])], reasons)
        rows += ablation_rows(task, numbers, arguments.draws, arguments.seed)
    table = ablation_table(rows)
    write_table(table, arguments.out)
    signatures = {
        (signature["kernel"], signature["task"]): signature
        for _, about in [*plain.values(), *chain.from_iterable(extra.values())]
        for signature in about["signatures"]
    }
    write_signed_markdown(
        arguments.out.with_suffix(".md"),
        "BLEU Neighbors: what the paper left for later",
        lead_text(Settings(**settings), arguments.draws, arguments.seed),
        ablation_markdown(table),
        [signature_note(signature) for signature in signatures.values()],
    )


def read_extra(
    paths: list[Path], settings: dict[str, Any], plain: dict[str, File]
) -> tuple[dict[str, list[File]], dict[str, dict[str, str]]]:
    """Files of the kernels that need more than texts, by task; and why a kernel's is not used.

    The table does without them: they may be shipped while the rest is computed.
    """
    found, refused = defaultdict(list), defaultdict(dict)
    for path in paths:
        arrays, about = read_numbers(path)
        try:
            require_fresh(about, settings, path)
            require_same_texts((arrays, about), plain[about["task"]], path)
            found[about["task"]].append((arrays, about))
        except StaleError as error:
            why = f"{error.path} {error.message}"
            refused[about["task"]] |= dict.fromkeys(about["order"], why)
    return found, refused


def put_together(files: list[File], reasons: dict[str, str]) -> TaskNumbers:
    """One task's numbers from its files; ``reasons`` for what none of them has."""
    predictions, provenance = {}, {}
    for arrays, about in files:
        for name, estimate in zip(about["order"], arrays["estimates"], strict=True):
            predictions[name] = Prediction(estimate=estimate, **about["variants"][name])
            provenance[name] = about["provenance"]
    first = files[0][0]
    absent = {
        name: f"not available: {reason}"
        for name, reason in reasons.items()
        if name not in predictions
    }
    return TaskNumbers(first["quality"], first["group"], predictions, provenance, absent)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tasks", nargs="+", required=True, help="all tasks, in order")
parser.add_argument("--numbers", type=Path, nargs="*", default=[], help="NPZ, one a task")
parser.add_argument("--extra", type=Path, nargs="*", default=[], help="NPZ with further kernels")
parser.add_argument("--absent", default="{}", help="JSON: task -> why it is not available")
parser.add_argument("--missing", default="{}", help="JSON: task -> kernel -> why")
parser.add_argument("--settings", required=True, help="JSON: bleu_neighbors_ablation.Settings")
parser.add_argument("--draws", type=int, default=1000)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=Path, required=True, help="CSV; a .md is put beside it")

if __name__ == "__main__":
    run(main, parser)
