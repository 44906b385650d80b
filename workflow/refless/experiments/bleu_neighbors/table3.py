"""Table 3 of the BLEU Neighbors paper (essays), what its numbers hang on, and its tests.

Stage: cell -> table. In: numbers from `refless.experiments.bleu_neighbors.essays`, the published
table. Out: table 3; Williams' test between its rows; the sensitivity of its cells to one choice at
a time; every set of essays as the test set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.bleu_neighbors.essays import ESTIMATE_COLUMNS, PUBLISHED, Recipe
from refless.experiments.bleu_neighbors.leave_one_out import apply_thresholds, model_cells
from refless.report.published import EQUAL, MISSING, beside_published, compare, number
from refless.statistics import spearman, weighted_midranks, weighted_pearson, williams
from refless.store import signed
from refless.store.signatures import signature_note

Array = np.ndarray

KEYS = ["model", "train_topic"]
VALUES = ["spearman", "p_below_0.01", "coverage"]
MODEL = "bleu_neighbors"
QUOTED = {
    "rouge_l": "the model answer of the test set, which does not come with the essays",
    "wms_elmo": "the model answer of the test set and ELMo embeddings",
    "sms_elmo": "the model answer of the test set and ELMo embeddings",
    "s_wms_elmo": "the model answer of the test set and ELMo embeddings",
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
    """What the tables are made of.

    estimates : `ESTIMATE_COLUMNS`, without rows if there are none
    recipe : the one that the rows ``published`` of ``estimates`` were made by
    provenance : ``computed`` or ``shipped``, empty if there are none
    """

    estimates: pd.DataFrame
    recipe: Recipe
    provenance: str

    def of(self, choice: str, variant: str, topic: str) -> pd.DataFrame:
        """The rows of one training set under one recipe."""
        rows = self.estimates
        own = (rows["choice"] == choice) & (rows["variant"] == variant)
        return rows[own & (rows["train_topic"] == topic)]

    @property
    def absent(self) -> bool:
        """Whether there are none."""
        return not self.provenance

    @property
    def reading(self) -> str:
        """``published``, unless the configuration asks for another recipe."""
        return PUBLISHED if self.recipe == Recipe() else "as configured"

    def topics(self, published: pd.DataFrame) -> list[str]:
        """The training sets, in their order; without numbers, those of the paper."""
        if self.absent:
            return published.loc[published["model"] == MODEL, "train_topic"].tolist()
        return list(dict.fromkeys(self.estimates["train_topic"]))


def read_estimates(
    path: str | Path | None, settings: Mapping[str, Any]
) -> tuple[Numbers, list[str]]:
    """The numbers of `write_estimates`, and lines for a footer; without a path there are none.

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`, e.g. numbers of another recipe.
    """
    recipe = Recipe(**settings["recipe"])
    if path is None:
        return Numbers(pd.DataFrame(columns=ESTIMATE_COLUMNS), recipe, ""), []
    file = signed.read(path, "essay estimates", settings=settings, columns=ESTIMATE_COLUMNS)
    return Numbers(file.content, recipe, file.about["provenance"]), _footer(file.about)


def _footer(about: Mapping[str, Any]) -> list[str]:
    kernels = [one for one in about["signatures"] if "kernel" in one]
    return about["facts"]["notes"] + [
        f"{signature_note(one, about)}, read {one['reading']}" for one in kernels
    ]


def is_single(topic: str) -> bool:
    """Whether a training set is one set of essays."""
    return topic.isdigit()


def _tidy(table: pd.DataFrame, columns: list[str], counts: Sequence[str]) -> pd.DataFrame:
    """The columns in their order: text and notes are never missing, counts are whole numbers."""
    table = table.reindex(columns=columns)
    for name in {"kernel", "reading", "reason", "provenance"} & set(columns):
        table[name] = table[name].astype(object).fillna("")
    table["note"] = [note if isinstance(note, list) else [] for note in table["note"]]
    for name in counts:
        table[name] = table[name].astype("Int64")
    return table


# ---- table 3 -------------------------------------------------------------------------------------


def table3(numbers: Numbers, published: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The quoted rows, then each training set: the published recipe, other units, exact means."""
    rows: list[dict[str, Any]] = [
        {
            "model": row["model"],
            "train_topic": row["train_topic"],
            "reason": "quoted",
            "note": [f"quoted from the paper, not computed here: needs {QUOTED[row['model']]}"],
        }
        for row in published.to_dict("records")
        if row["model"] in QUOTED
    ]
    for topic in numbers.topics(published):
        if numbers.absent:
            kernel = numbers.recipe.kernel
            rows.append({"model": MODEL, "train_topic": topic, "kernel": kernel})
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
    shown += ["provenance", "reason", "note"]
    table = _tidy(table, shown, ["n", "n_train", "p_below_0.01"])
    return _explained(table)


def _variants(estimates: pd.DataFrame) -> list[tuple[str, str]]:
    """The published recipe, and those with another unit or another mean: rows of table 3."""
    pairs = dict.fromkeys(zip(estimates["choice"], estimates["variant"], strict=True))
    return [pair for pair in pairs if pair[0] in (PUBLISHED, "kernel", "means")]


def _cells(own: pd.DataFrame, settings: Settings) -> dict[str, Any]:
    if own.empty:
        return {"n": 0, "note": ["no test essay has the wanted number of sentences"]}
    cells = model_cells(own, settings.a, settings.b, settings.draws, settings.seed)
    training = int(own["training"].iloc[0])
    note = []
    if not cells["n_covered"]:
        note.append(
            f"no essay has {settings.a} neighbors or more (the most that any has is"
            f" {own['neighbors'].max()})"
        )
    elif np.isnan(cells["spearman"]):  # type: ignore[call-overload]
        note.append("too few essays, or all estimates or all scores are alike")
    return {**cells, "n_train": training, "note": note}


def _explained(table: pd.DataFrame) -> pd.DataFrame:
    """Say at a combination that misses the paper's value which further omission would give it."""
    first = ~table.duplicated(KEYS)
    notes = table["note"].tolist()
    for row in table.index[first & table["train_topic"].str.startswith("all_but_")]:
        topic, printed = table.loc[row, "train_topic"], str(table.loc[row, "paper_spearman"])
        if printed == "" or table.loc[row, "agreement"] in (EQUAL, MISSING):
            continue
        further = table[first & table["train_topic"].str.startswith(f"{topic}_and_")]
        found = [
            f"{other} ({number(rho, 4)})"
            for other, rho in zip(further["train_topic"], further["spearman"], strict=True)
            if compare(rho, printed, np.nan, np.nan) == EQUAL
        ]
        notes[row].append(
            f"{number(table.loc[row, 'spearman'], 4)} over {table.loc[row, 'n_train']} essays,"
            f" the paper has {printed}"
        )
        if found:
            notes[row].append(f"what rounds to it leaves one more set out: {', '.join(found)}")
    return table


# ---- Williams' test ------------------------------------------------------------------------------

WILLIAMS_COLUMNS = [
    "train_topic",
    "against",
    "against_is",
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

    Columns: ``train_topic`` against ``against`` (``against_is``: ``training set``, or ``model`` of
    the paper), their rho with the gold scores over the essays that both cover, the correlation
    ``between`` their estimates, Williams' ``t`` and two-sided ``p_value``. Of the quoted models
    there are no estimates: ``between_for_p_0.01`` is the correlation that theirs would need with
    ours for the difference to be significant.
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
        row: dict[str, Any] = {"train_topic": a, "against": b, "against_is": "training set"}
        if a in predicted and b in predicted:
            row |= _compared(predicted[a], predicted[b], truth)
        rows.append(row)
    for topic in paper:
        for model, printed in zip(quoted["model"], quoted["spearman"], strict=True):
            row = {"train_topic": topic, "against": model, "against_is": "model"}
            row["against_spearman"] = float(printed)
            row["note"] = ["their estimates are not published, so the test itself cannot be run"]
            if topic in predicted:
                covered = ~np.isnan(predicted[topic])
                rho, _ = spearman(predicted[topic][covered], truth[covered])
                n = int(covered.sum())
                row |= {"spearman": rho, "n": n}
                row["between_for_p_0.01"] = between_needed(rho, float(printed), n)
            rows.append(row)
    table = pd.DataFrame(rows)
    table["provenance"] = numbers.provenance
    return _tidy(table, WILLIAMS_COLUMNS, ["n", "p_below_0.01"])


def _compared(a: Array, b: Array, truth: Array) -> dict[str, Any]:
    both = ~(np.isnan(a) | np.isnan(b))
    n = int(both.sum())
    if n == 0:
        return {"n": 0, "note": ["no essay is covered by both"]}
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
                    rows.append(row)
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
    return _tidy(pd.DataFrame(rows), SENSITIVITY_COLUMNS, ["n", "n_train"])


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


def read_set_sums(
    path: str | Path | None, settings: Mapping[str, Any]
) -> tuple[signed.Signed | None, list[str]]:
    """The file of `write_set_sums`, and lines for a footer; without a path there is none.

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`, e.g. sums of another recipe.
    """
    if path is None:
        return None, []
    columns = ["essays", "id", "set", "gold", "characters"]
    file = signed.read(path, "essay set sums", settings=settings, columns=columns)
    return file, _footer(file.about)


def essays_table(file: signed.Signed | None, settings: Settings, sets: int = 10) -> pd.DataFrame:
    """Rho for every test set and every training set, on whole sets and on the cut ones.

    ``length_spearman`` is the rho of the essay's length in characters with its score: what is to be
    had without any training essay.

    Parameters
    ----------
    file : of `refless.experiments.bleu_neighbors.essays.write_set_sums`
    sets : without a file: so many sets, whose rows have no numbers
    """
    if file is None:
        numbers = range(1, sets + 1)
        rows = [
            {"essays": part, "test_set": i, "train_set": j}
            for part in PARTS
            for i in numbers
            for j in numbers
        ]
    else:
        rows = _essays_rows(file.content, file.about, settings)
    return _tidy(pd.DataFrame(rows), ESSAYS_COLUMNS, ["n", "n_train"])


def _essays_rows(
    sums: pd.DataFrame, about: Mapping[str, Any], settings: Settings
) -> list[dict[str, Any]]:
    most, training = about["facts"]["most"], about["facts"]["training"]
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
                        "provenance": about["provenance"],
                    }
                )
    return rows
