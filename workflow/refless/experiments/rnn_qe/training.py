"""How RNN-QE's models were trained: schedules, their validation parts, time.

Stage: cell -> table. In: the records of predictions. Out: a row a set-up and seed.

Two figures stand for a schedule. After its *best* pass each model predicts, but the maximum over
500 passes is larger than over twelve by luck alone; in the *common* pass, the one in which the
models of all folds together are best, there is less of that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from refless.experiments.rnn_qe.stored import Gathered
from refless.models.rnn_qe.names import PAPER, training_command
from refless.report.tables import publish

COLUMNS = [
    *("name", "seed", "schedule", "pretrain", "train", "plateau", "passes", "rate", "batch"),
    *("precision", "models"),
    *("best_pass", "dev_pearson", "dev_spearman"),
    *("common_pass", "common_pearson", "common_spearman"),
    *("seconds", "machine", "command", "other_schedule", "provenance", "note"),
]
WHOLE = ["seed", "pretrain", "train", "plateau", "passes", "batch", "models", "common_pass"]


def training_table(
    made: Mapping[str, Mapping[str, Any]], asked: Sequence[str] = ()
) -> pd.DataFrame:
    """A row for each seed of each set-up, in the order given; `COLUMNS`.

    ``best_pass`` is the median over the models of a seed (folds, or folds and random subsets),
    ``dev_*`` are means over them; ``passes`` are those over rated rows that were made; ``seconds``
    is of the whole set-up, of its last part if it was interrupted; ``command`` trains it again,
    with the settings of the other columns under ``rnn_qe.training``. ``other_schedule`` names what
    is the same set-up and seed by another schedule.

    Parameters
    ----------
    made : by name, the records of predictions
    asked : names that have a row even if nothing was trained
    """
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys([*asked, *made]):
        if name not in made:
            rows.append({"name": name})
            continue
        about = made[name]
        facts, settings = about["facts"], about["settings"]
        schedule, precision = settings["schedule"], settings["architecture"]["precision"]
        course = pd.DataFrame(
            [
                {"seed": model["seed"], "fold": model["fold"], **one}
                for model in facts["models"]
                for one in model["history"]
                if one["phase"] == "train"
            ]
        )
        best = pd.DataFrame([{"seed": m["seed"], **m["best"]} for m in facts["models"]])
        for seed, own in best.groupby("seed"):
            passes = course[course["seed"] == seed].groupby("pass")[["pearson", "spearman"]]
            mean = passes.mean()
            common = int(mean.sum(axis=1).to_numpy().argmax())
            rows.append(
                {
                    "name": name,
                    "seed": seed,
                    "schedule": schedule.get("name", ""),
                    **{key: schedule[key] for key in ("pretrain", "train", "rate", "batch")},
                    "plateau": schedule.get("plateau"),
                    "passes": int(passes.ngroups),
                    "precision": precision,
                    "models": len(own),
                    "best_pass": own["pass"].median(),
                    "dev_pearson": own["pearson"].mean(),
                    "dev_spearman": own["spearman"].mean(),
                    "common_pass": int(mean.index[common]),
                    "common_pearson": mean["pearson"].iloc[common],
                    "common_spearman": mean["spearman"].iloc[common],
                    "seconds": facts["seconds"],
                    "machine": facts["machine"],
                    "provenance": about["provenance"],
                }
            )
    trained = {(row["name"], row["seed"]): row for row in rows if "seed" in row}
    for (name, seed), row in trained.items():
        other = name.removeprefix(f"{PAPER}_") if name.startswith(PAPER) else f"{PAPER}_{name}"
        row["other_schedule"] = other if (other, seed) in trained else ""
    table = pd.DataFrame(rows, columns=COLUMNS)
    for column in ("schedule", "precision", "machine", "other_schedule", "provenance"):
        table[column] = table[column].astype(object).fillna("")
    table["command"] = [training_command(name).strip("`") for name in table["name"]]
    table["note"] = pd.Series([[] for _ in rows], dtype=object)
    return table.astype(dict.fromkeys(WHOLE, "Int64"))


def write_table(folder: str | Path, given: Gathered, names: Sequence[str]) -> None:
    """Publish the table; ``names`` have a row in any case."""
    publish(
        "rnn_qe_training",
        training_table({name: file.about for name, file in given.predictions.items()}, names),
        folder,
        missing=[*given.missing, *given.untrained],
        notes=given.notes(given.predictions),
    )
