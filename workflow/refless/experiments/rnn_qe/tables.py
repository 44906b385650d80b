"""Tables 1 to 5 of the RNN-QE paper, and the figure over the number of rated outputs.

Stage: cell -> table. In: numbers of the rated outputs, the learning curve of BLEU Neighbors,
predictions of RNN-QE (`refless.experiments.rnn_qe.runs`), the published tables. Out: the tables,
and what the figure draws.
Source: Dušek, Novikova & Rieser (2017), sections 3.5 and 4.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.experiments.published import beside_published, read_rows, with_types
from refless.experiments.reproducibility.explanations import OTHER_DATA, UNEVEN_FOLDS
from refless.experiments.rnn_qe.baselines import (
    ADDED_MODELS,
    CURVE_COLUMNS,
    PAPER_METRICS,
    correlations,
    to_scale,
    untrained_rows,
)
from refless.experiments.rnn_qe.random_parts import bands_of_table
from refless.models.rnn_qe.data import PARTS
from refless.models.rnn_qe.names import CROSS, CV_FOLDS, EVALUATIONS, PAPER, RUNS, SETUPS, SHORT
from refless.models.rnn_qe.statistics import scale_statistics
from refless.statistics import IntervalEstimate, draw_weights, williams
from refless.statistics.bootstrap import spread_scale, training_factor
from refless.statistics.measure import TRAINING_FACTOR, Measure, measure_columns
from refless.store import sealed

Array = np.ndarray

_CORRELATIONS = ("pearson", "spearman")
_ERRORS = ("mae", "rmse")
_MEASURES = (*_CORRELATIONS, *_ERRORS)
_RANGES = {"pearson": (-1, 1), "spearman": (-1, 1), "mae": (0, np.inf), "rmse": (0, np.inf)}
ASIDE = [Measure("mae").low, Measure("mae").high, Measure("rmse").low, Measure("rmse").high]
ASIDE += [Measure(name).over_seeds for name in _MEASURES if name != "pearson"]
ASIDE += chain.from_iterable(Measure(name).deals for name in _MEASURES)
ASIDE.append(TRAINING_FACTOR)
"""Columns that stand in the tables' records (`aside` in the catalogue)."""
WITHOUT_LOOKUP = "1_without_lookup"
"""Set-up 1 on the outputs that the look-up has no estimate for."""
WITH_REFERENCES = {*PAPER_METRICS, "5", "6"}
"""What sees human references of the outputs that it rates: the paper's star."""
_UNEVEN = "one fold of the paper has a row more"
_TWO_MORE = "as in set-up 3, and the paper's source sets have two rows more in training"
_FEWER = "fewer human references could be joined by MR: the paper's own file was not to be had"
DIFFERENT_SIZES = {
    "2": (UNEVEN_FOLDS, _UNEVEN),
    "3": (OTHER_DATA, _FEWER),
    "4": (OTHER_DATA, _TWO_MORE),
    "5": (OTHER_DATA, _TWO_MORE),
    "6": (OTHER_DATA, "as in set-up 3"),
}
"""Why there are not as many training instances as the paper prints: a word, a sentence."""

Predictions = dict[str, pd.DataFrame]
"""Name of a run -> its rows, with ``provenance``."""
NO_OUTPUTS = sealed.Sealed(None, {"provenance": "", "instances": {}})
"""What is read in place of outputs that cannot be had."""


def read_predictions(paths: Mapping[str, Sequence[str | Path]]) -> Predictions:
    """Return for each name the predictions of all its seeds; a name without files is left out.

    paths : for each name its files, one a seed, computed in this run or shipped
    Raises as `refless.store.sealed.read`.
    """
    return {name: read_rows(files, []) for name, files in paths.items() if files}


def outputs_by_system(outputs: Iterable[str | Path], published: pd.DataFrame) -> pd.DataFrame:
    """Return table 1: how many rated outputs each system has of each data set, with totals, in the
    rows and columns of the paper.

    outputs : the file of outputs, if there is one
    published : by `refless.experiments.published.read_published`
    """
    file = next(map(sealed.read, outputs), NO_OUTPUTS)
    paper = published.set_index("system")
    columns = list(map(str, paper))
    ours = pd.DataFrame(np.nan, paper.index, columns)
    if file is not NO_OUTPUTS:
        systems = file.content["system"]
        datasets = file.content["domain"]
        counts = pd.crosstab(systems, datasets, margins=True, margins_name="total")
        ours = counts.reindex(paper.index, columns=columns, fill_value=0)
    table = beside_published(ours.reset_index(), published, ["system"], columns)
    shown = ["system"]
    for column in columns:
        shown += [column, Measure(column).published]
    table = table[shown].astype(dict.fromkeys(columns, "Int64"))
    return table.assign(provenance=file.metadata["provenance"])


def training_instances(outputs: Iterable[str | Path], published: pd.DataFrame) -> pd.DataFrame:
    """Return table 2: how many training instances each set-up has, as the mean over folds, and why
    these are not as many as the paper's.

    outputs : the file of outputs, if there is one, whose record has the numbers
    published : by `refless.experiments.published.read_published`
    """
    metadata = next(map(sealed.read, outputs), NO_OUTPUTS).metadata
    means = {setup: np.mean(by_fold) for setup, by_fold in metadata["instances"].items()}
    name = "training_instances"
    ours = pd.DataFrame({"setup": [str(setup) for setup in SETUPS]})
    ours[name] = ours["setup"].map(means)
    table = beside_published(ours, published, ["setup"], [name])
    printed = pd.to_numeric(table[Measure(name).published])
    different = table[name].notna() & (table[name].round() != printed)
    why = table["setup"].map(lambda setup: DIFFERENT_SIZES.get(setup, ("", "")))
    return table.assign(
        provenance=metadata["provenance"],
        explanation=why.str[0].where(different, ""),
        note=why.str[1].where(different, ""),
    )


# ---- tables 3 to 5 -------------------------------------------------------------------------------


class RowPredictions(NamedTuple):
    """The predictions of a row of a table.

    seeds : half points of n outputs, float64 (seeds, n); without seeds where there are none
    provenance : ``computed`` or ``shipped``, empty where there are none
    reason : a word for why there are none
    """

    seeds: Array
    provenance: str
    reason: str = ""


TablePredictions = dict[tuple[str, str], RowPredictions]
"""Set-up and schedule -> their predictions."""


def rows_of(
    evaluation: str,
    tested: pd.DataFrame,
    trained: Predictions,
    untrained: Mapping[str, str],
    provenance: str,
) -> TablePredictions:
    """Return the rows of one of `EVALUATIONS`, in the table's order.

    tested : the outputs of its test part
    trained : by name, the predictions of networks
    untrained : by name, the word for why there are none
    provenance : of the outputs, and so of all rows but those of networks
    """
    rows: TablePredictions = {
        (name, ""): RowPredictions(half_points[None], provenance)
        for name, half_points in untrained_rows(tested).items()
    }
    nothing = np.empty((0, len(tested)))
    runs = {name: run for name, run in RUNS.items() if run.evaluation == evaluation}
    for name, run in sorted(runs.items(), key=lambda item: (item[1].setup, item[1].schedule)):
        if name in trained:
            seeds = _by_seed(trained[name], tested["id"])
            if run.schedule == PAPER and not len(seeds):
                continue  # the paper's numbers stand beside the short schedule then
            origin = trained[name]["provenance"].iloc[0] if len(seeds) else ""
            rows[str(run.setup), run.schedule] = RowPredictions(seeds, origin)
        elif run.schedule == SHORT:
            reason = untrained.get(name, "")
            rows[str(run.setup), run.schedule] = RowPredictions(nothing, "", reason)
    for model in ADDED_MODELS:
        values = to_scale(tested[f"{evaluation}:{model}"].to_numpy(np.float64))
        rows[model, ""] = RowPredictions(values[None], provenance)
    return rows


def _by_seed(predictions: pd.DataFrame, ids: pd.Series) -> Array:
    """Return the half points of those seeds that predict every one of the outputs ``ids``, (n,), as
    float64 (seeds, n)."""
    test = predictions[predictions["part"] == "test"]
    table = test.pivot_table(index="seed", columns="id", values="prediction")
    return table.reindex(columns=ids).dropna().to_numpy(np.float64)


def seed_averages(
    seeds: Array, truth: Array, weights: Array, scale: float | Array = 1
) -> dict[str, Any]:
    """Return the cells of a row: means of each statistic over the seeds, with intervals, and
    standard deviations over the seeds, NaN of one seed.

    seeds : predictions in half points, (seeds, n)
    truth : ratings in half points, (n,)
    weights : how often each draw has each output, (1 + draws, n); the first row has each once
    scale : how much further draws spread than those of fixed predictions, one number or (draws,)
    """
    by_seed = [scale_statistics(values, truth, weights) for values in seeds]
    cells: dict[str, Any] = {}
    for name in _MEASURES:
        values = np.array([statistics[name] for statistics in by_seed])
        mean = values.mean(axis=0)
        estimate = IntervalEstimate.of(mean[0], mean[1:]).with_spread(scale, *_RANGES[name])
        cells |= Measure(name).cells(estimate)
        deviation = float(values[:, 0].std(ddof=1)) if len(seeds) > 1 else math.nan
        cells[Measure(name).over_seeds] = deviation
    return cells


def williams_p(first: Array, second: Array, truth: Array, greater: bool = False) -> float:
    """Return p of Williams' test of two rows' predictions, two-sided.

    first, second : predictions in half points, (seeds, n) each; correlations are means over seeds
    truth : ratings in half points, (n,)
    greater : p is one-sided, against the alternative that the first is better
    """
    r_first = _mean_correlation(first, truth[None])
    r_second = _mean_correlation(second, truth[None])
    t, p = williams(r_first, r_second, _mean_correlation(first, second), len(truth))
    if not greater:
        return p
    return p / 2 if t > 0 else 1 - p / 2


def _mean_correlation(first: Array, second: Array) -> float:
    """Return the mean of Pearson's r over all pairs of a row of the first, (rows, n), and a row of
    the second."""
    return float((_unit(first) @ _unit(second).T).mean())


def _unit(rows: Array) -> Array:
    """Return rows, (rows, n), centred and of length 1, so that products are correlations; NaN where
    a row has one value alone."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.asarray(centred / np.linalg.norm(centred, axis=1, keepdims=True))


def _p_values(
    key: tuple[str, str], rows: TablePredictions, first: TablePredictions, truth: Array
) -> dict[str, float]:
    """Return p of the tests of a row: against set-up 1 by the same schedule, against the metrics
    (the largest of four, one-sided) and against the same row of configuration 1.

    key : the row's set-up and schedule
    rows, first : those of the row's configuration, and those of configuration 1
    truth : ratings in half points, (n,)
    """
    setup, schedule = key
    if setup in ("constant", *PAPER_METRICS):
        return {}
    seeds = rows[key].seeds
    rivals = {"p_setup1": rows.get(("1", schedule or SHORT)), "p_configuration1": first.get(key)}
    p_values = {
        column: williams_p(seeds, rival.seeds, truth)
        for column, rival in rivals.items()
        if rival is not None and len(rival.seeds) and not np.array_equal(rival.seeds, seeds)
    }
    p_values["p_metrics"] = max(
        williams_p(seeds, rows[name, ""].seeds, truth, greater=True) for name in PAPER_METRICS
    )
    return p_values


class _Tested(NamedTuple):
    """The n outputs that a table tests.

    outputs : their rows in the file of outputs
    truth : their ratings in half points, float64 (n,)
    weights : how often each draw has each of them, (1 + draws, n); the first row has each once.
        Those of one MR are drawn together
    mrs : the number of MRs; those that differ in values alone are one
    """

    outputs: pd.DataFrame
    truth: Array
    weights: Array
    mrs: int


def _tested(experiment: str, outputs: pd.DataFrame, bootstrap: Mapping[str, int]) -> _Tested:
    """Return the outputs that the table of an experiment tests: all in table 3, the test part of
    the in-set in tables 4 and 5."""
    if experiment in CROSS:
        outputs = outputs[outputs[experiment] == "test"]
    mr, mrs = pd.factorize(outputs["mr_number"])
    resampled = draw_weights(len(mrs), **bootstrap)[:, mr]
    weights = np.concatenate([np.ones_like(resampled[:1]), resampled])
    return _Tested(outputs, outputs["rating"].to_numpy(np.float64), weights, len(mrs))


def _cells(
    experiment: str,
    outputs: sealed.Sealed,
    trained: Predictions,
    untrained: Mapping[str, str],
    bootstrap: Mapping[str, int],
) -> list[dict[str, Any]]:
    """Return the cells of those rows of table 3, 4 or 5 that have numbers, or might have.

    experiment : ``cross_validation``, or one of `CROSS`
    outputs : the file of outputs
    trained, untrained : as for `rows_of`
    bootstrap : ``draws`` and ``seed``
    """
    tested = _tested(experiment, outputs.content, bootstrap)
    provenance = outputs.metadata["provenance"]
    shares = training_shares(outputs.content, len(tested.truth))
    cells = []
    first: TablePredictions = {}
    for evaluation in [name for name in EVALUATIONS if name.startswith(experiment)]:
        rows = rows_of(evaluation, tested.outputs, trained, untrained, provenance)
        first = first or rows
        for key, row in rows.items():
            cell = {**_described(key, row), "n": len(tested.truth)}
            cell["configuration"] = evaluation.rpartition("_")[2]
            cells.append(cell)
            if len(row.seeds) == 0:
                continue
            share = shares[evaluation] if cell["setup"] in ADDED_MODELS else None
            scale = spread_scale(tested.mrs, share, **bootstrap)
            cell[TRAINING_FACTOR] = 1.0 if share is None else training_factor(share)
            cell |= seed_averages(row.seeds, tested.truth, tested.weights, scale)
            cell |= _p_values(key, rows, first, tested.truth)
            if experiment == "cross_validation" and cell["setup"] == "1":
                new = np.isnan(tested.outputs["cross_validation:lookup"].to_numpy(np.float64))
                if new.any():
                    cells.append(cell | _without_lookup(row.seeds, tested, new))
    return cells


def _without_lookup(seeds: Array, tested: _Tested, new: Array) -> dict[str, Any]:
    """Return the cells in which the row `WITHOUT_LOOKUP` differs from that of set-up 1.

    seeds : predictions in half points, (seeds, n)
    new : whether the look-up has no estimate for an output, bool (n,)
    """
    cells = seed_averages(seeds[:, new], tested.truth[new], tested.weights[:, new])
    return {**cells, "setup": WITHOUT_LOOKUP, "n": int(new.sum()), "p_metrics": math.nan}


def _described(key: tuple[str, str], row: RowPredictions) -> dict[str, Any]:
    """Return the cells that say what a row is, and where its predictions come from.

    key : the row's set-up and schedule
    """
    setup, schedule = key
    return {
        "setup": setup,
        "schedule": schedule,
        "uses_references": int(setup in WITH_REFERENCES),
        "seeds": len(row.seeds),
        "provenance": row.provenance,
        "reason": row.reason,
        "interval_for": "predictions" if setup[0].isdigit() else "method",
    }


def training_shares(outputs: pd.DataFrame, tested: int) -> dict[str, float]:
    """Return for each of `EVALUATIONS` how many training texts `ADDED_MODELS` have, as a share of
    the outputs that are tested.

    outputs : the rated outputs; a column for each of `CROSS` says in which part each is
    tested : the number of outputs that the table tests

    In table 3, training texts are three of five parts. In tables 4 and 5 their number depends on
    the configuration.
    """
    shares = {"cross_validation": 3 / CV_FOLDS}
    for name in CROSS:
        part = outputs[name]
        inside = int((part == "train").sum())
        outside = int((~part.isin(PARTS)).sum())
        shares[f"{name}_1"] = inside / tested
        shares[f"{name}_2"] = round(0.75 * outside) / tested
        shares[f"{name}_3"] = (outside + inside) / tested
    return shares


def results(
    outputs: Iterable[str | Path],
    published: pd.DataFrame,
    experiment: str,
    predictions: Mapping[str, Sequence[str | Path]],
    untrained: Iterable[Mapping[str, Any]],
    bootstrap: Mapping[str, int],
) -> pd.DataFrame:
    """Return table 3, which tests on all outputs, or table 4 or 5, which have three configurations
    with one test part.

    outputs : the file of outputs, if there is one
    published : by `refless.experiments.published.read_published`
    experiment : ``cross_validation`` for table 3, ``cross_domain`` for 4, ``cross_system`` for 5
    predictions : by name, the files of `read_predictions`
    untrained : why there are no others, by `refless.plan.Plan.missing`
    bootstrap : ``draws`` and ``seed``
    """
    file = next(map(sealed.read, outputs), NO_OUTPUTS)
    crossed = experiment in CROSS
    keys = ["setup", "configuration"] if crossed else ["setup"]
    if file is NO_OUTPUTS:
        schedule = np.where(published["setup"].str.isdigit(), SHORT, "")
        cells = published[keys].assign(schedule=schedule, provenance="", reason="")
    else:
        reasons = {reason["of"]["name"]: reason["code"] for reason in untrained}
        trained = read_predictions(predictions)
        cells = pd.DataFrame(_cells(experiment, file, trained, reasons, bootstrap))
        if crossed:
            deals = bands_of_table(file.content, experiment, bootstrap["seed"])
            cells = cells.merge(deals, "left", "setup")
    table = beside_published(cells, published, keys, _MEASURES)
    # what is trained by the paper's own schedule comes first, and stands for the paper's row
    published_columns = [Measure(name).published for name in _MEASURES]
    table.loc[table.duplicated(keys), published_columns] = ""
    return with_types(table, _columns(keys))


def _columns(keys: Sequence[str]) -> list[str]:
    """Return the columns of table 3, 4 or 5, of which ``keys`` name a row."""
    columns = [*keys, "schedule", *Measure("pearson").interval, "pearson_sd", "paper_pearson"]
    columns += measure_columns("spearman")
    for error in _ERRORS:
        columns += [error, Measure(error).published]
    columns += ["uses_references", "p_setup1", "p_metrics"]
    if "configuration" in keys:
        columns.append("p_configuration1")
    columns += ["seeds", "n", "interval_for", "provenance", "reason"]
    columns += [Measure(name).draws for name in _MEASURES]
    return columns + ASIDE


# ---- learning curves -----------------------------------------------------------------------------


def trained_curve(outputs: pd.DataFrame, predictions: Predictions, whole: int) -> pd.DataFrame:
    """Return how RNN-QE does with fewer rated outputs to learn from, as `CURVE_COLUMNS`: a row for
    each random subset, the mean over seeds.

    outputs : the rated outputs
    predictions : of ``curve_50_setup1`` and so on; the folds f of subset s are numbered 5 s + f
    whole : the size of a network that learned from all outputs of a training part
    """
    truth = outputs.set_index("id")["rating"]
    rows = []
    for name, table in predictions.items():
        test = table[table["part"] == "test"]
        for subset, part in test.groupby(test["fold"] // CV_FOLDS):
            by_seed = []
            for _, of_seed in part.groupby("seed"):
                ratings = truth[of_seed["id"]].to_numpy()
                by_seed.append(correlations(of_seed["prediction"].to_numpy(), ratings))
            pearson, spearman = np.mean(by_seed, axis=0)
            rows.append(("rnn_qe", RUNS[name].size or whole, subset, pearson, spearman))
    return pd.DataFrame(rows, columns=CURVE_COLUMNS)


def data_size(
    outputs: Iterable[str | Path],
    curve: Iterable[str | Path],
    predictions: Mapping[str, Sequence[str | Path]],
) -> pd.DataFrame:
    """Return what the figure draws, as `CURVE_COLUMNS`: the curves of both models, and the look-up
    in all rated outputs, as in table 3. There are no rows without outputs or without the curve.

    outputs : the file of outputs, if there is one
    curve : the file of BLEU Neighbors' learning curve, if there is one
    predictions : by name, the files of `read_predictions`
    """
    files = [sealed.read(path).content for path in (*outputs, *curve)]
    if len(files) < 2:
        return pd.DataFrame(columns=CURVE_COLUMNS)
    rated, neighbors = files
    whole = int(neighbors["size"].max())
    rating = rated["rating"].to_numpy(np.float64)
    estimates = to_scale(rated["cross_validation:lookup"].to_numpy(np.float64))
    pearson, spearman = correlations(estimates, rating)
    lookup = pd.DataFrame([("lookup", whole, 0, pearson, spearman)], columns=CURVE_COLUMNS)
    trained = trained_curve(rated, read_predictions(predictions), whole)
    parts = [part for part in (neighbors, trained, lookup) if len(part)]
    return pd.concat(parts, ignore_index=True)
