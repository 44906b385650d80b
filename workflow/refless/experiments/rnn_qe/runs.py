"""RNN-QE trained on one set-up with one seed. Needs torch (`make torch`).

Stage: prediction. In: the tidy tables of the rated outputs and of their human references. Out: a
sealed table of predictions. What it was trained on and how stands in its record.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from refless.data.task import read_task
from refless.machine import versions
from refless.models.rnn_qe import data
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.names import NAMES, SCHEDULES
from refless.models.rnn_qe.scale import half_points
from refless.store import sealed

log = logging.getLogger(__name__)

COLUMNS = ["experiment", "setup", "fold", "seed", "part", "id", "raw", "prediction"]


def read_rated(
    rated: str | Path, references: Sequence[str | Path], need: Iterable[str] = ()
) -> data.Texts:
    """Rated outputs, with the columns that they ``need`` and all others, and references, from their
    folders, delexicalised; the column ``domain`` of outputs names data sets of references. Raises
    FormatError, StaleError: as `read_task`; an MR that cannot be read."""
    outputs = read_task(rated, [*data.RATED_COLUMNS, *need]).texts
    found = [read_task(folder, data.REFERENCE_COLUMNS).texts for folder in references]
    # a data set need not have parts
    human = pd.concat(found, ignore_index=True).reindex(columns=[*data.REFERENCE_COLUMNS, "part"])
    return data.Texts(data.delexicalised(outputs, "text"), data.delexicalised(human, "text_nem"))


def write_predictions(
    path: str | Path,
    name: str,
    seed: int,
    rated: str | Path,
    references: Sequence[str | Path],
    settings: Mapping[str, Any],
    device: str = "cpu",
) -> None:
    """Train one of `NAMES`, a network for each fold, on the folders of `read_rated`, and write what
    it says of its validation and test part. Raises SettingError: more rows than there are, or a
    device that torch cannot use."""
    from refless.models.rnn_qe.network import DROPOUT, WIDTH, predict
    from refless.models.rnn_qe.training import fit

    of, made = NAMES[name], data.DataSettings(**settings)
    texts = read_rated(rated, references)
    splits = data.splits_of(texts.rated, of.tested, made)
    schedule = SCHEDULES[of.schedule]
    if of.size:  # as many steps a pass as with all rows
        whole = min(len(fold.train) for fold in data.cross_validation(texts.rated, made.seed))
        schedule = replace(schedule, batch=max(1, round(schedule.batch * of.size / whole)))
    parts, passes = [], []
    for fold, split in enumerate(splits):
        log.info("%s, seed %d: network %d of %d", name, seed, fold + 1, len(splits))
        encoded = Encoded(data.instances(texts, split, of.setup, made.seed))
        network, best = fit(encoded, schedule, seed, device=device)
        rows = encoded.rows("dev", "test")
        raw = predict(network, *encoded.inputs(rows))
        own = {"part": encoded.part[rows], "id": encoded.id[rows], "raw": raw}
        parts.append(pd.DataFrame({"fold": fold, **own, "prediction": half_points(raw)}))
        passes.append(best)
    table = pd.concat(parts, ignore_index=True)
    table = table.assign(experiment=of.tested, setup=of.setup, seed=seed)
    metadata = {
        "schedule": {"name": of.schedule, **asdict(schedule)},
        "network": {"width": WIDTH, "dropout": DROPOUT, "precision": "float32"},
        "best": passes,
        "device": device,
        "versions": versions(["refless", "torch", "numpy"]),
    }
    sealed.write(path, table[COLUMNS], metadata)
