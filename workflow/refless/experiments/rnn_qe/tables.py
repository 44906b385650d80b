"""Tables 3, 4 and 5 of the RNN-QE paper: set-ups, metrics and a constant against human ratings.

Stage: cell -> table. In: numbers of the rated outputs (`refless.experiments.rnn_qe.outputs`),
predictions of RNN-QE, the published table. Out: tables, as data and for reading, and Williams'
tests.

Everything is compared in half points of the scale, as in the paper. A metric is brought to 1..6 by
its own range (0 to 1; CIDEr 0 to 10) and cut to the half point below, which gives the published
values (reading ``floor``; ``nearest`` rounds). Predictions of the five folds count together; a
set-up's statistics are means over its seeds, with their standard deviation (``_sd``) and a 95%
interval of a bootstrap over outputs. Williams' test takes means over the seeds as well, the n
outputs once; the authors' code seems to count each output once a seed.

Source: Dušek, Novikova & Rieser (2017), sections 3.5 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.rnn_qe.outputs import (
    CONSTANT,
    CURVE_COLUMNS,
    DELTA_BLEU,
    METRICS,
    OWN,
    OWN_REFERENCES,
    PREDICTORS,
    SCALE,
    VIEWS,
    statistics,
    to_scale,
)
from refless.models.rnn_qe.data import APART, FOLDS, SETUPS
from refless.report.published import beside_published, markdown, number, with_interval
from refless.statistics import (
    draw_weights,
    interval,
    scale_counts,
    scale_statistics,
    weighted_midranks,
    weighted_pearson,
    williams,
)

Array = np.ndarray

VALUES = ["pearson", "spearman", "mae", "rmse"]
TOPS = {"bleu": 1.0, "meteor": 1.0, "rouge_l": 1.0, "cider": 10.0}
WITH_REFERENCES = {*METRICS, "5", "6", *(model for model, human in DELTA_BLEU.items() if human)}
SEEDS = 5
_OTHER_FILE = (
    "the paper's own file has individual ratings and was not to be had, the public medians differ"
    " in few places"
)
_OTHER_TEST = "the paper's random rest of the in-set is another one"
_HARDER = "not in the paper; folds where no delexicalised MR and output stand on both sides"
PAPER_SCHEDULE = "paper"
READINGS = {
    APART: _HARDER,
    PAPER_SCHEDULE: "the paper's schedule of training, beside the same seed",
}
"""Other readings of a set-up in table 3, beside that of the configuration."""
_DELTA_BLEU = (
    "weights and a line to ratings chosen on the validation part, 4.5 where no reference has a"
    " positive weight"
)
NOTES = {
    "tau": "not in the paper; thresholds of the BLEU Neighbors paper, 4.5 where they leave no"
    " prediction",
    "dev": "not in the paper; tau chosen on the validation part, 4.5 where there are fewer"
    " neighbors than needed",
    "dev_apart": f"{_HARDER}; tau as in `dev`",
    "nearest": "rounded to the nearest half point instead of cut",
}


@dataclass(frozen=True)
class Bootstrap:
    """draws and seed of the bootstrap over outputs."""

    draws: int
    seed: int


@dataclass(frozen=True)
class Predictor:
    """One row of a table: predictions of the same outputs, one array a seed, on the scale.

    setup, reading : keys of the row
    by_seed : shape (n,) each; none if it is missing
    coverage : share of the outputs that it predicts by itself
    own_references : share of the outputs of which it saw a human reference in training
    provenance, note : for the row
    """

    setup: str
    reading: str = ""
    by_seed: list[Array] = field(default_factory=list)
    coverage: float = 1.0
    provenance: str = ""
    note: str = ""
    own_references: float = float("nan")


@dataclass(frozen=True)
class Trained:
    """Predictions of one set-up: the trainer's table (None: not there), where from, or why not; and
    the share of test outputs of which a human reference is trained on."""

    table: pd.DataFrame | None
    provenance: str = ""
    note: str = ""
    own_references: float = float("nan")


# ---- who predicts --------------------------------------------------------------------------------


def metric_on_scale(values: Array, top: float, nearest: bool = False) -> Array:
    """A metric in [0, top] as half points of 1..6, cut to the one below (or the nearest).

    Values on the border of two halves fall as floating-point division by 0.1 has them, as in the
    authors' code.
    """
    tenths = (values / top) / 0.1
    return SCALE[0] + 0.5 * (np.rint(tenths) if nearest else np.floor(tenths))


def baselines(outputs: pd.DataFrame, provenance: str) -> list[Predictor]:
    """The constant and the metrics, each metric with both readings."""
    flat = np.full(len(outputs), CONSTANT)
    found = [Predictor("constant", "", [flat], provenance=provenance, note=_OTHER_FILE)]
    for name, column in METRICS.items():
        raw = outputs[column].to_numpy(np.float64)
        for reading in ("floor", "nearest"):
            values = metric_on_scale(raw, TOPS[name], reading == "nearest")
            note = NOTES.get(reading, _OTHER_FILE)
            found.append(Predictor(name, reading, [values], provenance=provenance, note=note))
    return found


def own_models(
    outputs: pd.DataFrame, experiment: str, provenance: str, missing: Mapping[str, str]
) -> list[Predictor]:
    """The models that the paper does not have, from their columns in ``outputs``; of those whose
    kernel is ``missing``, why."""
    wanted = [*PREDICTORS, *((model, "dev_apart") for model in OWN)]
    found = []
    for model, reading in wanted:
        column = f"{experiment}:{model}:{reading}"
        if column in outputs:
            raw = outputs[column].to_numpy(np.float64)
            found.append(
                Predictor(
                    model,
                    reading,
                    [to_scale(raw)],
                    float((~np.isnan(raw)).mean()),
                    provenance,
                    own_note(model, reading),
                )
            )
        elif (model, reading) in PREDICTORS and VIEWS.get(model, ("",))[0] in missing:
            note = f"not available: {missing[VIEWS[model][0]]}"
            found.append(Predictor(model, reading, note=note))
    return found


def own_note(model: str, reading: str) -> str:
    """How a model that the paper does not have was applied."""
    if model not in DELTA_BLEU:
        return NOTES[reading]
    references = "rated training outputs of the same delexicalised MR"
    if DELTA_BLEU[model]:
        references += ", and its human references"
    kind = "not in the paper" if reading == "dev" else _HARDER
    return f"{kind}; references: {references}; {_DELTA_BLEU}"


def trained(setup: int, given: Trained, ids: Sequence[str], reading: str = "") -> Predictor:
    """RNN-QE under one set-up: the seeds that predict every one of these outputs."""
    if given.table is None:
        return Predictor(str(setup), reading, note=given.note)
    table = given.table[given.table["part"] == "test"]
    seeds = []
    for _, own in table.groupby("seed"):
        by_id = own.drop_duplicates("id").set_index("id")["prediction"].reindex(list(ids))
        if by_id.notna().all():
            seeds.append(by_id.to_numpy(np.float64))
    notes = [given.note] if given.note else []
    share = given.own_references
    if setup in (3, 4) and share > 0:
        notes.append(
            "an MR stands on both sides where its outputs differ: of"
            f" {share:.0%} of test outputs a human reference is trained on"
        )
    asked = table["seed"].nunique()
    if len(seeds) < asked or (asked < SEEDS and reading != PAPER_SCHEDULE):
        notes.append(f"{len(seeds)} of {SEEDS} seeds have predictions of all outputs")
    if not seeds:
        return Predictor(str(setup), reading, note="; ".join(notes))
    provenance = given.provenance
    return Predictor(str(setup), reading, seeds, 1.0, provenance, "; ".join(notes), share)


def trained_curve(outputs: pd.DataFrame, predictions: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """RNN-QE, set-up 1, with fewer rated outputs: what `learning_curve` says of our own models.

    Parameters
    ----------
    predictions : by number of rated training outputs; fold 5 s + f is fold f of random subset s

    Returns
    -------
    DataFrame : `CURVE_COLUMNS`, pearson, spearman, mae, rmse; a row a subset
    """
    truth = outputs.set_index("id")["rating"]
    rows = []
    for size, table in predictions.items():
        test = table[table["part"] == "test"]
        for subset, own in test.groupby(test["fold"] // FOLDS):
            found = statistics(
                own["prediction"].to_numpy(np.float64), truth[own["id"]].to_numpy(np.float64)
            )
            row = {"model": "rnn_qe", "reading": "dev", "size": size, "subset": int(subset)}
            rows.append(row | found)
    table = pd.DataFrame(rows, columns=[*CURVE_COLUMNS, *VALUES])
    return table.astype({"size": int, "subset": int} | dict.fromkeys(VALUES, float))


# ---- cells ---------------------------------------------------------------------------------------


def cells(predictor: Predictor, truth: Array, weights: Array) -> dict[str, Any]:
    """Statistics of one row: means over its seeds, ``_sd``, ``_low`` and ``_high``.

    Parameters
    ----------
    weights : of the bootstrap, shape (draws, n)
    """
    once = np.ones((1, len(truth)))
    points: list[dict[str, Array]] = []
    drawn: list[dict[str, Array]] = []
    for values in predictor.by_seed:
        for into, by in ((points, once), (drawn, weights)):
            into.append(scale_statistics(scale_counts(values, truth, SCALE, by), SCALE))
    row: dict[str, Any] = {"n": len(truth), "seeds": len(points), "coverage": predictor.coverage}
    for name in VALUES:
        own = np.array([found[name][0] for found in points])
        row[name] = float(own.mean())
        row[f"{name}_sd"] = float(own.std(ddof=1)) if len(own) > 1 else float("nan")
        mean = np.mean([found[name] for found in drawn], axis=0)
        row[f"{name}_low"], row[f"{name}_high"] = interval(mean)
    return row


def correlations(a: Predictor, b: Predictor, truth: Array, ranked: bool) -> tuple[float, ...]:
    """Mean correlations of a and of b with the truth, and of a with b, over seeds; ranked: rho."""

    def r(x: Array, y: Array) -> float:
        once = np.ones((1, len(truth)))
        if ranked:
            x, y = (weighted_midranks(v, once) for v in (x, y))
        return float(weighted_pearson(x.reshape(1, -1), y.reshape(1, -1), once)[0])

    of_a = float(np.mean([r(x, truth) for x in a.by_seed]))
    of_b = float(np.mean([r(y, truth) for y in b.by_seed]))
    return of_a, of_b, float(np.mean([r(x, y) for x in a.by_seed for y in b.by_seed]))


def compared(a: Predictor, b: Predictor, truth: Array) -> list[dict[str, Any]]:
    """Williams' test of a against b, on Pearson and on Spearman.

    ``p_value`` is one-sided, that a is better; where a is worse it is above 0.5.
    """
    rows = []
    for name in ("pearson", "spearman"):
        of_a, of_b, between = correlations(a, b, truth, name == "spearman")
        t, two_sided = williams(of_a, of_b, between, len(truth))
        p = two_sided / 2 if t > 0 else 1 - two_sided / 2
        rows.append(
            {
                "setup": a.setup,
                "reading": a.reading,
                "against": b.setup,
                "against_reading": b.reading,
                "statistic": name,
                "value": of_a,
                "against_value": of_b,
                "between": between,
                "t": t,
                "p_value": p,
                "n": len(truth),
            }
        )
    return rows


# ---- tables --------------------------------------------------------------------------------------


def table3(
    outputs: pd.DataFrame,
    setups: Mapping[int, Trained],
    others: Mapping[tuple[str, int], Trained],
    published: pd.DataFrame,
    provenance: str,
    bootstrap: Bootstrap,
    absent: str = "",
    missing: Mapping[str, str] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cross-validation over all rated outputs; the table and Williams' tests.

    Parameters
    ----------
    outputs : without rows if absent
    setups : predictions by set-up
    others : by reading (of `READINGS`) and set-up, those that there are
    absent : why there are no outputs
    missing : name of a kernel (`refless.experiments.rnn_qe.outputs.KERNELS`) -> why it is not there
    """
    if absent:
        return _finish(_absent_rows(published, absent), published, ["setup"]), _tests([])
    truth = outputs["rating"].to_numpy(np.float64)
    predictors = _predictors(outputs, "cross_validation", setups, provenance, missing or {})
    ids = outputs["id"].tolist()
    for (reading, setup), given in others.items():
        note = _join(READINGS[reading], given.note)
        predictors.append(trained(setup, replace(given, note=note), ids, reading))
    weights = draw_weights(len(truth), bootstrap.draws, bootstrap.seed)
    rows, tests = _section(predictors, truth, weights)
    return _finish(rows, published, ["setup"]), _tests(tests)


def cross_table(
    experiment: str,
    outputs: pd.DataFrame,
    setups: Mapping[tuple[int, int], Trained],
    published: pd.DataFrame,
    provenance: str,
    bootstrap: Bootstrap,
    absent: str = "",
    missing: Mapping[str, str] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Table 4 (``cross_domain``) or 5 (``cross_system``): three configurations, one test part.

    Parameters
    ----------
    setups : predictions by (configuration, set-up)
    absent, missing : as of `table3`
    """
    keys = ["setup", "configuration"]
    if absent:
        return _finish(_absent_rows(published, absent), published, keys), _tests([])
    own = outputs[outputs[experiment] == "test"].reset_index(drop=True)
    truth = own["rating"].to_numpy(np.float64)
    weights = draw_weights(len(truth), bootstrap.draws, bootstrap.seed)
    rows: list[dict[str, Any]] = []
    tests: list[dict[str, Any]] = []
    first: dict[tuple[str, str], Predictor] = {}
    for configuration in (1, 2, 3):
        given = {setup: setups[configuration, setup] for setup in SETUPS}
        name = f"{experiment}_{configuration}"
        predictors = _predictors(own, name, given, provenance, missing or {})
        part, compare = _section(predictors, truth, weights)
        for row in part:
            row["configuration"] = str(configuration)
            row["note"] = _join(_OTHER_TEST if row.get("n") and not _ours(row) else "", row["note"])
        for predictor in predictors:
            key = (predictor.setup, predictor.reading)
            if configuration == 1:
                first[key] = predictor
            elif predictor.by_seed and first[key].by_seed and key[0] not in _FIXED:
                compare += [
                    test | {"against_configuration": "1"}
                    for test in compared(predictor, first[key], truth)
                ]
        rows += part
        tests += [
            {"against_configuration": str(configuration)}
            | test
            | {"configuration": str(configuration)}
            for test in compare
        ]
    table = _tests(tests)
    _mark(rows, table)
    return _finish(rows, published, keys), table


_FIXED = {"constant", *METRICS}


def _ours(row: Mapping[str, Any]) -> bool:
    return row["setup"] in OWN


def _predictors(
    outputs: pd.DataFrame,
    experiment: str,
    setups: Mapping[int, Trained],
    provenance: str,
    missing: Mapping[str, str],
) -> list[Predictor]:
    ids = outputs["id"].tolist()
    return [
        *baselines(outputs, provenance),
        *(trained(setup, setups[setup], ids) for setup in SETUPS),
        *own_models(outputs, experiment, provenance, missing),
    ]


def _section(
    predictors: Sequence[Predictor], truth: Array, weights: Array
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows and tests of the predictors of one test part."""
    metrics = [p for p in predictors if p.setup in METRICS and p.reading == "floor"]
    # set-up 1 on the same folds: those of `apart` are harder
    bases = {p.reading: p for p in predictors if p.setup == "1" and p.reading != PAPER_SCHEDULE}
    rows, tests = [], []
    for predictor in predictors:
        row: dict[str, Any] = {"setup": predictor.setup, "reading": predictor.reading}
        row |= {"provenance": predictor.provenance, "note": predictor.note}
        row["uses_references_of_test_instances"] = int(predictor.setup in WITH_REFERENCES)
        row[OWN_REFERENCES] = predictor.own_references
        if predictor.by_seed:
            row |= cells(predictor, truth, weights)
            if predictor.setup not in _FIXED:
                base = bases.get("apart" if predictor.reading.endswith("apart") else "")
                if base is not None and predictor.reading == PAPER_SCHEDULE:
                    base = replace(base, by_seed=base.by_seed[: len(predictor.by_seed)])
                others = list(metrics)
                if base is not None and base.by_seed and base is not predictor:
                    others.append(base)
                own = [t for other in others for t in compared(predictor, other, truth)]
                p = {t["against"]: t["p_value"] for t in own if t["statistic"] == "pearson"}
                row["p_better_than_metrics"] = max(p[name] for name in METRICS)
                row["p_better_than_setup_1"] = p.get("1", np.nan)
                tests += own
        rows.append(row)
    return rows, tests


def _mark(rows: list[dict[str, Any]], tests: pd.DataFrame) -> None:
    """The p-value of each row against the same set-up of configuration 1."""
    own = tests[(tests["statistic"] == "pearson") & (tests["against_configuration"] == "1")]
    own = own[(own["configuration"] != "1") & (own["setup"] == own["against"])]
    own = own[own["reading"] == own["against_reading"]]
    p = own.set_index(["setup", "reading", "configuration"])["p_value"].to_dict()
    for row in rows:
        key = (row["setup"], row["reading"], row["configuration"])
        row["p_better_than_configuration_1"] = p.get(key, np.nan)


def _absent_rows(published: pd.DataFrame, absent: str) -> list[dict[str, Any]]:
    keys = [name for name in ("setup", "configuration") if name in published]
    return [
        {**{name: row[name] for name in keys}, "reading": "", "note": f"not available: {absent}"}
        for row in published.to_dict("records")
    ]


def _finish(
    rows: list[dict[str, Any]], published: pd.DataFrame, keys: Sequence[str]
) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    # the paper's values stand beside what is like the paper
    harder = table["reading"] == APART
    table = pd.concat(
        [
            beside_published(table[~harder], published, keys, VALUES),
            beside_published(table[harder], published.iloc[:0], keys, VALUES),
        ],
        ignore_index=True,
    )
    shown = [*keys, "reading"]
    for name in VALUES:
        shown += [name, f"{name}_low", f"{name}_high", f"{name}_sd", f"paper_{name}"]
    shown += ["agreement", "p_better_than_metrics", "p_better_than_setup_1"]
    shown += ["p_better_than_configuration_1"] if "configuration" in keys else []
    shown += ["uses_references_of_test_instances", OWN_REFERENCES, "coverage", "seeds", "n"]
    shown += ["provenance", "note"]
    table = table.reindex(columns=shown)
    same = (table["agreement"] == "equal") & table["note"].isin([_OTHER_FILE, _OTHER_TEST])
    table.loc[same, "note"] = ""
    for name in ("provenance", "note"):
        table[name] = table[name].astype(object).fillna("")
    for name in ("seeds", "n", "uses_references_of_test_instances"):
        table[name] = table[name].astype("Int64")
    return table


TEST_COLUMNS = [
    *("configuration", "setup", "reading", "against_configuration", "against", "against_reading"),
    *("statistic", "value", "against_value", "between", "t", "p_value", "n"),
]


def _tests(rows: list[dict[str, Any]]) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    columns = TEST_COLUMNS
    if not rows or "configuration" not in table:
        columns = [name for name in TEST_COLUMNS if "configuration" not in name]
    return table.reindex(columns=columns)


def _join(*reasons: str) -> str:
    return "; ".join(dict.fromkeys(filter(None, reasons)))


# ---- for reading ---------------------------------------------------------------------------------

TITLES = {
    "1": "## 1: a little in-set data only",
    "2": "## 2: out-of-set data only (human references, from set-up 4 on, of the in-set too)",
    "3": "## 3: out-of-set and a little in-set data",
}


def markdown_table(table: pd.DataFrame) -> str:
    """The table for reading, a section a configuration; reasons are numbered below."""
    reasons: dict[str, int] = {}
    if "configuration" not in table:
        parts = [_part(table, reasons)]
    else:
        parts = []
        for configuration, title in TITLES.items():
            own = table[table["configuration"] == configuration]
            parts += [title, _part(own, reasons)]
    listed = "\n".join(f"{number}. {reason}" for reason, number in reasons.items())
    return "\n\n".join([*parts, "## Reasons", listed])


def _part(table: pd.DataFrame, reasons: dict[str, int]) -> str:
    p = [
        name for name in table.columns if name.startswith("p_better") and table[name].notna().any()
    ]
    header = ["set-up", "reading", "Pearson", "Spearman", "MAE", "RMSE", "agreement"]
    partial = (table["coverage"] < 1).any()
    header += ["coverage"] if partial else []
    header += [name.replace("p_", "p: ").replace("_", " ") for name in p]
    lines = []
    for raw in table.to_dict("records"):
        row = {str(key): value for key, value in raw.items()}
        star = "*" if row["uses_references_of_test_instances"] == 1 else ""
        numbers = [
            str(reasons.setdefault(reason, len(reasons) + 1))
            for reason in filter(None, str(row["note"]).split("; "))
        ]
        lines.append(
            [
                f"{row['setup']}{star}",
                str(row["reading"]),
                *(_cell(row, name) for name in VALUES),
                str(row["agreement"]),
                *([number(row["coverage"], 2)] if partial else []),
                *(number(row[name], 3) for name in p),
                str(row["provenance"]),
                ", ".join(numbers),
            ]
        )
    return markdown([*header, "provenance", "reason"], lines)


def _cell(row: dict[str, Any], name: str) -> str:
    ours = with_interval(row, name)
    spread = row[f"{name}_sd"]
    ours += f" ±{number(spread)}" if pd.notna(spread) else ""
    paper = row[f"paper_{name}"]
    return f"{ours} [{paper}]" if paper else ours


def lead_text(experiment: str, bootstrap: Bootstrap, seen: Sequence[float] = ()) -> str:
    """What stands above the table for reading.

    Parameters
    ----------
    seen : share of test outputs that are in the training part delexicalised, of all configurations
    """
    about = {
        "cross_validation": "All rated outputs, each predicted in the fold that tests it.",
        "cross_domain": "Tested on the outputs for SFHot that neither train nor validate.",
        "cross_system": "Tested on the outputs of LOLS that neither train nor validate.",
    }[experiment]
    if seen:
        shares = ", ".join(f"{share:.0%}" for share in seen)
        about += (
            f" In the training part stand, word for word once names are slots, {shares} of them"
            + (" (configurations 1 to 3)." if len(seen) > 1 else ".")
        )
    return (
        f"{about} 95% bootstrap intervals over outputs in round brackets ({bootstrap.draws} draws,"
        f" seed {bootstrap.seed}), ± the standard deviation over seeds, the published value in"
        " square brackets; * sees human references of the test instances. p: one-sided, of"
        " Williams' test on Pearson's r, against the metric for which it is largest, against set-up"
        " 1 and, in tables 4 and 5, against the same row of configuration 1. All tests, Spearman's"
        " too, are in the file `..._williams.csv`. `rouge_neighbors` and `meteor_neighbors` are"
        " BLEU Neighbors with these kernels; `..._mr` compares MR and text, not the text alone."
    )
