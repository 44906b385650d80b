"""Tables 3, 4 and 5 of the RNN-QE paper: set-ups, metrics and a constant against human ratings.

Stage: cell -> table. In: numbers of the rated outputs (`refless.experiments.rnn_qe.outputs`),
predictions of RNN-QE, the published table. Out: a table, and Williams' tests.

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
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.rnn_qe.outputs import (
    CONSTANT,
    DELTA_BLEU,
    METRICS,
    OWN,
    OWN_REFERENCES,
    PREDICTORS,
    SCALE,
    VIEWS,
    own_shares,
    to_scale,
)
from refless.experiments.rnn_qe.stored import (
    predictions_note,
    read_outputs,
    read_predictions,
    training_notes,
)
from refless.models.rnn_qe.names import APART, CONFIGURATIONS, CROSS, PAPER, SETUPS, names
from refless.report.published import beside_published, read_published
from refless.report.tables import publish
from refless.statistics import (
    Estimate,
    draw_weights,
    interval,
    midranks,
    pearson_rows,
    scale_counts,
    scale_statistics,
    williams,
)
from refless.store.signatures import signature_note
from refless.store.signed import Signed

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
_HARDER = [
    "not in the paper",
    "folds where no delexicalised MR and output stand on both sides",
]
READINGS = {
    APART: _HARDER,
    PAPER: ["the paper's schedule of training, beside the same seed"],
}
"""Other readings of a set-up in table 3, beside that of the configuration."""
_DELTA_BLEU = (
    "weights and a line to ratings chosen on the validation part, 4.5 where no reference has a"
    " positive weight"
)
NOTES = {
    "tau": [
        "not in the paper",
        "thresholds of the BLEU Neighbors paper, 4.5 where they leave no prediction",
    ],
    "dev": [
        "not in the paper",
        "tau chosen on the validation part, 4.5 where there are fewer neighbors than needed",
    ],
    "dev_apart": [*_HARDER, "tau as in `dev`"],
}
_NEAREST = ["rounded to the nearest half point instead of cut"]
_FIXED = {"constant", *METRICS}
"""What nothing is tested for: it learns nothing."""


@dataclass(frozen=True)
class Predictor:
    """One row of a table: predictions of the same outputs, one array a seed, on the scale.

    setup, reading : keys of the row
    by_seed : shape (n,) each; none if it is missing
    coverage : share of the outputs that it predicts by itself
    own_references : share of the outputs of which it saw a human reference in training
    training, kernel : what it hangs on, by which the reason why it is missing is found
    differs : why it may not be the paper's value
    """

    setup: str
    reading: str = ""
    by_seed: list[Array] = field(default_factory=list)
    coverage: float = 1.0
    provenance: str = ""
    notes: Sequence[str] = ()
    own_references: float = float("nan")
    training: str = ""
    kernel: str = ""
    differs: Sequence[str] = ()


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
    other_file = [_OTHER_FILE]
    flat = np.full(len(outputs), CONSTANT)
    found = [Predictor("constant", "", [flat], provenance=provenance, differs=other_file)]
    for name, column in METRICS.items():
        raw = outputs[column].to_numpy(np.float64)
        for reading, notes, differs in (("floor", [], other_file), ("nearest", _NEAREST, [])):
            values = [metric_on_scale(raw, TOPS[name], reading == "nearest")]
            found.append(
                Predictor(
                    name, reading, values, provenance=provenance, notes=notes, differs=differs
                )
            )
    return found


def own_models(
    outputs: pd.DataFrame, experiment: str, provenance: str, kernels: Mapping[str, str]
) -> list[Predictor]:
    """The models that the paper does not have, from their columns in ``outputs``.

    ``kernels`` are those that the configuration gives to `VIEWS`, by name; one without a column
    gets a row without numbers.
    """
    wanted = [*PREDICTORS, *((model, "dev_apart") for model in OWN)]
    found = []
    for model, reading in wanted:
        column = f"{experiment}:{model}:{reading}"
        kernel = kernels.get(VIEWS.get(model, ("",))[0], "")
        if column in outputs:
            raw = outputs[column].to_numpy(np.float64)
            found.append(
                Predictor(
                    model,
                    reading,
                    [to_scale(raw)],
                    float((~np.isnan(raw)).mean()),
                    provenance,
                    own_notes(model, reading),
                    kernel=kernel,
                )
            )
        elif (model, reading) in PREDICTORS and kernel:
            found.append(Predictor(model, reading, kernel=kernel))
    return found


def own_notes(model: str, reading: str) -> list[str]:
    """How a model that the paper does not have was applied."""
    if model not in DELTA_BLEU:
        return NOTES[reading]
    references = "rated training outputs of the same delexicalised MR"
    if DELTA_BLEU[model]:
        references += ", and its human references"
    kind = ["not in the paper"] if reading == "dev" else _HARDER
    return [*kind, f"references: {references}", _DELTA_BLEU]


def trained(
    name: str, file: Signed | None, ids: Sequence[str], share: float = float("nan")
) -> Predictor:
    """RNN-QE under one set-up: the seeds that predict every one of these outputs.

    Parameters
    ----------
    name : of its predictions, see `refless.models.rnn_qe.names`
    file : the predictions, if there are any
    share : of test outputs of which a human reference is trained on
    """
    reading = next((one for one in READINGS if name.startswith(one)), "")
    missing = Predictor(name[-1], reading, training=name)
    if file is None:
        return missing
    table = file.content[file.content["part"] == "test"]
    seeds = []
    for _, own in table.groupby("seed"):
        by_id = own.drop_duplicates("id").set_index("id")["prediction"].reindex(list(ids))
        if by_id.notna().all():
            seeds.append(by_id.to_numpy(np.float64))
    notes = [*READINGS.get(reading, ()), *training_notes(file.about)]
    if name[-1] in "34" and share > 0:
        notes.append(
            "an MR stands on both sides where its outputs differ: of"
            f" {share:.0%} of test outputs a human reference is trained on"
        )
    asked = table["seed"].nunique()
    if len(seeds) < asked or (asked < SEEDS and reading != PAPER):
        notes.append(f"{len(seeds)} of {SEEDS} seeds have predictions of all outputs")
    if not seeds:
        return replace(missing, notes=notes)
    provenance = file.about["provenance"]
    return replace(missing, by_seed=seeds, provenance=provenance, notes=notes, own_references=share)


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
        low, high = interval(np.mean([found[name] for found in drawn], axis=0))
        row |= Estimate(float(own.mean()), low, high).columns(name)
        row[f"{name}_sd"] = float(own.std(ddof=1)) if len(own) > 1 else float("nan")
    return row


def correlations(a: Predictor, b: Predictor, truth: Array, ranked: bool) -> tuple[float, ...]:
    """Mean correlations of a and of b with the truth, and of a with b, over seeds; ranked: rho."""

    def r(x: Array, y: Array) -> float:
        rows = [values[None] for values in (x, y)]
        if ranked:
            rows = [midranks(values) for values in rows]
        return float(pearson_rows(*rows)[0])

    of_a = float(np.mean([r(x, truth) for x in a.by_seed]))
    of_b = float(np.mean([r(y, truth) for y in b.by_seed]))
    return of_a, of_b, float(np.mean([r(x, y) for x in a.by_seed for y in b.by_seed]))


def compared(a: Predictor, b: Predictor, truth: Array) -> list[dict[str, Any]]:
    """Williams' test of a against b, on Pearson and on Spearman.

    ``p_value`` is one-sided, that a is better; where a is worse it is above 0.5.
    """
    provenance = "shipped" if "shipped" in (a.provenance, b.provenance) else "computed"
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
                "provenance": provenance,
            }
        )
    return rows


# ---- tables --------------------------------------------------------------------------------------


def table(
    experiment: str,
    outputs: Signed | None,
    predictions: Mapping[str, Signed],
    shares: Mapping[str, float],
    published: pd.DataFrame,
    kernels: Mapping[str, str],
    bootstrap: Mapping[str, int],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Table 3 (``cross_validation``), 4 (``cross_domain``) or 5, and its Williams' tests.

    Table 3 tests on all outputs. Tables 4 and 5 have three configurations, with one test part.

    Parameters
    ----------
    outputs : by `refless.experiments.rnn_qe.stored.read_outputs`; None if they cannot be had
    predictions : by name, by `refless.experiments.rnn_qe.stored.read_predictions`
    shares : by `refless.experiments.rnn_qe.outputs.own_shares`
    kernels : see `own_models`
    bootstrap : ``draws`` and ``seed``
    """
    if outputs is None:
        rows = [_without_numbers(experiment, row) for row in published.to_dict("records")]
        return _finished(rows, published, experiment), _tests([], experiment)
    tested, configurations = outputs.content, [""]
    if experiment in CROSS:
        tested = tested[tested[experiment] == "test"].reset_index(drop=True)
        configurations = [str(number) for number in CONFIGURATIONS]
    truth = tested["rating"].to_numpy(np.float64)
    weights = draw_weights(len(truth), bootstrap["draws"], bootstrap["seed"])
    rows, tests = [], []
    first: dict[tuple[str, str], Predictor] = {}
    for configuration in configurations:
        data = f"{experiment}_{configuration}" if configuration else experiment
        found = _predictors(data, tested, predictions, shares, outputs.about["provenance"], kernels)
        own_rows, own_tests = _section(found, truth, weights)
        for row, predictor in zip(own_rows, found, strict=True):
            # in configuration 1, and in table 3, this is the predictor itself
            base = first.setdefault((predictor.setup, predictor.reading), predictor)
            tries = base is not predictor and predictor.setup not in _FIXED
            if tries and predictor.by_seed and base.by_seed:
                against = compared(predictor, base, truth)
                row["p_better_than_configuration_1"] = against[0]["p_value"]  # Pearson's
                own_tests += [test | {"against_configuration": "1"} for test in against]
        rows += [row | {"configuration": configuration} for row in own_rows]
        here = {"configuration": configuration, "against_configuration": configuration}
        tests += [here | test for test in own_tests]
    return _finished(rows, published, experiment), _tests(tests, experiment)


def _without_numbers(experiment: str, published: Mapping[Any, Any]) -> dict[str, Any]:
    row = {"setup": published["setup"], "reading": "", "provenance": "", "note": [], "differs": []}
    prefix = ""
    if experiment in CROSS:
        row["configuration"] = published["configuration"]
        prefix = f"{experiment}_{row['configuration']}_"
    numbered = row["setup"] in map(str, SETUPS)
    return row | {"training": f"{prefix}setup{row['setup']}" if numbered else "", "kernel": ""}


def _predictors(
    data: str,
    outputs: pd.DataFrame,
    predictions: Mapping[str, Signed],
    shares: Mapping[str, float],
    provenance: str,
    kernels: Mapping[str, str],
) -> list[Predictor]:
    """``data`` is ``cross_validation``, ``cross_domain_1``, ..."""
    ids = outputs["id"].tolist()

    def rnn_qe(name: str) -> Predictor:
        share = shares.get(name.removeprefix(f"{PAPER}_"), np.nan)
        return trained(name, predictions.get(name), ids, share)

    own = own_models(outputs, data, provenance, kernels)
    if data == "cross_validation":
        others = [name for reading in READINGS for name in names(reading) if name in predictions]
        setups = [rnn_qe(name) for name in names(data)]
        return [*baselines(outputs, provenance), *setups, *own, *map(rnn_qe, others)]
    setups = [rnn_qe(f"{data}_setup{setup}") for setup in SETUPS]
    like_the_paper = [*baselines(outputs, provenance), *setups]
    return [*(replace(p, differs=[_OTHER_TEST, *p.differs]) for p in like_the_paper), *own]


def _section(
    predictors: Sequence[Predictor], truth: Array, weights: Array
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows and tests of the predictors of one test part; ``weights`` as of `cells`."""
    metrics = [p for p in predictors if p.setup in METRICS and p.reading == "floor"]
    # set-up 1 on the same folds: those of `apart` are harder
    bases = {p.reading: p for p in predictors if p.setup == "1" and p.reading != PAPER}
    rows, tests = [], []
    for predictor in predictors:
        row: dict[str, Any] = {
            name: getattr(predictor, name)
            for name in ("setup", "reading", "training", "kernel", "provenance")
        }
        row |= {"note": list(predictor.notes), "differs": []}
        row["uses_references_of_test_instances"] = int(predictor.setup in WITH_REFERENCES)
        row[OWN_REFERENCES] = predictor.own_references
        rows.append(row)
        if not predictor.by_seed:
            continue
        row |= cells(predictor, truth, weights) | {"differs": list(predictor.differs)}
        if predictor.setup in _FIXED:
            continue
        others = list(metrics)
        base = bases.get(APART if predictor.reading.endswith(APART) else "")
        if base is not None and base.by_seed and base is not predictor:
            if predictor.reading == PAPER:
                base = replace(base, by_seed=base.by_seed[: len(predictor.by_seed)])
            others.append(base)
        own = [test for other in others for test in compared(predictor, other, truth)]
        p = {test["against"]: test["p_value"] for test in own if test["statistic"] == "pearson"}
        row["p_better_than_metrics"] = max(p[name] for name in METRICS)
        row["p_better_than_setup_1"] = p.get("1", np.nan)
        tests += own
    return rows, tests


def _finished(rows: list[dict[str, Any]], published: pd.DataFrame, experiment: str) -> pd.DataFrame:
    keys = ["setup", "configuration"] if experiment in CROSS else ["setup"]
    # the paper's values stand beside what is like the paper
    rows = sorted(rows, key=lambda row: row["reading"] == APART)
    table = beside_published(pd.DataFrame(rows), published, keys, VALUES)
    apart = table["reading"] == APART
    table.loc[apart, ["agreement", *(f"paper_{name}" for name in VALUES)]] = ""
    table["note"] = [
        [*(() if row["agreement"] == "equal" else row["differs"]), *row["note"]]
        for row in table.to_dict("records")
    ]
    shown = [*keys, "reading"]
    for name in VALUES:
        shown += [name, f"{name}_low", f"{name}_high", f"{name}_sd", f"paper_{name}"]
    shown += ["agreement", "p_better_than_metrics", "p_better_than_setup_1"]
    shown += ["p_better_than_configuration_1"] if "configuration" in keys else []
    shown += ["uses_references_of_test_instances", OWN_REFERENCES, "coverage", "seeds", "n"]
    shown += ["training", "kernel", "provenance", "note"]
    table = table.reindex(columns=shown)
    whole = ["seeds", "n", "uses_references_of_test_instances"]
    return table.astype(dict.fromkeys(whole, "Int64"))


TEST_COLUMNS = [
    *("configuration", "setup", "reading", "against_configuration", "against", "against_reading"),
    *("statistic", "value", "against_value", "between", "t", "p_value", "n", "provenance"),
]


def _tests(rows: list[dict[str, Any]], experiment: str) -> pd.DataFrame:
    columns = [c for c in TEST_COLUMNS if experiment in CROSS or "configuration" not in c]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(note=pd.Series([[] for _ in rows], dtype=object))


# ---- files ---------------------------------------------------------------------------------------


def write_tables(
    experiment: str,
    stem: str | Path,
    outputs: str | Path | None,
    predictions: Sequence[str | Path],
    published: str | Path,
    settings: Mapping[str, Any],
    kernels: Mapping[str, str],
    bootstrap: Mapping[str, int],
    missing: Sequence[Mapping[str, Any]],
) -> None:
    """Publish table 3, 4 or 5 and its tests.

    Parameters
    ----------
    experiment, kernels : see `table`
    stem : the table's path without ending; the tests are put beside it
    outputs, predictions : signed files (`refless.experiments.rnn_qe.stored`), those that there are
    published : the paper's table
    settings : ``data`` and ``neighbors``, see `refless.experiments.rnn_qe.stored.write_outputs`
    bootstrap : draws and seed
    missing : why others cannot be had, see `refless.report.tables.publish`

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`.
    """
    stem = Path(stem)
    keys = ["setup", "configuration"] if experiment in CROSS else ["setup"]
    paper = read_published(published, keys)
    facts = {**settings["data"], **bootstrap, "seen": "an unknown share"}
    file = None
    usable: dict[str, Signed] = {}
    shares: dict[str, float] = {}
    notes: list[str] = []
    if outputs is not None:
        file = read_outputs(outputs, settings)
        about = file.about["facts"]
        texts = file.about["made_from"]["texts"]
        usable, refused = read_predictions(predictions, settings["data"], texts)
        missing = [*missing, *refused]
        shares = own_shares(about["counts"], settings["data"]["synthesise"])
        facts["seen"] = _seen(experiment, about["counts"])
        notes = [signature_note(one, file.about) for one in file.about["signatures"]]
        notes += [*about["notes"], *(predictions_note(one.about) for one in usable.values())]
    made, tests = table(experiment, file, usable, shares, paper, kernels, bootstrap)
    publish(stem.name, made, stem.parent, missing=missing, facts=facts, notes=notes)
    publish(f"{stem.name}_williams", tests, stem.parent, facts=facts, notes=notes)


def _seen(experiment: str, counts: Mapping[str, Any]) -> str:
    """Share of the test outputs that stand in the training part, delexicalised; of tables 4 and 5,
    in each configuration."""
    shares = [found["seen"] for name, found in counts["cross"].items() if experiment in name]
    return ", ".join(f"{share:.0%}" for share in shares or [counts["seen"]])
