"""Table 3 of the BLEU Neighbors paper (essays), what its numbers hang on, and its tests.

Stage: cell -> table. In: numbers from `refless.experiments.bleu_neighbors.essays`, the published
table. Out: tables, as data and for reading: table 3; Williams' test between its rows; the
sensitivity of its cells to one choice at a time; every set of essays as the test set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.bleu_neighbors.essays import PUBLISHED, Recipe
from refless.experiments.bleu_neighbors.leave_one_out import apply_thresholds, model_cells
from refless.report.published import (
    EQUAL,
    beside_published,
    compare,
    markdown,
    number,
    with_interval,
)
from refless.statistics import spearman, weighted_midranks, weighted_pearson, williams

Array = np.ndarray

KEYS = ["model", "train_topic"]
VALUES = ["spearman", "p_below_0.01", "coverage"]
MODEL = "bleu_neighbors"
QUOTED = {
    "rouge_l": "the model answer of the test set, which ASAP-SAS's files do not have",
    "wms_elmo": "the model answer of the test set and ELMo embeddings",
    "sms_elmo": "the model answer of the test set and ELMo embeddings",
    "s_wms_elmo": "the model answer of the test set and ELMo embeddings",
}
CHOICES = {
    "reading": "quotation marks in the raw files",
    "sentences": "rule that counts sentences",
    "cut": "training essays",
    "raters": "raters of a training essay",
    "kernel": "n-gram unit",
    "tau": "tau",
    "means": "mean over the neighbors",
}


@dataclass(frozen=True)
class Settings:
    """a, b : evidence thresholds; draws, seed : of the bootstrap over test essays."""

    a: int
    b: float
    draws: int
    seed: int


@dataclass(frozen=True)
class Numbers:
    """What the tables are made of, or why there is nothing.

    estimates : `ESTIMATE_COLUMNS`, without rows if absent
    recipe : the one that the rows ``published`` of ``estimates`` were made by
    provenance : ``computed`` or ``shipped``, empty if absent
    absent : why there are no numbers; empty if there are
    """

    estimates: pd.DataFrame
    recipe: Recipe
    provenance: str
    absent: str = ""

    def of(self, choice: str, variant: str, topic: str) -> pd.DataFrame:
        """The rows of one training set under one recipe."""
        rows = self.estimates
        own = (rows["choice"] == choice) & (rows["variant"] == variant)
        return rows[own & (rows["train_topic"] == topic)]

    @property
    def reading(self) -> str:
        """``published``, unless the configuration asks for another recipe."""
        return PUBLISHED if self.recipe == Recipe() else "as configured"

    def topics(self, published: pd.DataFrame) -> list[str]:
        """The training sets, in their order; without numbers, those of the paper."""
        if self.absent:
            return published.loc[published["model"] == MODEL, "train_topic"].tolist()
        return list(dict.fromkeys(self.estimates["train_topic"]))


def is_single(topic: str) -> bool:
    """Whether a training set is one set of essays."""
    return topic.isdigit()


def _count(value: Any) -> str:
    return "–" if pd.isna(value) else str(int(value))


def _note(*reasons: str) -> str:
    return "; ".join(filter(None, reasons))


# ---- table 3 -------------------------------------------------------------------------------------


def table3(numbers: Numbers, published: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The quoted rows, then each training set: the published recipe, other units, exact means."""
    rows: list[dict[str, Any]] = [
        {
            "model": row["model"],
            "train_topic": row["train_topic"],
            "note": f"quoted from the paper, not computed here: needs {QUOTED[row['model']]}",
        }
        for row in published.to_dict("records")
        if row["model"] in QUOTED
    ]
    for topic in numbers.topics(published):
        if numbers.absent:
            rows.append(
                {
                    "model": MODEL,
                    "train_topic": topic,
                    "kernel": numbers.recipe.kernel,
                    "note": f"not available: {numbers.absent}",
                }
            )
            continue
        for choice, variant in _variants(numbers.estimates):
            own = numbers.of(choice, variant, topic)
            rows.append(
                {
                    "model": MODEL,
                    "train_topic": topic,
                    "kernel": variant if choice == "kernel" else numbers.recipe.kernel,
                    "reading": variant if choice == "means" else numbers.reading,
                    **_cells(own, settings),
                    "provenance": numbers.provenance,
                }
            )
    table = beside_published(pd.DataFrame(rows), published, KEYS, VALUES)
    shown = [*KEYS, "kernel", "reading"]
    for column in ("spearman", "coverage"):
        shown += [column, f"{column}_low", f"{column}_high", f"paper_{column}"]
    shown += ["p_value", "p_below_0.01", "paper_p_below_0.01", "agreement", "n", "n_train"]
    table = table.reindex(columns=[*shown, "provenance", "note"])
    for column in ("kernel", "reading", "provenance", "note"):
        table[column] = table[column].astype(object).fillna("")
    for column in ("n", "n_train", "p_below_0.01"):
        table[column] = table[column].astype("Int64")
    return _explained(table)


def _variants(estimates: pd.DataFrame) -> list[tuple[str, str]]:
    """The published recipe, and those with another unit or another mean: rows of table 3."""
    pairs = dict.fromkeys(zip(estimates["choice"], estimates["variant"], strict=True))
    return [pair for pair in pairs if pair[0] in (PUBLISHED, "kernel", "means")]


def _cells(own: pd.DataFrame, settings: Settings) -> dict[str, Any]:
    if own.empty:
        return {"n": 0, "note": "no test essay has the wanted number of sentences"}
    cells = model_cells(own, settings.a, settings.b, settings.draws, settings.seed)
    training = int(own["training"].iloc[0])
    note = ""
    if not cells["n_covered"]:
        note = (
            f"no essay has {settings.a} neighbors or more (the most that any has is"
            f" {own['neighbors'].max()})"
        )
    elif np.isnan(cells["spearman"]):  # type: ignore[call-overload]
        note = "too few essays, or all estimates or all scores are alike"
    return {**cells, "n_train": training, "note": note}


def _explained(table: pd.DataFrame) -> pd.DataFrame:
    """Say at a combination that misses the paper's value which further omission would give it."""
    first = ~table.duplicated(KEYS)
    for row in table.index[first & table["train_topic"].str.startswith("all_but_")]:
        topic, printed = table.loc[row, "train_topic"], str(table.loc[row, "paper_spearman"])
        if printed == "" or table.loc[row, "agreement"] in (EQUAL, "not available"):
            continue
        further = table[first & table["train_topic"].str.startswith(f"{topic}_and_")]
        found = [
            f"{other} ({number(rho, 4)})"
            for other, rho in zip(further["train_topic"], further["spearman"], strict=True)
            if compare(rho, printed, np.nan, np.nan) == EQUAL
        ]
        table.loc[row, "note"] = _note(
            f"{number(table.loc[row, 'spearman'], 4)} over {table.loc[row, 'n_train']} essays,"
            f" the paper has {printed}",
            f"what rounds to it leaves one more set out: {', '.join(found)}" if found else "",
        )
    return table


def table3_markdown(table: pd.DataFrame) -> str:
    """The published rows, then what unit and rounding do; reasons are numbered below."""
    first = ~table.duplicated(KEYS)
    reasons: dict[str, int] = {}
    header = ["model", "trained on", "kernel", "reading", "Spearman", "coverage", "p"]
    parts = []
    for title, part in (
        ("## As published", table[first]),
        ("## Other units, exact means", table[~first]),
    ):
        if part.empty:
            continue
        lines = []
        for record in part.to_dict("records"):
            row = {str(key): value for key, value in record.items()}
            star = "*" if row["p_below_0.01"] is not pd.NA and row["p_below_0.01"] == 1 else ""
            marks = [
                str(reasons.setdefault(reason, len(reasons) + 1))
                for reason in filter(None, row["note"].split("; "))
            ]
            lines.append(
                [
                    row["model"],
                    row["train_topic"],
                    f"`{row['kernel']}`" if row["kernel"] else "",
                    row["reading"],
                    _beside(row, "spearman", 3, star),
                    _beside(row, "coverage", 3),
                    number(row["p_value"], 4),
                    *(_count(row[n]) for n in ("n", "n_train")),
                    row["agreement"],
                    row["provenance"],
                    ", ".join(marks),
                ]
            )
        columns = [*header, "n", "training essays", "agreement", "provenance", "reason"]
        parts += [title, markdown(columns, lines)]
    if reasons:
        parts += ["## Reasons", "\n".join(f"{k}. {reason}" for reason, k in reasons.items())]
    return "\n\n".join(parts)


def _beside(row: dict[str, Any], column: str, digits: int, star: str = "") -> str:
    ours = with_interval(row, column, digits)
    if star and ours != "–":
        value = number(row[column], digits)
        ours = ours.replace(value, value + star, 1)
    paper = row[f"paper_{column}"]
    return f"{ours} [{paper}]" if paper != "" else ours


def lead_text(settings: Settings, selection: Mapping[str, int]) -> str:
    """What stands above the tables for reading."""
    return (
        f"Spearman's rho between estimated and given scores of the test essays of set"
        f" {selection['test_set']} with {selection['fewest']} to {selection['most']} sentences,"
        f" with 95% bootstrap intervals over them ({settings.draws} draws, seed {settings.seed});"
        f" a = {settings.a}, b = {settings.b:g}. So few essays leave an interval of about 0.6"
        " around each cell."
    )


# ---- Williams' test ------------------------------------------------------------------------------

WILLIAMS_COLUMNS = [
    "train_topic",
    "against",
    "spearman",
    "against_spearman",
    "between",
    "t",
    "p_value",
    "p_below_0.01",
    "between_for_p_0.01",
    "n",
    "provenance",
    "note",
]


def williams_table(numbers: Numbers, published: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Is one training set better than another, and than the rows that the paper quotes?

    Columns: ``train_topic`` against ``against`` (a training set, or a model of the paper), their
    rho with the gold scores over the essays that both cover, the correlation ``between`` their
    estimates, Williams' ``t`` and two-sided ``p_value``. Of the quoted models there are no
    estimates: ``between_for_p_0.01`` is the correlation that theirs would need with ours for the
    difference to be significant.
    """
    paper = published[published["model"] == MODEL]["train_topic"].tolist()
    quoted = published[published["model"].isin(QUOTED)]
    rows: list[dict[str, Any]] = []
    predicted: dict[str, Array] = {}
    truth = np.empty(0)
    if not numbers.absent:
        own = {topic: numbers.of(PUBLISHED, "", topic) for topic in numbers.topics(published)}
        own = {topic: part for topic, part in own.items() if topic in paper and len(part)}
        predicted = {t: apply_thresholds(p, settings.a, settings.b) for t, p in own.items()}
        for part in own.values():
            truth = part["quality"].to_numpy(np.float64)
    for a, b in combinations(paper, 2):
        row: dict[str, Any] = {"train_topic": a, "against": b}
        if a in predicted and b in predicted:
            row |= _compared(predicted[a], predicted[b], truth)
        rows.append(row)
    for topic in paper:
        for model, printed in zip(quoted["model"], quoted["spearman"], strict=True):
            row = {"train_topic": topic, "against": model, "against_spearman": float(printed)}
            row["note"] = "their estimates are not published, so the test itself cannot be run"
            if topic in predicted:
                covered = ~np.isnan(predicted[topic])
                rho, _ = spearman(predicted[topic][covered], truth[covered])
                n = int(covered.sum())
                row |= {"spearman": rho, "n": n}
                row["between_for_p_0.01"] = between_needed(rho, float(printed), n)
            rows.append(row)
    table = pd.DataFrame(rows)
    table["provenance"] = numbers.provenance
    table = table.reindex(columns=WILLIAMS_COLUMNS)
    table["note"] = table["note"].astype(object).fillna("")
    if numbers.absent:
        table["note"] = f"not available: {numbers.absent}"
    for column in ("n", "p_below_0.01"):
        table[column] = table[column].astype("Int64")
    return table


def _compared(a: Array, b: Array, truth: Array) -> dict[str, Any]:
    both = ~(np.isnan(a) | np.isnan(b))
    n = int(both.sum())
    if n == 0:
        return {"n": 0, "note": "no essay is covered by both"}
    ranks = [weighted_midranks(x[both], np.ones((1, n))) for x in (a, b, truth)]
    rho, against, between = (
        float(weighted_pearson(ranks[i], ranks[j], np.ones((1, n)))[0])
        for i, j in ((0, 2), (1, 2), (0, 1))
    )
    t, p = williams(rho, against, between, n)
    return {
        "spearman": rho,
        "against_spearman": against,
        "between": between,
        "t": t,
        "p_value": p,
        "p_below_0.01": int(p < 0.01),
        "n": n,
    }


def between_needed(r_a: float, r_b: float, n: int, level: float = 0.01) -> float:
    """The least correlation between two predictions from which on Williams' p is below ``level``.

    Looked for from r_a r_b (what they share is the truth alone) up to the greatest correlation
    that three variables can have; on that range t grows. NaN where no correlation is enough.
    """
    if np.isnan(r_a) or np.isnan(r_b) or n < 4 or r_a == r_b:
        return float("nan")
    low = r_a * r_b
    high = low + float(np.sqrt((1 - r_a**2) * (1 - r_b**2)))
    if williams(r_a, r_b, high, n)[1] >= level:
        return float("nan")
    if williams(r_a, r_b, low, n)[1] < level:
        return low
    for _ in range(60):
        middle = (low + high) / 2
        if williams(r_a, r_b, middle, n)[1] < level:
            high = middle
        else:
            low = middle
    return high


def williams_markdown(table: pd.DataFrame) -> str:
    """p-values, training set against training set, and the quoted rows in words."""
    ours = table[table["between"].notna()]
    if ours.empty:
        reason = table["note"].iloc[0]
        return f"## Williams' test\n\n{reason or 'no two training sets can be compared'}"
    names = list(dict.fromkeys([*ours["train_topic"], *ours["against"]]))
    p = {
        (a, b): value
        for a, b, value in zip(ours["train_topic"], ours["against"], ours["p_value"], strict=True)
    }
    lines = [
        [a, *("" if (a, b) not in p else number(p[a, b], 3) for b in names[1:])] for a in names[:-1]
    ]
    quoted = table[table["between"].isna() & table["spearman"].notna()]
    best = quoted.loc[quoted["spearman"] == quoted["spearman"].max()]
    needed = ", ".join(
        f"{number(r, 3)} with {model} ({rho:.3f})"
        for model, rho, r in zip(
            best["against"], best["against_spearman"], best["between_for_p_0.01"], strict=True
        )
    )
    text = (
        "## Williams' test\n\nTwo-sided p-values of the difference between two training sets"
        f" ({ours['n'].max()} essays):\n\n{markdown(['', *names[1:]], lines)}"
    )
    if not best.empty:
        text += (
            "\n\nThe paper finds no significant difference between its best row and the quoted"
            " models. Without their estimates that cannot be tested again; for p < 0.01, the"
            f" estimates from set {best['train_topic'].iloc[0]} would have to correlate with"
            f" theirs at no less than: {needed}."
        )
    return text


# ---- sensitivity ---------------------------------------------------------------------------------

SENSITIVITY_COLUMNS = [
    "choice",
    "variant",
    "default",
    "train_topic",
    "spearman",
    "spearman_low",
    "spearman_high",
    "difference",
    "paper_spearman",
    "difference_to_paper",
    "coverage",
    "n",
    "n_train",
    "provenance",
    "note",
]


def sensitivity_table(
    numbers: Numbers,
    changes: Mapping[str, Sequence[Any]],
    published: pd.DataFrame,
    settings: Settings,
) -> pd.DataFrame:
    """Every value of every choice, the others left as they are, on every single set.

    ``difference`` is to the value of ``default`` 1 (the recipe itself), ``difference_to_paper`` to
    the paper's value. Rows of the recipe itself stand under each choice.
    """
    paper = {
        row["train_topic"]: row["spearman"]
        for row in published.to_dict("records")
        if row["model"] == MODEL
    }
    rows: list[dict[str, Any]] = []
    cells: dict[tuple[str, str, str], dict[str, Any]] = {}
    for choice, values in changes.items():
        for value in values:
            default = value == asdict(numbers.recipe)[choice]
            for topic in filter(is_single, numbers.topics(published)):
                row = {
                    "choice": choice,
                    "variant": f"{value}",
                    "default": int(default),
                    "train_topic": topic,
                    "paper_spearman": paper.get(topic, ""),
                    "provenance": numbers.provenance,
                }
                if numbers.absent:
                    rows.append(row | {"note": f"not available: {numbers.absent}"})
                    continue
                for key in ((PUBLISHED, "", topic), (choice, f"{value}", topic)):
                    if key not in cells and not (default and key[0] != PUBLISHED):
                        cells[key] = _cells(numbers.of(*key), settings)
                base = cells[PUBLISHED, "", topic]
                own = base if default else cells[choice, f"{value}", topic]
                row |= own
                row["difference"] = own.get("spearman", np.nan) - base.get("spearman", np.nan)
                if row["paper_spearman"] != "":
                    row["difference_to_paper"] = own.get("spearman", np.nan) - float(
                        row["paper_spearman"]
                    )
                rows.append(row)
    table = pd.DataFrame(rows).reindex(columns=SENSITIVITY_COLUMNS)
    table["note"] = table["note"].astype(object).fillna("")
    for column in ("n", "n_train"):
        table[column] = table[column].astype("Int64")
    return table


def sensitivity_markdown(table: pd.DataFrame) -> str:
    """Rho, a line a value and a column a set; the recipe itself once, above."""
    sets = list(dict.fromkeys(table["train_topic"]))
    header = ["choice", "variant", *(f"set {name}" for name in sets), "n", "greatest change"]
    paper = table.drop_duplicates("train_topic").set_index("train_topic")["paper_spearman"]
    lines = [["the paper", "", *(str(paper[name]) or "–" for name in sets), "", ""]]
    itself = table[table["default"] == 1]
    if not itself.empty:
        first = itself[itself["choice"] == itself["choice"].iloc[0]]
        lines.append(["published recipe", "", *_line(first, sets), ""])
    changed = table[table["default"] == 0]
    for choice, variant in dict.fromkeys(zip(changed["choice"], changed["variant"], strict=True)):
        part = changed[(changed["choice"] == choice) & (changed["variant"] == variant)]
        part = part.reset_index(drop=True)
        where = "–"
        if part["difference"].notna().any():
            most = int(part["difference"].abs().argmax())
            where = f"{number(part['difference'][most])} (set {part['train_topic'][most]})"
        lines.append([CHOICES[choice], variant, *_line(part, sets), where])
    body = markdown(header, lines)
    return "\n\n".join([body, *_why_empty(table)])


def _why_empty(table: pd.DataFrame) -> list[str]:
    notes = [note for note in dict.fromkeys(table["note"]) if note]
    return ["Cells without a number: " + "; ".join(notes) + "."] if notes else []


def _line(part: pd.DataFrame, sets: Sequence[str]) -> list[str]:
    rho = part.set_index("train_topic")["spearman"]
    sizes = sorted({str(n) for n in part["n"].dropna()})
    return [*(number(rho[name]) for name in sets), ", ".join(sizes)]


# ---- every set as the test set -------------------------------------------------------------------

ESSAYS_COLUMNS = [
    "essays",
    "test_set",
    "train_set",
    "spearman",
    "spearman_low",
    "spearman_high",
    "length_spearman",
    "p_value",
    "coverage",
    "n",
    "n_train",
    "provenance",
    "note",
]
PARTS = ("whole", "cut")


def essays_table(
    sums: pd.DataFrame,
    most: int,
    training: Mapping[str, Mapping[str, int]],
    provenance: str,
    settings: Settings,
) -> pd.DataFrame:
    """Rho for every test set and every training set, on whole sets and on the cut ones.

    ``length_spearman`` is the rho of the essay's length in characters with its score: what is to be
    had without any training essay.

    Parameters
    ----------
    sums : from `refless.experiments.bleu_neighbors.essays.set_sums`
    most : the greatest score in ``points_k``
    training : part -> set -> number of training essays
    """
    rows = []
    sets = [name.removeprefix("points_") for name in sums.columns if name.startswith("points_")]
    for part in PARTS:
        for test_set in map(int, sets):
            own = sums[(sums["essays"] == part) & (sums["set"] == test_set)]
            length, _ = spearman(
                own["characters"].to_numpy(np.float64), own["gold"].to_numpy(np.float64)
            )
            for train_set in sets:
                neighbors = own[f"neighbors_{train_set}"].to_numpy(np.int64)
                with np.errstate(invalid="ignore"):
                    # whole numbers, divided once: equal means are equal numbers
                    estimate = own[f"points_{train_set}"].to_numpy(np.float64) / (most * neighbors)
                table = pd.DataFrame(
                    {
                        "quality": own["gold"].to_numpy(np.float64),
                        "estimate": estimate,
                        "neighbors": neighbors,
                        "training": training[part][train_set],
                    }
                )
                rows.append(
                    {
                        "essays": part,
                        "test_set": test_set,
                        "train_set": int(train_set),
                        **_cells(table, settings),
                        "length_spearman": length,
                        "provenance": provenance,
                    }
                )
    return _essays_columns(pd.DataFrame(rows))


def absent_essays_table(reason: str, sets: int = 10) -> pd.DataFrame:
    """The same rows without numbers, each saying why."""
    rows = [
        {"essays": part, "test_set": i, "train_set": j, "note": f"not available: {reason}"}
        for part in PARTS
        for i in range(1, sets + 1)
        for j in range(1, sets + 1)
    ]
    return _essays_columns(pd.DataFrame(rows))


def _essays_columns(table: pd.DataFrame) -> pd.DataFrame:
    table = table.reindex(columns=ESSAYS_COLUMNS)
    for column in ("provenance", "note"):
        table[column] = table[column].astype(object).fillna("")
    for column in ("n", "n_train"):
        table[column] = table[column].astype("Int64")
    return table


def essays_markdown(table: pd.DataFrame) -> str:
    """One matrix for whole sets, one for the cut ones: test sets down, training sets across."""
    titles = {"whole": "## All essays", "cut": "## Essays of the wanted number of sentences"}
    parts = []
    for part in PARTS:
        own = table[table["essays"] == part]
        rho = own.pivot_table(
            index="test_set", columns="train_set", values="spearman", dropna=False, sort=False
        )
        first = own.drop_duplicates("test_set").set_index("test_set")
        n, length = first["n"], first["length_spearman"]
        lines = [
            [str(test), _count(n[test]), *map(number, rho.loc[test]), number(length[test])]
            for test in rho.index
        ]
        header = ["test set", "test essays", *(f"from {name}" for name in rho.columns), "length"]
        parts += [titles[part], markdown(header, lines)]
    return "\n\n".join([*parts, *_why_empty(table)])
