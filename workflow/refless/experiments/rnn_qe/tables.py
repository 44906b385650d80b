"""Tables 3, 4 and 5 of the RNN-QE paper: set-ups, metrics and a constant against human ratings.

Stage: cell -> table. In: numbers of the rated outputs (`refless.experiments.rnn_qe.outputs`),
predictions of RNN-QE, the published table. Out: a table, and tests of rows against each other.

Everything is compared in half points of the scale, as in the paper. A metric is brought to 1..6 by
its own range (0 to 1; CIDEr 0 to 10) and cut to the half point below, which gives the published
values (reading ``floor``; ``nearest`` rounds). Predictions of the five folds count together; a
set-up's statistics are means over its seeds, with their standard deviation (``_sd``). Reading
``ensemble`` is another model: the mean of what the seeds predict.

Outputs of one MR were drawn together, and MRs that differ in values alone are one to the network:
so 95% intervals are a bootstrap over delexicalised MRs, each with all of its outputs. What stands
in the training part word for word (MR and text, delexicalised) and what does not are also measured
apart (``_seen``, ``_unseen``).

Tests (`compared`) are of differences between means over all seeds of both, by Student's t of the
standard error over MRs and over seeds, where there are several (``p_clusters``). They are
two-sided, but for the paper's claim that its set-ups are better than metrics, which is one-sided
(``alternative``). Holm's correction (``p_holm``) is within families: one question, one
configuration, one statistic, the paper's set-ups or all else. Beside them are the difference's
interval, the least difference that one test could show, and the paper's test, Williams' (``t``,
``p_value``), which takes the n outputs for independent; the authors' code seems to count each of
them once a seed.

Source: Dušek, Novikova & Rieser (2017), sections 3.5 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.rnn_qe.outputs import (
    APART_OF,
    BASELINES,
    CONSTANT,
    DELTA_BLEU,
    METRICS,
    OWN_REFERENCES,
    PREDICTORS,
    SCALE,
    VIEWS,
    drawn_mrs,
    own_shares,
    to_scale,
)
from refless.experiments.rnn_qe.stored import Gathered, training_notes
from refless.experiments.rnn_qe.ways import choice_of_schedule
from refless.models.rnn_qe.names import (
    APART,
    AUTHORS,
    CONFIGURATIONS,
    CROSS,
    EXPERIMENTS,
    PAPER,
    SETUPS,
    names,
    parse,
)
from refless.models.rnn_qe.variants import notes as authors_notes
from refless.report.published import beside_published, read_published
from refless.report.tables import publish
from refless.report.tables import read_published as read_made
from refless.statistics import (
    Estimate,
    defined,
    holm_by,
    interval,
    midranks,
    needed,
    part_of,
    pearson_between_and_within,
    scale_counts,
    scale_statistics,
    williams,
)
from refless.statistics.variances import (
    Variance,
    could_be_found,
    left_out,
    over_seeds,
    p_value,
    summed,
)
from refless.store.signatures import signature_note
from refless.store.signed import Signed

Array = np.ndarray

VALUES = ["pearson", "spearman", "mae", "rmse"]
CORRELATIONS, ERRORS = VALUES[:2], VALUES[2:]
BY_SYSTEM = ("between_share", "pearson_within")
"""Of the covariance, the share that lies between systems; r among the outputs of one system."""
TOPS = {"bleu": 1.0, "meteor": 1.0, "rouge_l": 1.0, "cider": 10.0}
WITH_REFERENCES = {*METRICS, "5", "6", *(model for model, human in DELTA_BLEU.items() if human)}
SEEDS = 5
LEVEL = 0.05
DECIDING = 20
"""MRs without which a correlation has no interval: see `Measured.too_few`."""
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
    PAPER: ["the paper's schedule of training"],
    AUTHORS: [f"the paper's schedule and the authors' code: {'; '.join(authors_notes())}"],
}
"""Other readings of a set-up, beside that of the configuration."""
SHOWN_WAYS = (PAPER, AUTHORS)
"""Readings that are other ways of training. Table 3 has a row for each set-up, trained or not."""
_DELTA_BLEU = (
    "weights and a line to ratings chosen on the validation part, 4.5 where no reference has a"
    " positive weight"
)
ENSEMBLE = "ensemble"
"""Reading of a set-up whose seeds predict together."""
_BASELINES = {
    "lookup": "mean training rating of the same delexicalised output, 4.5 where there is none",
    "length": "least squares line on the length of the delexicalised output",
    "system_mean": "mean training rating of the same system's outputs, 4.5 where there are none",
    "ridge": "ridge regression on character n-grams (TF-IDF) of the delexicalised output, its"
    " penalty chosen within the training part",
}
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
    raw : the same before it was brought to half points, where a mean of seeds is of use
    coverage : share of the outputs that it predicts by itself
    own_references : share of the outputs of which it saw a human reference in training
    training, kernel : what it hangs on, by which the reason why it is missing is found
    differs : why it may not be the paper's value
    """

    setup: str
    reading: str = ""
    by_seed: list[Array] = field(default_factory=list)
    raw: list[Array] = field(default_factory=list)
    coverage: float = 1.0
    provenance: str = ""
    notes: Sequence[str] = ()
    own_references: float = float("nan")
    training: str = ""
    kernel: str = ""
    differs: Sequence[str] = ()

    @cached_property
    def directions(self) -> dict[str, Array]:
        """See `directions`."""
        return directions(self.by_seed)


# ---- who predicts --------------------------------------------------------------------------------


def metric_on_scale(values: Array, top: float, nearest: bool = False) -> Array:
    """A metric in [0, top] as half points of 1..6, cut to the one below (or the nearest).

    Values on the border of two halves fall as floating-point division by 0.1 has them, as in the
    authors' code.
    """
    tenths = (values / top) / 0.1
    return SCALE[0] + 0.5 * (np.rint(tenths) if nearest else np.floor(tenths))


def without_training(outputs: pd.DataFrame, provenance: str) -> list[Predictor]:
    """The constant and the metrics, each metric with both readings."""
    other_file = [_OTHER_FILE]
    flat = np.full(len(outputs), CONSTANT)
    constant = Predictor("constant", by_seed=[flat], provenance=provenance, differs=other_file)
    found = [constant]
    for name, column in METRICS.items():
        raw = outputs[column].to_numpy(np.float64)
        for reading, notes, differs in (("floor", [], other_file), ("nearest", _NEAREST, [])):
            values = [metric_on_scale(raw, TOPS[name], reading == "nearest")]
            found.append(
                replace(
                    constant,
                    setup=name,
                    reading=reading,
                    by_seed=values,
                    notes=notes,
                    differs=differs,
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
    wanted = [*sorted(PREDICTORS, key=lambda one: one[0] not in BASELINES), *APART_OF]
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
                    coverage=float((~np.isnan(raw)).mean()),
                    provenance=provenance,
                    notes=own_notes(model, reading),
                    kernel=kernel,
                )
            )
        elif (model, reading) in PREDICTORS and kernel:
            found.append(Predictor(model, reading, kernel=kernel))
    return found


def own_notes(model: str, reading: str) -> list[str]:
    """How a model that the paper does not have was applied."""
    if model in BASELINES:
        return [*(_HARDER if reading else ["not in the paper"]), _BASELINES[model]]
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
    seeds, raw = [], []
    for _, own in table.groupby("seed"):
        by_id = own.drop_duplicates("id").set_index("id")[["prediction", "raw"]].reindex(list(ids))
        if by_id["prediction"].notna().all():
            seeds.append(by_id["prediction"].to_numpy(np.float64))
            raw.append(by_id["raw"].to_numpy(np.float64))
    notes = [*READINGS.get(reading, ()), *training_notes(file.about)]
    if name[-1] in "34" and share > 0:
        notes.append(
            "an MR stands on both sides where its outputs differ: of"
            f" {share:.0%} of test outputs a human reference is trained on"
        )
    asked = table["seed"].nunique()
    if len(seeds) < asked or (asked < SEEDS and reading not in SHOWN_WAYS):
        notes.append(f"{len(seeds)} of {SEEDS} seeds have predictions of all outputs")
    if not seeds:
        return replace(missing, notes=notes)
    provenance = file.about["provenance"]
    found = replace(missing, by_seed=seeds, raw=raw, notes=notes)
    return replace(found, provenance=provenance, own_references=share)


def ensemble(one: Predictor) -> list[Predictor]:
    """The mean of the seeds' predictions, as a model of its own; of one seed there is none."""
    if len(one.raw) < 2:
        return []
    together = to_scale(np.mean(one.raw, axis=0))
    notes = [f"the mean of what {len(one.raw)} seeds predict", *one.notes]
    reading = f"{one.reading}_{ENSEMBLE}".lstrip("_")
    return [replace(one, reading=reading, by_seed=[together], raw=[], notes=notes)]


# ---- cells ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """The outputs that are tested.

    truth : their ratings, shape (n,)
    weights : how often each is drawn, shape (draws, n), uint16
    without : whether each is there when one MR is left out, shape (MRs, n), uint16
    mr : number of the MR of each, shape (n,), which is drawn
    system : number of the system that wrote each, shape (n,)
    seen : whether it stands in the training part, bool (n,); False throughout where none does
    """

    truth: Array
    weights: Array
    without: Array
    mr: Array
    system: Array
    seen: Array

    @classmethod
    def of(cls, tested: pd.DataFrame, seen: Array, bootstrap: Mapping[str, int]) -> Sample:
        """MRs are drawn anew, each with all of its outputs."""
        truth = tested["rating"].to_numpy(np.float64)
        drawn = drawn_mrs(tested["mr_number"], **bootstrap)
        mr, system = tested["mr_number"].to_numpy(), pd.factorize(tested["system"])[0]
        without = (np.unique(mr)[:, None] != mr).astype(drawn.dtype)
        return cls(truth, drawn, without, mr, system, seen.astype(bool))

    def too_few(self, values: Array, own: Array | slice = slice(None)) -> bool:
        """Whether fewer than `DECIDING` MRs have another prediction than the most frequent one.

        A correlation hangs on these alone, and draws that miss them have none.
        """
        kinds, kind = np.unique(values[own], return_inverse=True)
        if len(kinds) < 2:
            return False  # there is no correlation at all
        return len(np.unique(self.mr[own][kind != np.bincount(kind).argmax()])) < DECIDING


@dataclass(frozen=True)
class Measured:
    """A predictor with its row of the table, and its statistics by seed.

    draws : in each draw: statistic -> (seeds, draws)
    without : with each MR left out: statistic -> (seeds, MRs)
    points : as it is: statistic -> (seeds,)
    too_few : whether there is no interval of a correlation: of every seed, too few MRs decide (see
        `Sample.too_few`), or too many draws miss those that do
    """

    predictor: Predictor
    row: dict[str, Any]
    draws: dict[str, Array]
    without: dict[str, Array]
    points: dict[str, Array]
    too_few: bool = False

    def less(self, other: Measured, name: str) -> Variance:
        """The variance of a mean over seeds less that of another row: over MRs and over seeds."""
        left = self.without[name].mean(axis=0) - other.without[name].mean(axis=0)
        seeds = (over_seeds(one.points[name]) for one in (self, other))
        return summed(left_out(left), *seeds)


def measured(predictor: Predictor, sample: Sample) -> Measured:
    """Statistics of one row: means over its seeds, ``_sd``, ``_low`` and ``_high``; of the outputs
    that stand in training and of the others, correlations alone."""
    parts = {"seen": sample.seen, "unseen": ~sample.seen}
    once = np.ones((1, len(sample.truth)))
    found: dict[str, list[tuple[dict[str, Array], ...]]] = {name: [] for name in ("", *parts)}
    for values in predictor.by_seed:
        counts = {
            name: [
                scale_counts(values[own], sample.truth[own], SCALE, by[:, own])
                for by in (once, sample.weights, sample.without)
            ]
            for name, own in parts.items()
        }
        counts[""] = [one + other for one, other in zip(*counts.values(), strict=True)]
        for name, by_weights in counts.items():
            found[name].append(tuple(scale_statistics(one, SCALE) for one in by_weights))
    row: dict[str, Any] = {"n": len(sample.truth), "n_seen": int(sample.seen.sum())}
    row |= {"seeds": len(predictor.by_seed), "coverage": predictor.coverage}
    few = {}
    for part, own in found.items():
        of = parts.get(part, slice(None))
        lost = len(defined(np.mean([drawn["pearson"] for _, drawn, _ in own], axis=0))) == 0
        # a constant has no correlation at all
        has = any(not np.isnan(point["pearson"][0]) for point, *_ in own)
        few[part] = has and lost
        few[part] |= all(sample.too_few(each, of) for each in predictor.by_seed)
    for part, own in found.items():
        if part and not sample.seen.any():
            continue  # that none is seen is no part of its own
        for name in CORRELATIONS if part else VALUES:
            values = np.array([point[name][0] for point, *_ in own])
            ends = interval(np.mean([drawn[name] for _, drawn, _ in own], axis=0))
            if few[part] and name in CORRELATIONS:
                ends = (math.nan, math.nan)
            column = f"{name}_{part}" if part else name
            row |= Estimate(float(values.mean()), *ends).columns(column)
            if not part:
                sd = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
                row[f"{name}_sd"] = sd
    # the mean of the system knows nothing else
    if len(np.unique(sample.system)) > 1 and predictor.setup != "system_mean":
        row |= _by_system(predictor, sample, (row["pearson_low"], row["pearson_high"]))
    once_each, draws, without = (
        {name: np.array([by_seed[name] for by_seed in kind]) for name in VALUES}
        for kind in zip(*found[""], strict=True)
    )
    points = {name: values[:, 0] for name, values in once_each.items()}
    return Measured(predictor, row, draws, without, points, few[""])


def _by_system(
    predictor: Predictor, sample: Sample, whole: tuple[float, float]
) -> dict[str, float]:
    """How much of Pearson's r, with the interval ``whole``, is who wrote the outputs: see
    `BY_SYSTEM`."""
    weights = np.concatenate([np.ones((1, len(sample.truth))), sample.weights])
    apart = [
        pearson_between_and_within(values, sample.truth, sample.system, weights)
        for values in predictor.by_seed
    ]
    share, within = np.mean(apart, axis=0)
    ends = (math.nan, math.nan) if np.isnan(whole).all() else interval(within[1:])
    return {
        **part_of(share, whole).columns(BY_SYSTEM[0]),
        **Estimate(float(within[0]), *ends).columns(BY_SYSTEM[1]),
    }


def directions(rows: Sequence[Array]) -> dict[str, Array]:
    """Rows (seeds, n) and their midranks, centred and of length 1: products are correlations, of
    all pairs of seeds at once. NaN where a row is constant."""
    values = np.array(rows, np.float64)
    found = {}
    for name, kind in (("pearson", values), ("spearman", midranks(values))):
        centred = kind - kind.mean(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            found[name] = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    return found


def correlations(
    a: Predictor, b: Predictor, of_truth: Mapping[str, Array], statistic: str
) -> tuple[float, ...]:
    """Mean correlations of a and of b with the truth, and of a with b, over seeds; ``of_truth`` is
    by `directions`."""
    truth = of_truth[statistic]
    one, other = a.directions[statistic], b.directions[statistic]
    return tuple(float((x @ y.T).mean()) for x, y in ((one, truth), (other, truth), (one, other)))


def compared(
    a: Measured, b: Measured, truth: Array, question: str = "", greater: bool = False
) -> list[dict[str, Any]]:
    """Tests of a against b, on Pearson and on Spearman, and the difference's interval.

    Parameters
    ----------
    question : what the test is asked for, by which it has a family
    greater : whether the claim is that a is better; p-values are then one-sided, and above 0.5
        where a is worse
    """
    one, other = a.predictor, b.predictor
    provenance = "shipped" if "shipped" in (one.provenance, other.provenance) else "computed"
    # one question is one family, however the networks that it is asked of were trained
    ways = ("", *SHOWN_WAYS)
    together = {f"{way}_{ENSEMBLE}".lstrip("_") for way in ways}
    asked = one.setup in map(str, SETUPS) and one.reading in {*ways, *together}
    of_truth = directions([truth])
    rows = []
    for name in CORRELATIONS:
        of_a, of_b, between = correlations(one, other, of_truth, name)
        t, p = williams(of_a, of_b, between, len(truth))
        low, high = interval(a.draws[name].mean(axis=0) - b.draws[name].mean(axis=0))
        variance = a.less(b, name)
        of_mrs = p_value(of_a - of_b, variance)
        if greater:
            p, of_mrs = (
                one / 2 if ahead > 0 else 1 - one / 2
                for one, ahead in ((p, t), (of_mrs, of_a - of_b))
            )
        least = could_be_found(variance)
        if a.too_few or b.too_few:
            low = high = least = of_mrs = t = p = math.nan
        rows.append(
            {
                "setup": one.setup,
                "reading": one.reading,
                "against": other.setup,
                "against_reading": other.reading,
                "question": question,
                "family": f"{question}, {'set-ups' if asked else 'others'}",
                "statistic": name,
                "value": of_a,
                "against_value": of_b,
                "between": between,
                "difference": of_a - of_b,
                "difference_low": low,
                "difference_high": high,
                "alternative": "greater" if greater else "two-sided",
                "t": t,
                "p_value": p,
                "p_clusters": of_mrs,
                "least_detectable": least,
                "n_needed": needed(of_a - of_b, least, len(truth)),
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
    """Table 3 (``cross_validation``), 4 (``cross_domain``) or 5, and its tests.

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
        empty = [_without_numbers(experiment, row) for row in published.to_dict("records")]
        return _finished(empty, published, experiment), _tests([], experiment)
    tested, configurations = outputs.content, [""]
    if experiment in CROSS:
        tested = tested[tested[experiment] == "test"].reset_index(drop=True)
        configurations = [str(number) for number in CONFIGURATIONS]
    rows: list[dict[str, Any]] = []
    tests: list[dict[str, Any]] = []
    first: dict[tuple[str, str], Measured] = {}
    for configuration in configurations:
        data = f"{experiment}_{configuration}" if configuration else experiment
        found = _predictors(data, tested, predictions, shares, outputs.about["provenance"], kernels)
        sample = Sample.of(tested, tested[f"{data}:seen"].to_numpy(), bootstrap)
        own = _section(found, sample)
        own_tests = _questions(own, sample.truth)
        for one in own:
            # in configuration 1, and in table 3, this is the row itself
            key = (one.predictor.setup, one.predictor.reading)
            base = first.setdefault(key, one)
            # what needs no training predicts the same everywhere
            tries = base is not one and not _same_predictions(base, one)
            if tries and one.draws and base.draws:
                against = compared(one, base, sample.truth, "configuration 1")
                own_tests += [test | {"against_configuration": "1"} for test in against]
        beside = _beside_constant(own)
        rows += [one.row | beside(one) | {"configuration": configuration} for one in own]
        here = {"configuration": configuration, "against_configuration": configuration}
        tests += [here | test for test in own_tests]
    for test, p in zip(tests, _corrected(tests), strict=True):
        test["p_holm"] = p
    return _finished(_with_p_values(rows, tests), published, experiment), _tests(tests, experiment)


def _same_predictions(a: Measured, b: Measured) -> bool:
    return np.array_equal(np.array(a.predictor.by_seed), np.array(b.predictor.by_seed))


def _corrected(tests: Sequence[Mapping[str, Any]]) -> Array:
    """Holm's p-values within families, of each configuration and statistic."""
    family = [f"{one['configuration']} {one['family']} {one['statistic']}" for one in tests]
    return holm_by(np.array([one["p_clusters"] for one in tests]), np.array(family))


def _with_p_values(
    rows: Sequence[dict[str, Any]], tests: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Rows with the corrected p-values of their own questions, on Pearson's r: the largest of each
    question, and beside set-up 1 what could be found."""
    keys = ("configuration", "setup", "reading")
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for test in tests:
        column = QUESTIONS.get(test["question"])
        if column is None or test["statistic"] != "pearson":
            continue
        own = found.setdefault(tuple(test[key] for key in keys), {})
        own[column] = float(np.maximum(own.get(column, 0.0), test["p_holm"]))
        if test["question"] == "set-up 1":
            own["least_detectable_setup_1"] = test["least_detectable"]
    return [row | found.get(tuple(row[key] for key in keys), {}) for row in rows]


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
        share = shares.get(name.removeprefix(f"{parse(name).way}_"), np.nan)
        return trained(name, predictions.get(name), ids, share)

    own = own_models(outputs, data, provenance, kernels)
    ours = [one for one in own if one.setup in BASELINES]
    rest = [one for one in own if one.setup not in BASELINES]
    first = "" if data == "cross_validation" else f"{data}_"
    plain = [f"{first}setup{k}" for k in SETUPS]
    ways = [f"{way}_{name}" for way in SHOWN_WAYS for name in plain]
    setups = [one for name in plain for one in _with_ensemble(rnn_qe(name))]
    if not first:
        others = [*(name for name in names(APART) if name in predictions), *ways]
        more = [one for name in others for one in _with_ensemble(rnn_qe(name))]
        return [*without_training(outputs, provenance), *ours, *setups, *rest, *more]
    setups += [one for name in ways for one in _with_ensemble(rnn_qe(name))]
    like_the_paper = [*without_training(outputs, provenance), *setups]
    apart = [replace(p, differs=[_OTHER_TEST, *p.differs]) for p in like_the_paper]
    return [*apart, *ours, *rest]


def _with_ensemble(one: Predictor) -> list[Predictor]:
    return [one, *ensemble(one)]


def _section(predictors: Sequence[Predictor], sample: Sample) -> list[Measured]:
    """Rows of the predictors of one test part."""
    nowhere = replace(sample, seen=np.zeros(len(sample.truth), bool))
    found = []
    for predictor in predictors:
        row: dict[str, Any] = {
            name: getattr(predictor, name)
            for name in ("setup", "reading", "training", "kernel", "provenance")
        }
        row |= {"note": list(predictor.notes), "differs": []}
        row["uses_references_of_test_instances"] = int(predictor.setup in WITH_REFERENCES)
        row[OWN_REFERENCES] = predictor.own_references
        if not predictor.by_seed:
            found.append(Measured(predictor, row, {}, {}, {}))
            continue
        own = measured(predictor, nowhere if APART in predictor.reading else sample)
        row |= own.row | {"differs": list(predictor.differs)}
        if own.too_few:
            row["note"].append(
                f"no interval and no test of correlations: fewer than {DECIDING} MRs have"
                " another estimate than the most frequent one, or draws have no correlation"
            )
        found.append(replace(own, row=row))
    return found


def _beside_constant(own: Sequence[Measured]) -> Callable[[Measured], dict[str, float]]:
    """What makes a row's errors less those of the constant, on the same draws."""
    constant = next((one for one in own if one.predictor.setup == "constant" and one.draws), None)

    def beside(one: Measured) -> dict[str, float]:
        if constant is None or not one.draws or one is constant:
            return {}
        found: dict[str, float] = {}
        for name in ERRORS:
            gap = one.row[name] - constant.row[name]
            drawn = one.draws[name].mean(axis=0) - constant.draws[name].mean(axis=0)
            found |= Estimate(gap, *interval(drawn)).columns(f"{name}_less_constant")
            found[f"{name}_less_constant_p"] = p_value(gap, one.less(constant, name))
        return found

    return beside


QUESTIONS = {
    "metrics": "p_better_than_metrics",
    "set-up 1": "p_setup_1",
    "look-up": "p_lookup",
    "configuration 1": "p_configuration_1",
}
"""Question -> the column of a table that has its corrected p-value."""


def _questions(found: Sequence[Measured], truth: Array) -> list[dict[str, Any]]:
    """The tests within one test part: each against the metrics, against set-up 1 and the look-up on
    the same folds; set-up 6 against 4; our own models against the ensemble of set-up 1."""
    there = [one for one in found if one.draws]
    by_key = {(one.predictor.setup, one.predictor.reading): one for one in there}
    metrics = [by_key[name, "floor"] for name in METRICS if (name, "floor") in by_key]
    tests: list[dict[str, Any]] = []
    for one in there:
        setup, reading = one.predictor.setup, one.predictor.reading
        if setup in _FIXED:
            continue
        folds = APART if APART in reading else ""
        numbered = setup in map(str, SETUPS)
        together = numbered and reading.endswith(ENSEMBLE)
        # trained in the same way, but set-up 1 itself is beside the configuration's schedule
        alike = together or (reading in SHOWN_WAYS and setup != "1")
        base = by_key.get(("1", reading if alike else folds))
        asked: list[tuple[str, Measured | None]] = [("metrics", other) for other in metrics]
        asked += [("set-up 1", base), ("look-up", by_key.get(("lookup", folds)))]
        if setup == "6":
            asked.append(("set-up 4", by_key.get(("4", reading))))
        if not numbered:
            whole = f"{folds}_{ENSEMBLE}".lstrip("_")
            asked.append(("ensemble", by_key.get(("1", whole))))
        for question, other in asked:
            itself = other is not None and other.predictor is one.predictor
            if other is not None and not itself:
                tests += compared(one, other, truth, question, question == "metrics")
    return tests


def _about(row: Mapping[str, Any], keys: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[key] for key in keys)


def _finished(rows: list[dict[str, Any]], published: pd.DataFrame, experiment: str) -> pd.DataFrame:
    keys = ["setup", "configuration"] if experiment in CROSS else ["setup"]
    # the paper's values stand beside what is like the paper; what is most like it comes first,
    # since the first row of each set-up is the one that is counted
    named = list(dict.fromkeys(_about(row, keys) for row in rows))
    rows = sorted(
        rows,
        key=lambda row: (
            named.index(_about(row, keys)),
            not (row["reading"] == PAPER and row["provenance"]),
            APART in row["reading"],
        ),
    )
    table = beside_published(pd.DataFrame(rows), published, keys, VALUES)
    apart = table["reading"].str.contains(f"{APART}|{ENSEMBLE}")
    table.loc[apart, ["agreement", *(f"paper_{name}" for name in VALUES)]] = ""
    table["note"] = [
        [*(() if row["agreement"] == "equal" else row["differs"]), *row["note"]]
        for row in table.to_dict("records")
    ]
    shown = [*keys, "reading"]
    for name in VALUES:
        shown += [name, f"{name}_low", f"{name}_high", f"{name}_sd", f"paper_{name}"]
    parts = [f"{name}_{part}" for name in CORRELATIONS for part in ("seen", "unseen")]
    for name in (*BY_SYSTEM, *parts, *(f"{name}_less_constant" for name in ERRORS)):
        shown += [name, f"{name}_low", f"{name}_high"]
    shown += [f"{name}_less_constant_p" for name in ERRORS]
    columns = [c for c in QUESTIONS.values() if experiment in CROSS or "configuration" not in c]
    shown += ["agreement", *columns, "least_detectable_setup_1"]
    shown += ["uses_references_of_test_instances", OWN_REFERENCES, "coverage", "seeds", "n"]
    shown += ["n_seen"]
    shown += ["training", "kernel", "provenance", "note"]
    table = table.reindex(columns=shown)
    whole = ["seeds", "n", "n_seen", "uses_references_of_test_instances"]
    return table.astype(dict.fromkeys(whole, "Int64"))


TEST_COLUMNS = [
    *("configuration", "setup", "reading", "against_configuration", "against", "against_reading"),
    *("question", "family", "statistic", "value", "against_value", "between"),
    *("difference", "difference_low", "difference_high", "alternative", "p_clusters", "p_holm"),
    *("t", "p_value", "least_detectable", "n_needed", "n", "provenance"),
]


def _tests(rows: list[dict[str, Any]], experiment: str) -> pd.DataFrame:
    columns = [c for c in TEST_COLUMNS if experiment in CROSS or "configuration" not in c]
    table = pd.DataFrame(rows, columns=columns).astype({"n_needed": "Int64"})
    return table.assign(note=pd.Series([[] for _ in rows], dtype=object))


# ---- files ---------------------------------------------------------------------------------------


def write_tables(
    folder: str | Path,
    given: Gathered,
    experiment: str,
    published: str | Path,
    kernels: Mapping[str, str],
    bootstrap: Mapping[str, int],
    lacking: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Publish table 3, 4 or 5 and its tests, beside the table of `refless.experiments.rnn_qe.ways`.

    Parameters
    ----------
    experiment, kernels : see `table`
    published : the paper's table
    bootstrap : draws and seed
    lacking : why kernels cannot be had, see `refless.report.tables.publish`

    Raises
    ------
    FormatError, StaleError : a published table, or that of ways, is not the one that was written.
    """
    keys = ["setup", "configuration"] if experiment in CROSS else ["setup"]
    paper = read_published(published, keys)
    names = ("seen", "seen_text", "mrs", "outputs", "equal_mrs")
    unknown = dict.fromkeys(names, "an unknown number")
    # without a rated data set, the settings do not name these
    unknown |= {"domain": "one domain", "system": "one system"}
    facts: dict[str, Any] = {**unknown, **given.settings["data"], **bootstrap}
    shares: dict[str, float] = {}
    notes: list[str] = []
    if given.outputs is not None:
        record = given.outputs.about
        about = record["facts"]
        shares = own_shares(about["counts"], given.settings["data"]["synthesise"])
        facts |= _facts(experiment, about["counts"], given.outputs.content)
        notes = [signature_note(one, record) for one in record["signatures"]] + about["notes"]
    made, tests = table(
        experiment, given.outputs, given.predictions, shares, paper, kernels, bootstrap
    )
    notes += given.notes(made["training"])
    facts["finding"] = finding(made, tests)
    ways = read_made(Path(folder) / "rnn_qe_ways.csv", ["name", "chosen"])
    facts["choice"] = choice_of_schedule(ways, experiment)
    name = f"rnn_qe_table{3 + EXPERIMENTS.index(experiment)}"
    missing = [*given.missing, *given.untrained, *lacking]
    publish(name, made, folder, missing=missing, facts=facts, notes=notes)
    publish(f"{name}_williams", tests, folder, facts=facts, notes=notes)


def _facts(
    experiment: str, counts: Mapping[str, Any], outputs: pd.DataFrame
) -> dict[str, int | str]:
    """For captions: ``seen``, the share of the test outputs that stand in the training part,
    delexicalised (of tables 4 and 5, in each configuration); ``seen_text``; MRs and outputs; of how
    many MRs of equal size a mean over these outputs would be as certain."""
    tested = outputs[outputs[experiment] == "test"] if experiment in CROSS else outputs
    shares = [found["seen"] for name, found in counts["cross"].items() if experiment in name]
    return {
        "seen": ", ".join(f"{share:.0%}" for share in shares or [counts["seen"]]),
        "seen_text": f"{counts['seen_text']:.1%}",
        "mrs": tested["mr_number"].nunique(),
        "equal_mrs": round(len(tested) ** 2 / (tested["mr_number"].value_counts() ** 2).sum()),
        "outputs": len(tested),
    }


AHEAD, BEHIND, LEVEL_WITH = "is ahead of", "is behind", "is not shown to differ from"


def verdict(test: Mapping[Any, Any]) -> str:
    """How the first of a two-sided test stands to the second, after Holm's correction."""
    if not test["p_holm"] < LEVEL:
        return LEVEL_WITH
    return AHEAD if test["difference"] > 0 else BEHIND


def finding(table: pd.DataFrame, tests: pd.DataFrame) -> str:
    """What the network does beyond a look-up: a sentence for each configuration that has both.

    Parameters
    ----------
    table, tests : by `table`
    """
    sentences = []
    for test in tests.to_dict("records"):
        key = (test["question"], test["statistic"], test["setup"], test["reading"])
        if key != ("look-up", "pearson", "1", ""):
            continue
        own, place = table, ""
        if "configuration" in table:
            place = f"Configuration {test['configuration']}: "
            own = table[table["configuration"] == test["configuration"]]
        named = {(row["setup"], row["reading"]): row for row in own.to_dict("records")}
        lookup, network = named["lookup", ""], named["1", ""]
        parts = ""
        if not np.isnan(network["pearson_seen"]):
            parts = (
                f" Set-up 1 has r {network['pearson_seen']:.3f} on outputs that stand in training"
                f" and {network['pearson_unseen']:.3f} on the others."
            )
        stands = (
            f" {verdict(test)} it: difference {test['difference']:.3f}"
            f" ({test['difference_low']:.3f} to {test['difference_high']:.3f}), p"
            f" {test['p_holm']:.2f}; {test['least_detectable']:.3f} could be found."
        )
        if np.isnan(test["p_holm"]):
            stands = " is not tested against it: too few MRs have another estimate than most."
        sentences.append(
            f"{place}A look-up of the delexicalised output has r {lookup['pearson']:.3f} and rho"
            f" {lookup['spearman']:.3f}. The network of set-up 1 (r {network['pearson']:.3f})"
            f"{stands}{parts}"
        )
    return " ".join(sentences)
