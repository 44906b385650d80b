"""The tables of ΔBLEU: table 2 of the paper, its tests, and ΔBLEU as a predictor.

Stage: cell -> table. In: numbers of each task, from `refless.experiments.delta_bleu.dialogues` and
`refless.experiments.delta_bleu.predictor`, and what the paper reports. Out: tables, as data and
for reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from refless.experiments.delta_bleu.dialogues import ALL, Cell
from refless.experiments.delta_bleu.units import CELL_KEYS, TEST_COLUMNS, main_cells
from refless.report.published import markdown, number, with_interval
from refless.store.signed_tables import read_numbers, require_settings

KEYS = ["metric", "references"]
PAPER = "twitter"
"""The paper's own data set; of its texts only identifiers are public."""
INTERVALS = ("spearman_ci95_low", "spearman_ci95_high")
NAMES = {"bleu": "BLEU", "sbleu": "sBLEU", "delta_bleu": "ΔBLEU"}
LEAD = (
    "How well differences between two systems' scores on a unit of contexts follow the differences"
    " between their mean ratings: rank correlations over all pairs of systems and units, averaged"
    " over random assignments of contexts to units. The first interval (95%) is a bootstrap over"
    " contexts; the second takes the observations for independent, as the paper's two intervals do"
    " (both have the width that about 526 observations give by Fisher's z). In square brackets: the"
    " paper's interval, on Twitter data that is not public.\n\n"
    "References of a pair of systems are the human responses and the rated outputs of all other"
    " systems. *References*: how many a context has. *Fallback*: share of contexts where the human"
    " response stands in at any weight, since no reference reaches the threshold or, for ΔBLEU,"
    " none has a positive weight. Thresholds of 0.4 and 0.2 are not in the paper's table; they were"
    " picked where metrics do best in figure 2, so on the same data, and all metrics are given with"
    " each.\n\n"
    "Under *Other choices* is what the first table of each task does not vary: there, precisions"
    " that are not positive are smoothed (rule `smooth`, for BLEU too), n-grams have up to 2 words,"
    " weights are centred on the middle of the scale, the human response counts at least 0.1 where"
    " ΔBLEU has no reference of positive weight (`raised`), marks are apart from words, and which"
    " system of a pair comes first is drawn for each unit (in a fixed order, by name, a pair's mean"
    " difference counts only beside other pairs'). *Share negative*: scores of a unit of which some"
    " order's numerator is not positive, so that the rule decides. `left_out`: only contexts that"
    " have a reference of positive weight for every pair when all references are used; where fewer"
    " are used, the human response may still be raised. Outputs are those of a system in a context"
    " and stay apart where two systems wrote the same (31 of DSTC7's 10,000)."
)
PREDICTOR_LEAD = (
    "Estimates of the quality of single texts from the rated texts of other systems in the same"
    " context (NEM: of the same MR, with its human references at the top of the scale), and by BLEU"
    " Neighbors from all rated texts, the own system's others among them, which ΔBLEU never sees"
    " (what these are worth: `bleu_neighbors_ablation`). Which texts BLEU Neighbors covers hangs on"
    " the kernel, so below each table ΔBLEU is compared with it on those that both estimate. MSE is"
    " that of a straight line through the"
    " scores, fitted on other contexts. 95% intervals: bootstrap over contexts. A mean of the other"
    " texts of the same context leans away from the text's own quality where systems' qualities"
    " balance (leaving out a good one leaves a worse rest), hence its negative correlations."
)
_NOTE_PAPER = "not available: only identifiers of the paper's tweets are public, no texts"
_NOTE_MACHINE = "most references are machine outputs, unlike the paper's"
_NOTE_TWITTER = "paper_ columns: Twitter"


@dataclass(frozen=True)
class Numbers:
    """What one task's rows are made of, or why there is nothing.

    task, provenance : ``computed`` or ``shipped``, empty if absent
    rows, tests : as the cells' script wrote them, empty if absent
    about : what stands beside them
    absent : why there are no numbers; empty if there are
    """

    task: str
    provenance: str = ""
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    tests: pd.DataFrame = field(default_factory=pd.DataFrame)
    about: Mapping[str, Any] = field(default_factory=dict)
    absent: str = ""


def read_task_numbers(
    directories: Mapping[str, Path],
    absent: Mapping[str, str],
    settings: Mapping[str, Mapping[str, Any]],
    name: str,
    columns: Sequence[str],
) -> list[Numbers]:
    """The numbers of each task, those that are there before those that are not.

    Parameters
    ----------
    directories : where the numbers of a task lie
    absent : why there are none of a task
    settings : under which they must have been made
    name : of the file, without its ending; beside ``units`` the file ``tests`` is read as well

    Raises
    ------
    FormatError, StaleError : as `read_numbers` and `require_settings`.
    """
    found = []
    for task, directory in directories.items():
        path = directory / f"{name}.csv"
        rows, about = read_numbers(path, columns)
        require_settings(about, settings[task], path, "delta_bleu")
        tests = pd.DataFrame()
        if name == "units":
            tests, _ = read_numbers(directory / "tests.csv", TEST_COLUMNS)
        found.append(Numbers(task, about["provenance"], rows, tests, about))
    return [*found, *(Numbers(task, absent=reason) for task, reason in absent.items())]


def signature_notes(numbers: Sequence[Numbers]) -> list[str]:
    """What stands below a table: where each task's numbers come from."""
    return [
        f"{own.task}: {own.provenance}; code {signature['fingerprint'][:12]}, texts"
        f" {signature['data'][:12]}"
        + (f", kernel `{signature['kernel']}`" if "kernel" in signature else "")
        for own in numbers
        for signature in own.about.get("signatures", ())
    ]


def table2(numbers: Sequence[Numbers], published: pd.DataFrame) -> pd.DataFrame:
    """Every metric and set of references on every task; the paper's cells first, and beside."""
    printed = {tuple(row[key] for key in KEYS): row for row in published.to_dict("records")}
    records: list[dict[str, Any]] = [
        {
            "task": PAPER,
            **{key: row[key] for key in KEYS},
            **_paper(row),
            "note": _NOTE_PAPER,
        }
        for row in published.to_dict("records")
    ]
    for own in numbers:
        if own.absent:
            records += [
                {
                    "task": own.task,
                    "metric": cell.metric,
                    "references": cell.references,
                    **_paper(printed.get((cell.metric, cell.references))),
                    "note": f"not available: {own.absent}",
                }
                for cell in main_cells()
            ]
            continue
        table = own.rows[own.rows["kind"] == "table"]
        main = _is_main(table)
        for row, is_main in zip(table.to_dict("records"), main, strict=True):
            paper = printed.get((row["metric"], row["references"])) if is_main else None
            records.append(
                {
                    **{str(key): value for key, value in row.items()},
                    "task": own.task,
                    **_paper(paper),
                    "provenance": own.provenance,
                    "note": "; ".join(
                        note
                        for note, told in (
                            (_NOTE_MACHINE, is_main and row["references"] == ALL),
                            (_NOTE_TWITTER, paper is not None),
                        )
                        if told
                    ),
                }
            )
    shown = ["task", *CELL_KEYS, "references_per_context", "fallback_share"]
    for column in ("spearman", "kendall"):
        shown += [column, f"{column}_low", f"{column}_high"]
        if column == "spearman":
            shown += [*INTERVALS, *(f"paper_{name}" for name in INTERVALS)]
        shown += [f"{column}_spread_low", f"{column}_spread_high"]
    shown += ["seeds", "spearman_seeds_low", "spearman_seeds_high"]
    shown += ["negative", "n", "unit", "pairs", "contexts", "assignments", "provenance", "note"]
    table = pd.DataFrame(records).reindex(columns=shown)
    for column in ("order", "gold", "seeds", "n", "unit", "pairs", "contexts", "assignments"):
        table[column] = table[column].astype("Int64")
    for column in ("rule", "centre", "lacking", "tokens", "first", "provenance", "note"):
        table[column] = table[column].astype(object).fillna("")
    return table


def _paper(row: Mapping[Any, Any] | None) -> dict[str, Any]:
    return {f"paper_{name}": "" if row is None else row[name] for name in INTERVALS}


def _is_main(table: pd.DataFrame) -> list[bool]:
    """Which rows are cells of the paper's table, under none of the other choices."""
    cells = {tuple(getattr(cell, name) for name in CELL_KEYS) for cell in main_cells()}
    return [
        tuple(bool(v) if k == "gold" else v for k, v in zip(CELL_KEYS, row, strict=True)) in cells
        for row in table[CELL_KEYS].itertuples(index=False)
    ]


def comparison_table(numbers: Sequence[Numbers]) -> pd.DataFrame:
    """Metrics against each other on the same units, by task."""
    parts = [own.tests.assign(task=own.task, provenance=own.provenance) for own in numbers]
    absent = [
        {"task": own.task, "note": f"not available: {own.absent}"} for own in numbers if own.absent
    ]
    table = pd.concat([*parts, pd.DataFrame(absent)], ignore_index=True)
    return table.reindex(columns=["task", *TEST_COLUMNS, "provenance", "note"])


def table2_markdown(table: pd.DataFrame, tests: pd.DataFrame, tasks: Sequence[str]) -> str:
    """The paper's table for each task, then what the choices do, then the tests."""
    parts = []
    for task in [PAPER, *tasks]:
        own = table[table["task"] == task]
        if own.empty:
            continue
        parts.append(f"## {task}{_size(own)}")
        if own["spearman"].notna().any():
            main = pd.Series(_is_main(own), index=own.index)
            parts.append(_lines(own[main], False))
            parts.append("### Other choices\n\n" + _lines(own[~main], True))
            against = tests[tests["task"] == task]
            parts.append("### Against each other on the same units\n\n" + _tests(against))
        else:
            printed = [
                [NAMES[r["metric"]], r["references"], _bracket(r)] for r in own.to_dict("records")
            ]
            parts.append(markdown(["metric", "references", "paper's 95% interval"], printed))
            parts.append(own["note"].iloc[0].capitalize() + ".")
    return "\n\n".join(parts)


def _size(own: pd.DataFrame) -> str:
    first = own.iloc[0]
    if pd.isna(first["n"]):
        return ""
    return (
        f": {first['contexts']} contexts, {first['pairs']} pairs of systems, units of"
        f" {first['unit']}: {first['n']} observations"
    )


def _bracket(row: Mapping[Any, Any]) -> str:
    low, high = (row[f"paper_{name}"] for name in INTERVALS)
    return f"[{low}, {high}]" if low != "" else ""


def _lines(rows: pd.DataFrame, choices: bool) -> str:
    header = ["metric", "with"]
    header += ["rule", "centre", "gold", "lacking", "tokens", "first"] if choices else []
    header += ["references", "fallback"]
    header += ["Spearman (contexts drawn anew)", "as the paper's interval", "Kendall"]
    header += ["paper, Twitter", "least and most over seeds"] if not choices else []
    header += ["share negative"] + (["contexts", "observations"] if choices else [])
    lines = []
    for record in rows.to_dict("records"):
        row = {str(key): value for key, value in record.items()}
        line = [NAMES[row["metric"]], row["references"]]
        if choices:
            line += [row["rule"], row["centre"], "yes" if row["gold"] else "no"]
            line += [row["lacking"], row["tokens"], row["first"]]
        line += [number(row["references_per_context"], 2), number(row["fallback_share"])]
        low, high = (number(row[name]) for name in INTERVALS)
        line += [with_interval(row, "spearman"), f"({low}, {high})", with_interval(row, "kendall")]
        if not choices:
            spread = (number(row[f"spearman_seeds_{end}"], 4) for end in ("low", "high"))
            line += [_bracket(row), " – ".join(spread)]
        line.append(number(row["negative"]))
        if choices:
            line += [str(row["contexts"]), str(row["n"])]
        lines.append(line)
    return markdown(header, lines)


def _tests(rows: pd.DataFrame) -> str:
    header = ["metric", "against", "rho", "rho of the other", "difference"]
    header += ["p (contexts drawn anew)", "p (Williams)"]
    lines = []
    for record in rows.to_dict("records"):
        row = {str(key): value for key, value in record.items()}
        choices = [NAMES[row["metric_a"]], row["references_a"]]
        choices += [
            text
            for text, other in (
                (row["rule_a"], row["rule_a"] != Cell.rule),
                (f"centre {row['centre_a']}", row["centre_a"] != Cell.centre),
                ("gold", row["gold_a"]),
                (row["lacking_a"], row["lacking_a"] != Cell.lacking),
            )
            if other
        ]
        cut = [] if row["tokens"] == Cell.tokens else [f"tokens {row['tokens']}"]
        lines.append(
            [
                ", ".join([*choices, *cut]),
                ", ".join([NAMES[row["metric_b"]], row["references_b"], *cut]),
                number(row["spearman_a"]),
                number(row["spearman_b"]),
                with_interval(row, "difference"),
                number(row["p_bootstrap"]),
                number(row["p_williams"]),
            ]
        )
    return markdown(header, lines)


# ---- ΔBLEU as a predictor ------------------------------------------------------------------------

MODEL_NAMES = {
    "context_mean": "mean of the references",
    "sbleu": "sBLEU",
    "delta_bleu": "ΔBLEU",
    "kernel_mean": "mean weighted by similarity",
    "neighbors": "BLEU Neighbors",
}


def predictor_table(
    numbers: Sequence[Numbers], missing: Mapping[str, Mapping[str, str]] | None = None
) -> pd.DataFrame:
    """Every model on every task, then ΔBLEU against BLEU Neighbors (column ``against``).

    Parameters
    ----------
    missing : task -> kernel -> why BLEU Neighbors is not there with it
    """
    parts = []
    for own in numbers:
        if own.absent:
            row = {"task": own.task, "note": f"not available: {own.absent}"}
            parts.append(pd.DataFrame([row]))
        else:
            parts.append(own.rows.assign(task=own.task, provenance=own.provenance, note=""))
            lost = [
                {
                    "task": own.task,
                    "model": "neighbors",
                    "kernel": kernel,
                    "note": f"not available: {why}",
                }
                for kernel, why in (missing or {}).get(own.task, {}).items()
            ]
            parts += [pd.DataFrame(lost)] if lost else []
    shown = ["task", "model", "variant", "kernel", "against"]
    for column in ("spearman", "mse", "coverage", "spearman_against", "difference"):
        shown += [column, f"{column}_low", f"{column}_high"]
    shown += ["n", "n_covered", "references", "provenance", "note"]
    table = pd.concat(parts, ignore_index=True).reindex(columns=shown)
    for column in ("n", "n_covered"):
        table[column] = table[column].astype("Int64")
    for column in ("model", "variant", "kernel", "against", "provenance", "note"):
        table[column] = table[column].astype(object).fillna("")
    return table


def predictor_markdown(table: pd.DataFrame, tasks: Sequence[str]) -> str:
    """Two tables a task: every model, and ΔBLEU against BLEU Neighbors."""
    parts = []
    for task in tasks:
        own = table[table["task"] == task]
        if own["model"].eq("").all():
            parts += [f"## {task}", own["note"].iloc[0].capitalize() + "."]
            continue
        size = own.iloc[0]
        parts.append(f"## {task}: {size['n']} texts, {size['references']:.1f} references a text")
        lines = []
        for record in own[own["against"] == ""].to_dict("records"):
            row = {str(key): value for key, value in record.items()}
            lines.append(
                [
                    MODEL_NAMES[row["model"]],
                    f"`{row['kernel']}`" if row["kernel"] else row["variant"],
                    with_interval(row, "spearman"),
                    with_interval(row, "mse", 4),
                    with_interval(row, "coverage"),
                ]
            )
        header = ["model", "kernel or variant", "Spearman", "MSE, calibrated", "coverage"]
        parts.append(markdown(header, lines))
        parts.append("### ΔBLEU against BLEU Neighbors, on texts that both estimate")
        lines = []
        for record in own[own["against"] != ""].to_dict("records"):
            row = {str(key): value for key, value in record.items()}
            rho = [with_interval(row, name) for name in ("spearman", "spearman_against")]
            difference = with_interval(row, "difference")
            lines.append(
                [row["variant"], f"`{row['against']}`", *rho, difference, str(row["n_covered"])]
            )
        header = ["ΔBLEU", "BLEU Neighbors", "rho of ΔBLEU", "rho of BLEU Neighbors", "difference"]
        parts.append(markdown([*header, "texts"], lines))
    return "\n\n".join(parts)
