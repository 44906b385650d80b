"""Table 3 of the BLEU Neighbors paper (essays), what its numbers hang on, and its tests.

Stage: cell -> table. In: numbers from `refless.experiments.bleu_neighbors.essays`, the published
table. Out: table 3; Williams' test between its rows; the sensitivity of its cells to one choice at
a time; every set of essays as the test set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.bleu_neighbors.columns import tidy, with_intervals
from refless.experiments.bleu_neighbors.essays import (
    BASELINE,
    BASELINES,
    ESTIMATE_COLUMNS,
    PUBLISHED,
    Recipe,
    Selection,
)
from refless.experiments.bleu_neighbors.leave_one_out import (
    apply_thresholds,
    estimate_cells,
    model_cells,
)
from refless.experiments.bleu_neighbors.table1 import Settings
from refless.report.published import EQUAL, MISSING, beside_published, compare, number
from refless.statistics import between_needed, holm, spearman, williams
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
class Numbers:
    """What the tables are made of.

    estimates : `ESTIMATE_COLUMNS`, without rows if there are none
    recipe : the one that the rows ``published`` of ``estimates`` were made by
    selection : which essays they are about
    provenance : ``computed`` or ``shipped``, empty if there are none
    """

    estimates: pd.DataFrame
    recipe: Recipe
    provenance: str
    selection: Selection = field(default_factory=Selection)

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
        paper = self.recipe == Recipe() and self.selection == Selection()
        return PUBLISHED if paper else "as configured"

    def comparable(self, published: pd.DataFrame) -> pd.DataFrame:
        """The published table; of another test set than the paper's, its training sets alone."""
        if self.selection.test_set == Selection().test_set:
            return published
        ours = published[~published["model"].isin(QUOTED)]
        return ours.assign(**dict.fromkeys(VALUES, ""))

    def topics(self, published: pd.DataFrame) -> list[str]:
        """The training sets, in their order; without numbers, those of the paper."""
        if self.absent:
            return published.loc[published["model"] == MODEL, "train_topic"].tolist()
        return list(dict.fromkeys(self.estimates["train_topic"]))


def read_estimates(
    path: str | Path | None, settings: Mapping[str, Any], texts: Mapping[str, str] | None = None
) -> tuple[Numbers, list[str]]:
    """The numbers of `write_estimates`, and lines for a footer; without a path there are none.

    ``texts`` has the sums of the texts that are there (`refless.data.task.text_sums`).

    Raises as `refless.store.signed.read`, e.g. for numbers of another recipe.
    """
    recipe, selection = Recipe(**settings["recipe"]), Selection(**settings["selection"])
    if path is None:
        return Numbers(pd.DataFrame(columns=ESTIMATE_COLUMNS), recipe, "", selection), []
    file = _read(path, "essay estimates", settings, texts, ESTIMATE_COLUMNS)
    found = Numbers(file.content, recipe, file.about["provenance"], selection)
    return found, _footer(file.about)


def _read(
    path: str | Path,
    kind: str,
    settings: Mapping[str, Any],
    texts: Mapping[str, str] | None,
    columns: Sequence[str],
) -> signed.Signed:
    reading = settings["recipe"]["reading"]
    made_from = {f"texts {reading}": value for value in (texts or {}).values()}  # one data set
    return signed.read(path, kind, settings=settings, made_from=made_from, columns=columns)


def _footer(about: Mapping[str, Any]) -> list[str]:
    kernels = [one for one in about["signatures"] if "kernel" in one]
    return about["facts"]["notes"] + [
        f"{signature_note(one, about)}, read {one['reading']}" for one in kernels
    ]


# ---- table 3 -------------------------------------------------------------------------------------


def table3(numbers: Numbers, published: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The quoted rows, then each training set: the published recipe, other units, exact means, and
    the baselines."""
    published = numbers.comparable(published)
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
    # the published recipe, and those with another unit or another mean
    recipes = numbers.estimates[["choice", "variant"]].drop_duplicates()
    recipes = recipes[recipes["choice"].isin([PUBLISHED, "kernel", "means"])]
    for topic in numbers.topics(published):
        row = {"model": MODEL, "train_topic": topic, "kernel": numbers.recipe.kernel}
        if numbers.absent:
            rows.append(row)
        for choice, variant in recipes.itertuples(index=False):
            changed = {
                "kernel": variant if choice == "kernel" else numbers.recipe.kernel,
                "reading": variant if choice == "means" else numbers.reading,
                "provenance": numbers.provenance,
            }
            rows.append({**row, **changed, **_cells(numbers.of(choice, variant, topic), settings)})
        own = {"train_topic": topic, "kernel": "", "provenance": numbers.provenance}
        for name in BASELINES:
            if len(found := numbers.of(BASELINE, name, topic)):
                rows.append({**own, "model": name, **_baseline_cells(found, settings)})
    table = beside_published(pd.DataFrame(rows), published, KEYS, VALUES)
    shown = [*KEYS, "kernel", "reading"]
    for column in ("spearman", "coverage"):
        shown += [*with_intervals(column), f"paper_{column}"]
    shown += ["p_value", "p_below_0.01", "paper_p_below_0.01", "agreement", "n", "n_train"]
    return _explained(tidy(table, [*shown, "provenance", "reason", "note"]))


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
    elif np.isnan(cells["spearman"]):
        note.append("too few essays, or all estimates or all scores are alike")
    else:
        kinds = apply_thresholds(own, settings.a, settings.b)
        most = int(np.unique(kinds[~np.isnan(kinds)], return_counts=True)[1].max())
        if 2 * most > cells["n_covered"]:
            note.append(f"{most} of {cells['n_covered']} essays have one and the same estimate")
    return {**cells, "n_train": training, "note": note}


def _baseline_cells(own: pd.DataFrame, settings: Settings) -> dict[str, Any]:
    estimate, quality = (own[name].to_numpy(np.float64) for name in ("estimate", "quality"))
    cells = estimate_cells(estimate, quality, settings.draws, settings.seed)
    note = [] if cells["n_covered"] else ["no test essay stands in the training essays"]
    return {**cells, "n_train": int(own["training"].iloc[0]), "note": note}


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
    *("train_topic", "against", "against_is", "spearman", "against_spearman", "between"),
    *("t", "p_value", "p_holm", "p_below_0.01", "between_for_p_0.01", "n", "provenance", "note"),
]


def williams_table(numbers: Numbers, published: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Is one training set better than another, and than the rows that the paper quotes?

    Columns: ``train_topic`` against ``against`` (``against_is``: ``training set``, or ``model`` of
    the paper), their rho with the gold scores over the essays that both cover, the correlation
    ``between`` their estimates, Williams' ``t`` and two-sided ``p_value``; ``p_holm`` is corrected
    for all pairs of sets that share no essay, and of these alone. Of the quoted models
    there are no estimates: ``between_for_p_0.01`` is the correlation that theirs would need with
    ours for the difference to be significant.
    """
    published = numbers.comparable(published)
    paper = published[published["model"] == MODEL]["train_topic"].tolist()
    if (published["spearman"] == "").all():  # of another test set: the training sets that it has
        paper = numbers.topics(published)
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
    # a union shares essays with its parts: that is no further test
    apart = [r for r in rows if "p_value" in r and (r["train_topic"] + r["against"]).isdigit()]
    for row, p in zip(apart, holm(np.array([r["p_value"] for r in apart])), strict=True):
        row["p_holm"] = float(p)
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
    return tidy([{**row, "provenance": numbers.provenance} for row in rows], WILLIAMS_COLUMNS)


def _compared(a: Array, b: Array, truth: Array) -> dict[str, Any]:
    both = ~(np.isnan(a) | np.isnan(b))
    n = int(both.sum())
    if n == 0:
        return {"n": 0, "note": ["no essay is covered by both"]}
    a, b, truth = a[both], b[both], truth[both]
    rho, against, between = (spearman(*pair)[0] for pair in ((a, truth), (b, truth), (a, b)))
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


# ---- sensitivity ---------------------------------------------------------------------------------

SENSITIVITY_COLUMNS = [
    *("choice", "variant", "default", "train_topic", *with_intervals("spearman"), "difference"),
    *("paper_spearman", "difference_to_paper", "coverage", "n", "n_train", "provenance", "note"),
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
    published = numbers.comparable(published)
    ours = published[published["model"] == MODEL]
    paper = dict(zip(ours["train_topic"], ours["spearman"], strict=True))
    singles = [topic for topic in numbers.topics(published) if topic.isdigit()]
    base: dict[str, dict[str, Any]] = {topic: {} for topic in singles}
    if not numbers.absent:
        base = {t: _cells(numbers.of(PUBLISHED, "", t), settings) for t in singles}
    rows: list[dict[str, Any]] = []
    for choice, values in changes.items():
        for value in values:
            default = value == asdict(numbers.recipe)[choice]
            for topic in singles:
                own = base[topic]
                if not (default or numbers.absent):
                    own = _cells(numbers.of(choice, f"{value}", topic), settings)
                rho, printed = own.get("spearman", np.nan), paper.get(topic, "")
                rows.append(
                    {
                        "choice": choice,
                        "variant": f"{value}",
                        "default": int(default),
                        "train_topic": topic,
                        **own,
                        "difference": rho - base[topic].get("spearman", np.nan),
                        "paper_spearman": printed,
                        "difference_to_paper": rho - float(printed or "nan"),
                        "provenance": numbers.provenance,
                    }
                )
    return tidy(rows, SENSITIVITY_COLUMNS)


# ---- every set as the test set -------------------------------------------------------------------

ESSAYS_COLUMNS = [
    *("essays", "test_set", "train_set", *with_intervals("spearman"), "length_spearman"),
    "ridge_spearman",
    *("p_value", "coverage", "n", "n_train", "provenance", "note"),
]
PARTS = ("whole", "cut")


def read_set_sums(
    path: str | Path | None, settings: Mapping[str, Any], texts: Mapping[str, str] | None = None
) -> tuple[signed.Signed | None, list[str]]:
    """The file of `write_set_sums`, and lines for a footer; without a path there is none.

    ``texts`` has the sums of the texts that are there (`refless.data.task.text_sums`).

    Raises as `refless.store.signed.read`, e.g. for sums of another recipe.
    """
    if path is None:
        return None, []
    columns = ["essays", "id", "set", "gold", "characters"]
    file = _read(path, "essay set sums", settings, texts, columns)
    return file, _footer(file.about)


def essays_table(file: signed.Signed | None, settings: Settings, sets: int = 10) -> pd.DataFrame:
    """Rho for every test set and every training set, on whole sets and on the cut ones.

    ``length_spearman`` is the rho of the essay's length in characters with its score: what is to be
    had without any training essay. ``ridge_spearman`` is that of ridge regression on the same
    training essays.

    Parameters
    ----------
    file : of `refless.experiments.bleu_neighbors.essays.write_set_sums`
    sets : without a file: so many sets, whose rows have no numbers
    """
    if file is not None:
        return tidy(_essays_rows(file.content, file.about, settings), ESSAYS_COLUMNS)
    every = product(PARTS, range(1, sets + 1), range(1, sets + 1))
    return tidy([dict(zip(ESSAYS_COLUMNS, names, strict=False)) for names in every], ESSAYS_COLUMNS)


def _essays_rows(
    sums: pd.DataFrame, about: Mapping[str, Any], settings: Settings
) -> list[dict[str, Any]]:
    most, training = about["facts"]["most"], about["facts"]["training"]
    rows = []
    sets = [name.removeprefix("points_") for name in sums.columns if name.startswith("points_")]
    for part in PARTS:
        for test_set in map(int, sets):
            own = sums[(sums["essays"] == part) & (sums["set"] == test_set)]
            gold = own["gold"].to_numpy(np.float64)
            length, _ = spearman(own["characters"].to_numpy(np.float64), gold)
            for train_set in sets:
                neighbors = own[f"neighbors_{train_set}"].to_numpy(np.int64)
                with np.errstate(invalid="ignore"):
                    # whole numbers, divided once: equal means are equal numbers
                    estimate = own[f"points_{train_set}"].to_numpy(np.float64) / (most * neighbors)
                table = pd.DataFrame(
                    {
                        "quality": gold,
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
                        "ridge_spearman": spearman(
                            own[f"ridge_{train_set}"].to_numpy(np.float64), gold
                        )[0],
                        "provenance": about["provenance"],
                    }
                )
    return rows
