"""Thresholds chosen for a floor of coverage, tuned and honest, on each task. Stage: table."""

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd

from refless.data.ratings import write_table
from refless.errors import StaleError
from refless.experiments.bleu_neighbors.pareto import (
    FRONT_COLUMNS,
    Settings,
    Sums,
    lead_text,
    pareto_markdown,
    pareto_rows,
    pareto_table,
)
from refless.experiments.bleu_neighbors.table1 import signature_note
from refless.scripting import run
from refless.store.numbers import read_numbers, require_fresh, require_same_texts
from refless.store.provenance import write_signed_markdown


def main(arguments: argparse.Namespace) -> None:
    made = json.loads(arguments.made)
    settings = Settings(**json.loads(arguments.settings))
    missing = json.loads(arguments.missing)
    files, computed = {}, {}
    for path in arguments.numbers:
        arrays, about = read_numbers(path)
        kernel = about["signatures"][0]["kernel"]
        require_fresh(about, made[kernel], path)
        files[about["task"], kernel] = arrays, about, path
        if about["provenance"] == "computed":
            computed[about["task"]] = arrays, about
    # What is shipped may be of another quality than what is computed beside it.
    for (task, kernel), (arrays, about, path) in list(files.items()):
        try:
            require_same_texts((arrays, about), computed.get(task, (arrays, about)), path)
        except StaleError as error:
            missing[task][kernel] = f"{error.path} {error.message}"
            del files[task, kernel]
    rows, fronts, notes = [], [], []
    for task in arguments.tasks:
        for model, (kernel, tau) in json.loads(arguments.models).items():
            row = {"task": task, "model": model, "kernel": kernel}
            if (task, kernel) not in files:
                rows.append(row | {"note": f"not available: {missing[task][kernel]}"})
                continue
            arrays, about, _ = files[task, kernel]
            data = Sums(taus=np.array(made[kernel]["taus"]), **arrays)
            found, front = pareto_rows(data, tau, settings)
            rows += [{**row, "provenance": about["provenance"], **one} for one in found]
            fronts.append(front.assign(**row))
            notes.append(signature_note(about["signatures"][0]))
    table = pareto_table(rows)
    write_table(table, arguments.out)
    front = pd.concat(fronts) if fronts else pd.DataFrame()
    write_table(front.reindex(columns=FRONT_COLUMNS), arguments.front)
    write_signed_markdown(
        arguments.out.with_suffix(".md"),
        "BLEU Neighbors: thresholds, tuned and honest",
        lead_text(settings, arguments.folds),
        pareto_markdown(table),
        notes,
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tasks", nargs="+", required=True, help="all tasks, in order")
parser.add_argument("--numbers", type=Path, nargs="*", default=[], help="NPZ, by task and kernel")
parser.add_argument("--models", required=True, help="JSON: model -> [kernel, the paper's tau]")
parser.add_argument("--made", required=True, help="JSON: kernel -> settings of its numbers")
parser.add_argument("--settings", required=True, help="JSON: bleu_neighbors_pareto.Settings")
parser.add_argument("--missing", default="{}", help="JSON: task -> kernel -> why")
parser.add_argument("--folds", type=int, required=True)
parser.add_argument("--front", type=Path, required=True, help="CSV for the fronts")
parser.add_argument("--out", type=Path, required=True, help="CSV; a .md is put beside it")

if __name__ == "__main__":
    run(main, parser)
