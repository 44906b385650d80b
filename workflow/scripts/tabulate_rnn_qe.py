"""Tables 3, 4 and 5 of RNN-QE, with Williams' tests. Stage: table."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.ratings import write_table
from refless.experiments.bleu_neighbors.table1 import signature_note
from refless.experiments.rnn_qe.outputs import OUTPUT_COLUMNS, own_shares, read_outputs
from refless.experiments.rnn_qe.predictions import (
    predictions_note,
    training_command,
    training_note,
    usable_predictions,
)
from refless.experiments.rnn_qe.tables import (
    PAPER_SCHEDULE,
    READINGS,
    Bootstrap,
    Trained,
    cross_table,
    lead_text,
    markdown_table,
    table3,
)
from refless.models.rnn_qe.data import CONFIGURATIONS, SETUPS
from refless.report.published import read_published
from refless.scripting import run
from refless.store.provenance import write_signed_markdown

EXPERIMENTS = {"cross_validation": 3, "cross_domain": 4, "cross_system": 5}


def main(arguments: argparse.Namespace) -> None:
    asked = json.loads(arguments.settings)
    outputs, provenance, notes = pd.DataFrame(columns=OUTPUT_COLUMNS), "", []
    about: dict[str, Any] = {}
    absent = arguments.absent
    if arguments.outputs is not None:
        outputs, about = read_outputs(arguments.outputs, asked)
        provenance, absent = about["provenance"], ""
        notes = [signature_note(signature) for signature in about["signatures"]]
    files = dict(item.split("=", 1) for item in arguments.predictions)
    experiment = arguments.experiment
    shares: dict[tuple[str, int], float] = {}
    seen: list[float] = []
    if about:
        counts = about["counts"]
        shares = own_shares(counts, asked["data"]["synthesise"])
        crossed = [found["seen"] for name, found in counts["cross"].items() if experiment in name]
        seen = crossed or [counts["seen"]]
    names: dict[tuple[int | str, int], str] = {
        (configuration, setup): f"{experiment}_{configuration}_setup{setup}"
        for configuration in CONFIGURATIONS
        for setup in SETUPS
    }
    if experiment == "cross_validation":
        names = {(1, setup): f"setup{setup}" for setup in SETUPS}
    given = {}
    others = [(reading, setup) for reading in READINGS for setup in SETUPS]
    names |= {(reading, setup): f"{reading}_setup{setup}" for reading, setup in others}
    for key, name in names.items():
        command = training_command(name)
        given[key] = Trained(None, note=f"not run: {command}")
        if name not in files or absent:
            continue
        usable = usable_predictions(files[name], asked["data"], about["texts"])
        if usable is None:
            given[key] = Trained(
                None, note=f"shipped predictions are of other texts than these; {command} trains"
            )
            continue
        table, made = usable
        data = name.removeprefix(f"{PAPER_SCHEDULE}_").rpartition("_setup")[0]
        own = shares.get((data or "cross_validation", key[1]), np.nan)
        given[key] = Trained(table, made["provenance"], training_note(made), own)
        notes.append(predictions_note(name, made))
    bootstrap = Bootstrap(arguments.draws, arguments.seed)
    missing = json.loads(arguments.missing)
    if experiment == "cross_validation":
        published = read_published(arguments.published, ["setup"])
        setups = {setup: given[1, setup] for setup in SETUPS}
        there = {key: given[key] for key in others if given[key].table is not None}
        table, tests = table3(
            outputs, setups, there, published, provenance, bootstrap, absent, missing
        )
    else:
        published = read_published(arguments.published, ["setup", "configuration"])
        cells = {(c, setup): given[c, setup] for c in CONFIGURATIONS for setup in SETUPS}
        table, tests = cross_table(
            experiment, outputs, cells, published, provenance, bootstrap, absent, missing
        )
    write_table(table, arguments.out)
    write_table(tests, arguments.out.with_name(f"{arguments.out.stem}_williams.csv"))
    write_signed_markdown(
        arguments.out.with_suffix(".md"),
        f"RNN quality estimation, table {EXPERIMENTS[experiment]}",
        lead_text(experiment, bootstrap, seen),
        markdown_table(table),
        notes,
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("experiment", choices=sorted(EXPERIMENTS))
parser.add_argument("--outputs", type=Path, help="CSV of score_rnn_qe_outputs.py; none if absent")
parser.add_argument("--absent", default="no numbers are given", help="why there is no CSV")
parser.add_argument(
    "--predictions", nargs="*", default=[], metavar="NAME=PATH", help="e.g. setup4=setup4.csv.gz"
)
parser.add_argument("--settings", required=True, help="JSON: data, neighbors")
parser.add_argument("--missing", default="{}", help="JSON: kernel's name -> why it is not there")
parser.add_argument("--published", type=Path, required=True, help="the paper's table")
parser.add_argument("--draws", type=int, default=2000)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=Path, required=True, help="CSV; others are put beside it")

if __name__ == "__main__":
    run(main, parser)
