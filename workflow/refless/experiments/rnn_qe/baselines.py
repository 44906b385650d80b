"""The paper's metrics, and three models that RNN-QE is compared with and the paper has not.

Stage: prediction. In: rated outputs, delexicalised, and the folds of RNN-QE. Out: one row a rated
output, without text: `OUTPUT_COLUMNS`, and the predictions ``<evaluation>:<model>`` of its test
parts, NaN where a model has none; the learning curve of BLEU Neighbors.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.rnn_qe.runs import read_training_texts
from refless.kernels import kernel
from refless.models.baselines import Lookup, RidgeTfidf
from refless.models.neighbor_means import apply_thresholds, neighbor_means
from refless.models.rnn_qe import data
from refless.models.rnn_qe.meaning import unordered
from refless.models.rnn_qe.names import CROSS, CURVE_SIZES, CURVE_SUBSETS, EVALUATIONS, SETUPS
from refless.models.rnn_qe.scale import LOWEST, half_points
from refless.models.rnn_qe.statistics import scale_statistics
from refless.store import sealed
from refless.store.records import Destination

Array = np.ndarray
_Splits = Sequence[data.OutputSplit]

PAPER_METRICS = {"bleu": "Bleu_4", "meteor": "METEOR", "rouge_l": "ROUGE_L", "cider": "CIDEr"}
OUTPUT_COLUMNS = ["id", "domain", "system", "mr_number", "rating", *PAPER_METRICS.values(), *CROSS]
CURVE_COLUMNS = ["model", "size", "subset", "pearson", "spearman"]
ADDED_MODELS = ("lookup", "ridge", "bleu_neighbors")
"""The mean training rating of the same output, ridge regression on character n-grams, and BLEU
Neighbors. They are the models that `refless.methods` makes, with settings of this experiment: they
read delexicalised outputs, outputs of one MR stay together, ridge chooses among four penalties, and
tau is chosen on RNN-QE's validation part. By the settings of `refless.methods`, most of their rows
would be others."""
CONSTANT = 4.5
"""The paper's constant, which also replaces a missing prediction."""
KERNEL = "bleu.char"
_TAUS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_MIN_NEIGHBORS = 5


def to_scale(prediction: Array) -> Array:
    """Return predictions (n,) rounded to half points from 1 to 6, float64 (n,); `CONSTANT` where a
    prediction is NaN."""
    return np.where(np.isnan(prediction), CONSTANT, half_points(prediction))


def untrained_rows(outputs: pd.DataFrame) -> dict[str, Array]:
    """Return the half points of each output, float64 (n,), by each of the paper's rows that need no
    training: the constant, and `PAPER_METRICS`.

    outputs : n rows with the columns of the metrics, whose values are from 0 to 1, CIDEr's to 10
    """
    rows = {"constant": np.full(len(outputs), CONSTANT)}
    for metric, column in PAPER_METRICS.items():
        values = outputs[column].to_numpy(np.float64) / (10.0 if metric == "cider" else 1.0)
        # half points, cut to the one below; values on the border of two halves fall as
        # floating-point division by 0.1 has them, as in the authors' code
        rows[metric] = LOWEST + 0.5 * np.floor(values / 0.1)
    return rows


def correlations(prediction: Array, truth: Array) -> tuple[float, float]:
    """Return Pearson's r and Spearman's rho of predictions and truth, half points (n,) each."""
    values = scale_statistics(prediction, truth, np.ones((1, len(truth))))
    return float(values["pearson"][0]), float(values["spearman"][0])


# ---- models --------------------------------------------------------------------------------------


def estimated(model: str, rated: pd.DataFrame, matrix: Array, split: data.OutputSplit) -> Array:
    """Return the estimates of a split's test part by one of `ADDED_MODELS`, float64 (test,), on the
    scale from 1 to 6, NaN where the model has none.

    rated : all n rated outputs, delexicalised
    matrix : the similarity of all outputs, (n, n)

    Outputs of one MR are together where ridge regression chooses its penalty.
    """
    rating = rated["median_quality"].to_numpy()
    if model == "bleu_neighbors":
        return _bleu_neighbors(rating, matrix, split)
    words = rated["words"].to_numpy(object)
    groups = pd.factorize(rated["mr_key"])[0][split.train].tolist()
    estimator = Lookup() if model == "lookup" else RidgeTfidf(alphas=(0.3, 1.0, 3.0, 10.0))
    estimator.fit(words[split.train].tolist(), rating[split.train], groups=groups)
    return estimator.predict(words[split.test].tolist())


def _bleu_neighbors(rating: Array, matrix: Array, split: data.OutputSplit) -> Array:
    """Return the estimates of the test part, float64 (test,), NaN where undefined, with the tau of
    `_TAUS` that is best on the validation part by the measure that picks RNN-QE's epoch.

    rating : of all outputs, float64 (n,)
    matrix : the similarity of all outputs, (n, n)
    """

    def predict(similarity: Array, tau: float) -> Array:
        means, counts = neighbor_means(similarity, rating[split.train], tau)
        return apply_thresholds(means, counts, len(split.train), _MIN_NEIGHBORS, 1.0)

    def validation_score(tau: float) -> float:
        score = sum(correlations(to_scale(predict(validation, tau)), rating[split.dev]))
        return -np.inf if np.isnan(score) else score

    validation = matrix[np.ix_(split.dev, split.train)]
    test = matrix[np.ix_(split.test, split.train)]
    return predict(test, max(_TAUS, key=validation_score))


def predicted(model: str, rated: pd.DataFrame, matrix: Array, splits: _Splits) -> Array:
    """Return the estimates of all rated outputs by one of `ADDED_MODELS`, float64 (n,): of the test
    part of each split by `estimated`, and NaN of outputs that no split tests."""
    values = np.full(len(rated), np.nan)
    for split in splits:
        values[split.test] = estimated(model, rated, matrix, split)
    return np.round(values, 4)  # half points are made of it; more digits would only fill files


# ---- files ---------------------------------------------------------------------------------------


def outputs(rated: pd.DataFrame, matrix: Array, settings: data.DataSettings) -> pd.DataFrame:
    """Return `OUTPUT_COLUMNS` and the predictions of `ADDED_MODELS`, one row a rated output.

    rated : all n rated outputs, delexicalised, with `PAPER_METRICS`
    matrix : the similarity of all outputs, (n, n)

    ``mr_number`` is that of its MR, values as slots, in any order; ``cross_domain`` and
    ``cross_system`` are its part (``train``, ``dev``, ``test``) in the in-set of tables 4 and 5,
    empty outside.
    """
    numbers = pd.factorize(rated["mr"].str.split().map(unordered))[0]
    table = rated.assign(mr_number=numbers, rating=rated["median_quality"])
    splits = {name: data.splits_of(rated, name, settings) for name in EVALUATIONS}
    for name in CROSS:
        table[name] = ""
        for part in data.PARTS:
            table.loc[getattr(splits[f"{name}_1"][0], part), name] = part
    estimates = {}
    for evaluation, parts in splits.items():
        for model in ADDED_MODELS:
            estimates[f"{evaluation}:{model}"] = predicted(model, rated, matrix, parts)
    table = table[OUTPUT_COLUMNS].astype(dict.fromkeys(PAPER_METRICS.values(), np.float64))
    return pd.concat([table, pd.DataFrame(estimates)], axis=1)


def neighbors_curve(
    rated: pd.DataFrame, matrix: Array, splits: _Splits, sizes: Iterable[int], seed: int
) -> pd.DataFrame:
    """Return how BLEU Neighbors does with fewer rated outputs to learn from, as `CURVE_COLUMNS`.

    Each fold's training part is cut to random subsets, and the test parts of all folds count
    together. The last size is the whole training part, once.

    rated, matrix : as for `outputs`
    splits : the folds
    sizes : numbers of outputs in a subset; those that are not smaller than a training part are left
        out
    """
    whole = min(len(split.train) for split in splits)
    splits_by_point = {}
    for size in sizes:
        if size >= whole:
            continue
        for subset in range(CURVE_SUBSETS):
            splits_by_point[size, subset] = data.smaller(splits, size, subset, seed)
    splits_by_point[whole, 0] = list(splits)
    rows = []
    for (size, subset), parts in splits_by_point.items():
        prediction = to_scale(predicted("bleu_neighbors", rated, matrix, parts))
        pearson, spearman = correlations(prediction, rated["median_quality"].to_numpy())
        rows.append(("bleu_neighbors", size, subset, pearson, spearman))
    return pd.DataFrame(rows, columns=CURVE_COLUMNS)


def write_outputs(
    path: Destination,
    curve: Destination,
    rated: str | Path,
    references: Sequence[str | Path],
    settings: Mapping[str, Any],
    threads: int | None = None,
) -> None:
    """Write `outputs` and `neighbors_curve`. In the record of the first, ``instances`` has the
    number of training instances of each fold, by set-up.

    path, curve : where they are written
    rated, references : folders, see `read_training_texts`
    settings : the fields of `refless.models.rnn_qe.data.DataSettings`
    Raises FormatError: the outputs have no metrics; as `read_training_texts`.
    """
    texts = read_training_texts(rated, references, PAPER_METRICS.values())
    of_data = data.DataSettings(**settings)
    folds = data.cross_validation(texts.rated, of_data.seed)
    words = texts.rated["words"].tolist()
    matrix = kernel(KERNEL, words, words, threads=threads)
    instances = {}
    for setup in SETUPS:
        by_fold = [data.number_of_instances(texts, split, setup) for split in folds]
        instances[str(setup)] = by_fold
    sealed.write(path, outputs(texts.rated, matrix, of_data), {"instances": instances})
    sealed.write(curve, neighbors_curve(texts.rated, matrix, folds, CURVE_SIZES, of_data.seed))
