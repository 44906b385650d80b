"""RNN-QE trained on one set-up with one seed. Needs torch (`make torch`).

Stage: prediction. In: the tidy tables of the rated outputs and of their human references. Out: a
sealed table of predictions. What it was trained on and how stands in its record. A run that is
killed starts again: no other run hangs on it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from refless.data.task import Task, read_task
from refless.models.rnn_qe.batches import Encoded, rounded
from refless.models.rnn_qe.data import (
    RATED_COLUMNS,
    REFERENCE_COLUMNS,
    DataSettings,
    Texts,
    cross_validation,
    tables,
)
from refless.models.rnn_qe.names import CURVE, SCHEDULES, parse
from refless.store import sealed
from refless.store.machine import processor, versions

log = logging.getLogger(__name__)

COLUMNS = ["experiment", "setup", "fold", "seed", "part", "id", "raw", "prediction"]


def read_rated(rated: str | Path, references: Sequence[str | Path]) -> tuple[Task, Texts]:
    """The data set of the rated outputs, and all texts delexicalised.

    Parameters
    ----------
    rated, references : folders of ratings; a data set of references has the name that stands in
        the column ``dataset`` of the rated outputs

    Raises
    ------
    FormatError, StaleError : as `refless.data.task.read_task`; an MR that cannot be read.
    """
    task = read_task(rated, RATED_COLUMNS)
    found = [read_task(folder, REFERENCE_COLUMNS).texts for folder in references]
    # a data set need not have parts
    found = [table if "part" in table else table.assign(part="") for table in found]
    human = pd.concat(found, ignore_index=True)[[*REFERENCE_COLUMNS, "part"]]
    return task, Texts.of(task.texts, human)


def write_predictions(
    path: str | Path,
    name: str,
    seed: int,
    rated: str | Path,
    references: Sequence[str | Path],
    settings: Mapping[str, Any],
    device: str = "cpu",
) -> None:
    """Train a network for each fold, and write what it says of its validation and test part.

    Parameters
    ----------
    name : see `refless.models.rnn_qe.names`
    rated, references : see `read_rated`
    settings : see `refless.models.rnn_qe.data.DataSettings`

    Raises
    ------
    SettingError : an unknown name, more rows than there are, or a device that torch cannot use.
    """
    from refless.models.rnn_qe.network import DROPOUT, WIDTH, predict
    from refless.models.rnn_qe.training import Progress, fit

    begin, found, made = time.perf_counter(), parse(name), DataSettings(**settings)
    _, texts = read_rated(rated, references)
    data = list(map(Encoded, tables(texts, name, made)))
    schedule = SCHEDULES[found.schedule]
    if found.experiment == CURVE:  # as many steps a pass as with all rows
        whole = min(len(fold.train) for fold in cross_validation(texts.rated, made.seed))
        schedule = replace(schedule, batch=max(1, round(schedule.batch * found.number / whole)))
    progress = Progress(schedule, *data)
    parts, passes = [], []
    for fold, one in enumerate(data):
        log.info("%s, seed %d: network %d of %d", name, seed, fold + 1, len(data))
        network, best = fit(one, schedule, seed, device=device, progress=progress)
        rows = one.rows("dev", "test")
        raw = predict(network, [one.mr[row] for row in rows], [one.text[row] for row in rows])
        own = {"part": one.part[rows], "id": one.id[rows], "raw": raw, "prediction": rounded(raw)}
        parts.append(pd.DataFrame({"fold": fold, "seed": seed, **own}))
        passes.append(best)
    number = f"_{found.number}" if found.number else ""
    table = pd.concat(parts, ignore_index=True)
    table = table.assign(experiment=f"{found.experiment}{number}", setup=found.setup)[COLUMNS]
    facts = {
        "schedule": {"name": found.schedule, **asdict(schedule)},
        "network": {"width": WIDTH, "dropout": DROPOUT, "precision": "float32"},
        "best": passes,
        "machine": f"{processor()}, {device}",
        "versions": versions(["refless", "torch", "numpy"]),
        "seconds": round(time.perf_counter() - begin, 1),
    }
    sealed.write(path, table, facts)
