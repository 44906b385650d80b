"""Train RNN-QE on all folds of a set-up, and write what comes out. Needs torch (`make torch`).

Stage: prediction. In: the training data of all folds. Out: a signed table of predictions, and the
first seed's models, for ``refless qe``. A run that was killed goes on from its checkpoints.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from refless.errors import SettingError
from refless.experiments.rnn_qe.stored import DATA, PREDICTIONS, read_fold
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.network import Architecture
from refless.models.rnn_qe.saved import Model, save_model
from refless.models.rnn_qe.training import SCHEDULES, Run, Schedule, train
from refless.store import signed
from refless.store.machine import load_average, processor, versions


def write_training(
    path: str | Path,
    models: str | Path,
    data: str | Path,
    schedule: Mapping[str, Any],
    architecture: Mapping[str, Any],
    seeds: Sequence[int],
    run: Run,
) -> None:
    """Train a model for each fold and seed; write predictions and models.

    Parameters
    ----------
    path : ``<name>.csv.gz``, the predictions
    models : folder of the first seed's models
    data : folder of the training data, by `refless.experiments.rnn_qe.stored.write_data`
    schedule : ``name`` (of `SCHEDULES`), and what is otherwise than there: ``pretrain``, ``train``,
        ``rate``, ``batch``
    architecture : what is otherwise than in `Architecture`
    run : its checkpoints are removed when all is done

    Raises
    ------
    SettingError : no such schedule.
    FormatError, StaleError : as `read_fold`.
    """
    folds, about = _read_folds(Path(data))
    chosen = _schedule(schedule, about["facts"]["share"])
    built = Architecture(**architecture)
    done = train(folds, seeds, chosen, built, run)
    name = Path(path).name.removesuffix(".csv.gz")
    experiment, _, setup = about["of"]["name"].rpartition("setup")
    table = done.predictions
    table.insert(0, "experiment", experiment.strip("_") or "cross_validation")
    table.insert(1, "setup", int(setup))
    # The models first: Snakemake takes a training for done when its predictions are there.
    for facts, parameters in zip(done.models, done.parameters, strict=True):
        fold, seed = facts["fold"], facts["seed"]
        if seed == seeds[0]:
            one = {"name": name, "fold": fold, "seed": seed, "best": facts["best"]}
            model = Model.of(built, parameters, folds[fold], one)
            save_model(model, Path(models) / f"fold{fold}.pt")
    signed.write(
        path,
        table,
        {
            "kind": PREDICTIONS,
            "of": {"name": name},
            "settings": {
                "data": about["settings"]["data"],
                "schedule": {"name": schedule["name"], **asdict(chosen)},
                "architecture": asdict(built),
            },
            "made_from": about["made_from"],
            "facts": {
                "data": {str(number): fold.digest for number, fold in folds.items()},
                "machine": f"{processor()}, {run.device}, {run.workers} at a time",
                "load_average": load_average(),
                "versions": versions(["refless", "torch", "numpy"]),
                "seconds": round(done.seconds, 1),
                "models": done.models,
            },
        },
    )
    if run.checkpoints is not None:
        shutil.rmtree(run.checkpoints, ignore_errors=True)


def _read_folds(data: Path) -> tuple[dict[int, Encoded], dict[str, Any]]:
    about = signed.read(data / "fold0.csv", DATA, of={"name": data.name}).about
    folds = {
        fold: Encoded(read_fold(data / f"fold{fold}.csv", data.name)[0])
        for fold in range(about["facts"]["folds"])
    }
    return folds, about


def _schedule(asked: Mapping[str, Any], share: float) -> Schedule:
    """``share`` makes batches smaller, so that a pass over fewer rows has as many steps."""
    if asked["name"] not in SCHEDULES:
        raise SettingError(
            f"no schedule is called {asked['name']!r}", remedy=" or ".join(SCHEDULES)
        )
    others = {name: value for name, value in asked.items() if name != "name"}
    schedule = replace(SCHEDULES[asked["name"]], **others)
    return replace(schedule, batch=max(1, round(schedule.batch * share)))
