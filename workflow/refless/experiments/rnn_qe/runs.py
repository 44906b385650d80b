"""RNN-QE trained on one set-up with one seed. Needs torch (`make torch`).

Stage: prediction. In: the tidy tables of the rated outputs and of their human references. Out: a
sealed table of predictions. What it was trained on and how stands in its record.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from refless.data.task import read_task
from refless.machine import versions
from refless.models.rnn_qe import data
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.names import RUNS, SCHEDULES
from refless.models.rnn_qe.scale import half_points
from refless.store import sealed
from refless.store.records import Destination

_log = logging.getLogger(__name__)

PREDICTION_COLUMNS = ["experiment", "setup", "fold", "seed", "part", "id", "raw", "prediction"]


def read_training_texts(
    rated: str | Path, references: Sequence[str | Path], need: Iterable[str] = ()
) -> data.TrainingTexts:
    """Rated outputs, with the columns that they ``need`` and all others, and references, from their
    folders, delexicalised; the column ``domain`` of outputs names data sets of references. Raises
    FormatError, StaleError: as `read_task`; an MR that cannot be read."""
    outputs = read_task(rated, [*data.RATED_COLUMNS, *need]).texts
    tables = [read_task(folder, data.REFERENCE_COLUMNS).texts for folder in references]
    # a data set need not have parts
    human = pd.concat(tables, ignore_index=True).reindex(columns=[*data.REFERENCE_COLUMNS, "part"])
    rated_texts, reference_texts = (
        table.assign(**data.tokenised(table["context"].tolist(), table[column].tolist()))
        for table, column in ((outputs, "text"), (human, "text_nem"))
    )
    return data.TrainingTexts(rated_texts, reference_texts)


def write_predictions(
    path: Destination,
    name: str,
    seed: int,
    rated: str | Path,
    references: Sequence[str | Path],
    settings: Mapping[str, Any],
    device: str = "cpu",
) -> None:
    """Train one of `RUNS`, a network for each fold, on the folders of `read_training_texts`, and
    write its predictions of the validation and test part. Raises SettingError: more rows than there
    are, or a device that torch cannot use."""
    from refless.models.rnn_qe.network import DROPOUT, PAPER_WIDTH, predict
    from refless.models.rnn_qe.training import fit

    run, of_data = RUNS[name], data.DataSettings(**settings)
    texts = read_training_texts(rated, references)
    splits = data.splits_of(texts.rated, run.evaluation, of_data)
    schedule = SCHEDULES[run.schedule]
    if run.size:  # as many steps an epoch as with all rows
        whole = min(len(fold.train) for fold in data.cross_validation(texts.rated, of_data.seed))
        schedule = replace(schedule, batch=max(1, round(schedule.batch * run.size / whole)))
    parts, best_epochs = [], []
    for fold, split in enumerate(splits):
        _log.info("%s, seed %d: network %d of %d", name, seed, fold + 1, len(splits))
        encoded = Encoded(data.instances(texts, split, run.setup, of_data.seed))
        network, best = fit(encoded, schedule, seed, device=device)
        rows = encoded.rows("dev", "test")
        mrs, outputs = encoded.inputs(rows)
        raw = predict(network, mrs, outputs)
        columns = {"fold": fold, "part": encoded.part[rows], "id": encoded.id[rows], "raw": raw}
        parts.append(pd.DataFrame({**columns, "prediction": half_points(raw)}))
        best_epochs.append(best)
    table = pd.concat(parts, ignore_index=True)
    table = table.assign(experiment=run.evaluation, setup=run.setup, seed=seed)
    metadata = {
        # keys of the files that came with version 1.0
        "schedule": {
            "name": run.schedule,
            "pretrain": schedule.pretrain,
            "train": schedule.train,
            "rate": schedule.learning_rate,
            "batch": schedule.batch,
            "plateau": schedule.patience,
        },
        "network": {"width": PAPER_WIDTH, "dropout": DROPOUT, "precision": "float32"},
        "best": best_epochs,
        "device": device,
        "versions": versions(["refless", "torch", "numpy"]),
    }
    sealed.write(path, table[PREDICTION_COLUMNS], metadata)
