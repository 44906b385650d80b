"""How RNN-QE's models were trained: schedules, their validation parts, time.

Stage: cell -> table. In: what the trainer says beside its predictions. Out: a row a set-up and
seed, and a table for reading with a row a set-up.

Two figures stand for a schedule. After its *best* pass each model predicts, but the maximum over
500 passes is larger than over twelve by luck alone; in the *common* pass, the one in which the
models of all folds together are best, there is less of that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from refless.errors import FormatError
from refless.experiments.rnn_qe.predictions import training_command
from refless.report.published import markdown, number

COLUMNS = [
    *("name", "seed", "schedule", "pretrain", "train", "rate", "batch", "precision", "models"),
    *("best_pass", "dev_pearson", "dev_spearman"),
    *(
        "common_pass",
        "common_pearson",
        "common_spearman",
        "seconds",
        "machine",
        "provenance",
        "note",
    ),
]
WHOLE = ["seed", "pretrain", "train", "batch", "models", "common_pass"]


def training_table(
    made: Mapping[str, Mapping[str, Any]], asked: Sequence[str] = ()
) -> pd.DataFrame:
    """A row for each seed of each set-up, in the order given; `COLUMNS`.

    ``best_pass`` is the median over the models of a seed (folds, or folds and random subsets),
    ``dev_*`` are means over them; ``seconds`` is of the whole set-up, of its last part if it was
    interrupted.

    Parameters
    ----------
    made : by name, what the trainer wrote beside the predictions
    asked : names that have a row, and a note, even if nothing was trained

    Raises
    ------
    FormatError : nothing is said about the course of training.
    """
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys([*asked, *made]):
        if name not in made:
            rows.append({"name": name, "note": f"not run: {training_command(name)}"})
            continue
        about = made[name]
        try:
            settings = about["settings"]
            schedule, precision = settings["schedule"], settings["architecture"]["precision"]
            course = pd.DataFrame(
                [
                    {"seed": model["seed"], "fold": model["fold"], **one}
                    for model in about["models"]
                    for one in model["history"]
                    if one["phase"] == "train"
                ]
            )
            best = pd.DataFrame([{"seed": m["seed"], **m["best"]} for m in about["models"]])
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
                        "precision": precision,
                        "models": len(own),
                        "best_pass": own["pass"].median(),
                        "dev_pearson": own["pearson"].mean(),
                        "dev_spearman": own["spearman"].mean(),
                        "common_pass": int(mean.index[common]),
                        "common_pearson": mean["pearson"].iloc[common],
                        "common_spearman": mean["spearman"].iloc[common],
                        "seconds": about["seconds"],
                        "machine": about["machine"],
                        "provenance": about["provenance"],
                    }
                )
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(
                f"the predictions of {name} do not say how they came about"
            ) from error
    table = pd.DataFrame(rows, columns=COLUMNS)
    for column in ("schedule", "precision", "machine", "provenance", "note"):
        table[column] = table[column].astype(object).fillna("")
    return table.astype(dict.fromkeys(WHOLE, "Int64"))


LEAD = (
    "Pearson's and Spearman's correlation on the validation parts, means over models. *Best pass*:"
    " each model after its own best pass over rated rows, which is the one that predicts. *Common"
    " pass*: the pass in which all models of a seed together are best; it owes less to the number"
    " of passes that there are to choose from. Seconds are those of one core unless the footer says"
    " otherwise, and of the last part of a run that was interrupted."
)


def markdown_table(table: pd.DataFrame) -> str:
    """A row a set-up, means over its seeds; then, of what was trained by two schedules, the same
    seeds of both side by side."""
    there = table[table["seed"].notna()]
    parts = [_rows(there)] if not there.empty else []
    lacking = table.loc[table["seed"].isna(), "note"].tolist()
    if lacking:
        parts += [
            "## Not run",
            "\n".join(f"- {note.removeprefix('not run: ')}" for note in lacking),
        ]
    pairs = [name for name in table["name"].unique() if f"paper_{name}" in set(table["name"])]
    for name in pairs:
        own = there[there["name"].isin([name, f"paper_{name}"])]
        both = own.groupby("seed").filter(lambda rows: len(rows) == 2)
        if not both.empty:
            parts += [f"## {name} by two schedules, the same seeds", _rows(both)]
    return "\n\n".join(parts)


def _rows(table: pd.DataFrame) -> str:
    lines = []
    for name, own in table.groupby("name", sort=False):
        first = own.iloc[0]
        mean = own[[c for c in COLUMNS if c.startswith(("best", "dev", "common"))]].mean()
        lines.append(
            [
                str(name),
                f"{first['schedule']} ({first['pretrain']} + {first['train']} passes)",
                f"{own['models'].sum()} ({len(own)})",
                number(mean["best_pass"], 0),
                f"{number(mean['dev_pearson'])} / {number(mean['dev_spearman'])}",
                number(mean["common_pass"], 0),
                f"{number(mean['common_pearson'])} / {number(mean['common_spearman'])}",
                number(first["seconds"], 0),
                str(first["provenance"]),
            ]
        )
    header = ["data", "schedule", "models (seeds)", "best pass", "there: Pearson / Spearman"]
    header += ["common pass", "there: Pearson / Spearman", "seconds", "provenance"]
    return markdown(header, lines)
