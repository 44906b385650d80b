"""Table 2 of the ΔBLEU paper, and the tests of metrics against each other.

Stage: cell -> table. In: the files by `refless.experiments.delta_bleu.units`, and what the paper
reports. Out: a row for each choice of metric and references on each data set, and a row a test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.delta_bleu.dialogues import ALL, CONTROL, Cell
from refless.experiments.delta_bleu.units import (
    CELL_KEYS,
    NUMBER_COLUMNS,
    TEST_COLUMNS,
    main_cells,
)
from refless.store import signed
from refless.store.signatures import signature_note

KEYS = ["metric", "references"]
PAPER = "twitter"
"""The paper's own data, which is no data set here."""
NOT_PUBLIC = {
    "of": {"task": PAPER},
    "code": "not_public",
    "sentence": "only identifiers of the paper's tweets are public, no texts",
    "remedy": "",
}
"""Why there are no numbers of it, as `refless.report.tables.publish` wants to be told."""
INTERVALS = ("spearman_ci95_low", "spearman_ci95_high")
_WHOLE = ("order", "gold", "seeds", "n", "unit", "systems", "pairs", "contexts", "assignments")


@dataclass(frozen=True)
class Units:
    """The tables of one data set, by `write_units`, and the record of the first."""

    rows: pd.DataFrame
    tests: pd.DataFrame
    about: Mapping[str, Any]

    @property
    def notes(self) -> list[str]:
        """For the footer of a table."""
        return [signature_note(one, self.about) for one in self.about["signatures"]]


def read_units(
    units: Sequence[str | Path],
    tests: Sequence[str | Path],
    settings: Mapping[str, Mapping[str, Any]],
    rated: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Units]:
    """The numbers of the data sets that have any.

    Parameters
    ----------
    units, tests : the files of each data set, in the same order
    settings : data set -> the settings under which they must have been made
    rated : see `read_rows`

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`.
    """
    found = {}
    for path, tests_path in zip(units, tests, strict=True):
        rows, task = read_rows(path, settings, rated)
        against = signed.read(
            tests_path,
            "unit tests",
            of={"task": task},
            settings=settings[task],
            made_from={"units": signed.identity(rows.about)},
            columns=TEST_COLUMNS,
        )
        found[task] = Units(rows.content, against.content, rows.about)
    return found


def read_rows(
    path: str | Path,
    settings: Mapping[str, Mapping[str, Any]],
    rated: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[signed.Signed, str]:
    """The numbers of one data set, without tests, and its name.

    ``rated`` has the sums of the ratings that are there (`refless.data.task.rated_sums`); numbers
    must be made from these.
    """
    task = Path(path).parent.name
    file = signed.read(
        path,
        "units",
        of={"task": task},
        settings=settings[task],
        made_from=(rated or {}).get(task),
        columns=NUMBER_COLUMNS,
    )
    return file, task


def table2(
    looks: Mapping[str, Mapping[str, Any]], units: Mapping[str, Units], published: pd.DataFrame
) -> pd.DataFrame:
    """Every metric and set of references on every data set; the paper's cells first, and beside.

    Parameters
    ----------
    looks : data set -> its entry of the configuration (``note``), all in the order of the rows
    units : of those that are there; the others get a row for each cell of the paper's table
    published : `refless.report.published.read_published`

    Returns
    -------
    Columns are those of `CELL_KEYS`, ``choices`` (how a row departs from the paper's table, empty
    if it does not) and the numbers.
    """
    printed = {tuple(row[key] for key in KEYS): row for row in published.to_dict("records")}
    records: list[dict[str, Any]] = [
        {"task": PAPER, **{key: row[key] for key in KEYS}, **_paper(row), "note": []}
        for row in printed.values()
    ]
    for task in looks:
        if task not in units:
            for cell in main_cells():
                printed_cell = _paper(printed.get((cell.metric, cell.references)))
                named = {"task": task, "metric": cell.metric, "references": cell.references}
                records.append({**named, **printed_cell, "choices": "", "note": []})
            continue
        own = units[task]
        humans = own.about["facts"]["humans"]
        for record in own.rows[own.rows["kind"] == "table"].to_dict("records"):
            row = {str(name): value for name, value in record.items()}
            choices = _choices(row)
            paper = None if choices else printed.get((row["metric"], row["references"]))
            notes: list[str] = []
            machines = row["references_per_context"] - humans
            if not choices and row["references"] == ALL and machines > humans:
                notes.append("most references are machine outputs, unlike the paper's")
            if paper is not None:
                notes.append(f"paper_ columns: {PAPER.capitalize()}")
            origin = own.about["provenance"]
            given = {"task": task, "choices": choices, "provenance": origin, "note": notes}
            records.append({**row, **_paper(paper), **given})
    shown = ["task", *CELL_KEYS, "choices", "references_per_context", "fallback_share"]
    for column in ("spearman", "kendall"):
        shown.append(column)
        if column == "spearman":
            shown += ["spearman_systems_low", "spearman_systems_high"]
        shown += [f"{column}_low", f"{column}_high"]
        if column == "spearman":
            shown += [*INTERVALS, *(f"paper_{name}" for name in INTERVALS)]
            shown += ["spearman_within_pairs"]
            shown += ["spearman_without_one_low", "spearman_without_one_high"]
            shown += [f"pairwise_accuracy{end}" for end in ("", "_low", "_high")]
        shown += [f"{column}_spread_low", f"{column}_spread_high"]
    shown += ["seeds", "spearman_seeds_low", "spearman_seeds_high"]
    shown += [
        "negative",
        "n",
        "unit",
        "systems",
        "pairs",
        "contexts",
        "assignments",
        "provenance",
        "note",
    ]
    table = pd.DataFrame(records).reindex(columns=shown)
    return _typed(table, _WHOLE, ("rule", "centre", "lacking", "tokens", "first", "choices"))


def _paper(row: Mapping[Any, Any] | None) -> dict[str, Any]:
    return {f"paper_{name}": "" if row is None else row[name] for name in INTERVALS}


def _choices(row: Mapping[str, Any]) -> str:
    """How a row departs from the paper's table, e.g. ``rule floor, centre mean``; mostly empty."""
    names = [field.name for field in fields(Cell) if field.name not in KEYS]
    changed = {name: row[name] for name in names if row[name] != getattr(Cell, name)}
    if not changed and Cell(row["metric"], row["references"]) not in main_cells():
        changed = {"references": row["references"]}
    if "gold" in changed:
        changed["gold"] = "added"
    return ", ".join(f"{name} {value}" for name, value in changed.items())


def comparison_table(
    looks: Mapping[str, Mapping[str, Any]], units: Mapping[str, Units]
) -> pd.DataFrame:
    """Metrics against each other on the same units, by data set; one row for each without any."""
    parts = []
    for task in looks:
        part = pd.DataFrame([{"provenance": ""}])
        if task in units:
            part = units[task].tests.assign(provenance=units[task].about["provenance"])
        notes: list[list[str]] = [[] for _ in range(len(part))]
        parts.append(part.assign(task=task, note=pd.Series(notes, dtype=object)))
    shown = ["task", *TEST_COLUMNS, "provenance", "note"]
    table = pd.concat(parts or [pd.DataFrame(columns=shown)], ignore_index=True)
    names = [name for name in TEST_COLUMNS[:9] if name != "gold_a"]
    whole = ("gold_a", "n", "systems", "systems_needed")
    return _typed(table.reindex(columns=shown), whole, names)


def finding(looks: Mapping[str, Mapping[str, Any]], table: pd.DataFrame) -> str:
    """What remains of the paper's claim: a sentence for each data set that has numbers.

    It is about the references with which ΔBLEU does best there, and follows from tests of ΔBLEU
    against BLEU: with systems and contexts drawn anew, with contexts alone (so on these systems),
    with other tokens, without contexts where the human response stands in, and with weighted
    contexts in BLEU.

    Parameters
    ----------
    looks : data set -> its entry of the configuration (``name``)
    table : by `comparison_table`
    """
    sentences = []
    for task, own in table[table["provenance"] != ""].groupby("task", sort=False):
        plain = own[(own["metric_a"] == "delta_bleu") & (own["rule_a"] == "smooth")]
        plain = plain[plain["references_a"] == plain["references_b"]]
        plain = plain[(plain["centre_a"] == "scale") & (plain["gold_a"] == 0)]
        blanks = plain[(plain["tokens"] == "blanks") & (plain["metric_b"] == "bleu")]
        plain = plain[plain["tokens"] == "words"]
        ignored = plain[(plain["lacking_a"] == "ignored") & (plain["metric_b"] == "bleu")]
        plain = plain[plain["lacking_a"] == "raised"]
        row = plain.sort_values("spearman_a", ascending=False, kind="stable").iloc[0]
        best = str(row["references_a"])
        tests = plain[plain["references_a"] == best]
        bleu, control = (
            tests[tests["metric_b"] == name].iloc[0].to_dict() for name in ("bleu", CONTROL)
        )
        sentence = (
            f"{looks[str(task)]['name']}, references {best}, where of the sets tested ΔBLEU's rho"
            f" is highest, other choices aside: ΔBLEU ({bleu['spearman_a']:.2f}) {verdict(bleu)}"
            f" BLEU ({bleu['spearman_b']:.2f}; {_with_intervals(bleu)})."
        )
        if verdict(bleu) == LEVEL_WITH and bleu["difference_low"] > 0:
            sentence += " On these systems alone (contexts drawn, uncorrected) it is ahead."
        for others, what in (
            (blanks, "Where punctuation stays at its word"),
            (ignored, "Without the contexts where the human response stands in"),
        ):
            for test in others[others["references_a"] == best].to_dict("records"):
                if test["difference"] == bleu["difference"]:
                    continue  # it stands in nowhere
                sentence += (
                    f" {what}, it ({test['spearman_a']:.2f}) {verdict(test)} BLEU"
                    f" ({test['spearman_b']:.2f}; {_with_intervals(test)})."
                )
        sentences.append(
            f"{sentence} It {verdict(control)} BLEU whose contexts count by the weight of their"
            f" best reference ({control['spearman_b']:.2f}; {_with_intervals(control)})."
        )
    return " ".join(sentences) or "There are no numbers."


AHEAD, BEHIND, LEVEL_WITH = "is ahead of", "is behind", "is not shown to differ from"


def verdict(test: Mapping[Any, Any]) -> str:
    """How the first metric of a test stands to the second, with systems and contexts drawn anew;
    with contexts alone, where systems are too few."""
    drawn = "difference" if np.isnan(test["difference_systems_low"]) else "difference_systems"
    if test[f"{drawn}_low"] > 0:
        return AHEAD
    return BEHIND if test[f"{drawn}_high"] < 0 else LEVEL_WITH


def _with_intervals(test: Mapping[Any, Any]) -> str:
    ends = ("difference_systems", "difference")
    anew, contexts = (f"{test[f'{name}_low']:.3f} to {test[f'{name}_high']:.3f}" for name in ends)
    if np.isnan(test["difference_systems_low"]):
        return (
            f"difference {test['difference']:.3f}, {contexts} with contexts alone drawn anew; there"
            " are too few systems for an interval over them"
        )
    return (
        f"difference {test['difference']:.3f}, {anew} with systems and contexts drawn anew,"
        f" {contexts} with contexts alone; {test['least_detectable']:.2f} could be found"
    )


def _typed(table: pd.DataFrame, whole: Sequence[str], texts: Sequence[str]) -> pd.DataFrame:
    """Whole numbers and texts as such, also where a row has none."""
    table = table.astype(dict.fromkeys(whole, "Int64"))
    for name in [*texts, "provenance"]:
        table[name] = table[name].astype(object).fillna("")
    return table
