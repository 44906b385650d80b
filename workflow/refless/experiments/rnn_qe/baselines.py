"""What stands beside RNN-QE: the paper's metrics, and three models that are not in the paper.

Stage: prediction. In: rated outputs, delexicalised, and the folds of RNN-QE. Out: one row a rated
output, without text: `COLUMNS`, and the predictions ``<experiment>:<model>`` of its test parts, NaN
where a model has none; the learning curve of BLEU Neighbors.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.rnn_qe.runs import read_rated
from refless.kernels import kernel
from refless.models.baselines import Lookup, RidgeTfidf
from refless.models.neighbor_means import enough_evidence, neighbor_means
from refless.models.rnn_qe import data
from refless.models.rnn_qe.meaning import unordered
from refless.models.rnn_qe.names import CROSS, CURVE_SIZES, CURVE_SUBSETS, SETUPS, TESTED
from refless.models.rnn_qe.scale import half_points
from refless.models.rnn_qe.statistics import scale_statistics
from refless.store import sealed

Array = np.ndarray
Splits = Sequence[data.Split]

METRICS = {"bleu": "Bleu_4", "meteor": "METEOR", "rouge_l": "ROUGE_L", "cider": "CIDEr"}
COLUMNS = ["id", "domain", "system", "mr_number", "rating", *METRICS.values(), *CROSS]
CURVE_COLUMNS = ["model", "size", "subset", "pearson", "spearman"]
SCALE = np.arange(1, 6.25, 0.5)
MODELS = ("lookup", "ridge", "bleu_neighbors")
"""The mean training rating of the same output, ridge regression on character n-grams, and BLEU
Neighbors."""
CONSTANT = 4.5
"""The paper's constant, and what stands for a missing prediction."""
KERNEL = "bleu.char"
TAUS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
MIN_NEIGHBORS = 5


def to_scale(prediction: Array) -> Array:
    """Predictions rounded to half points of 1..6; `CONSTANT` where there is none."""
    return np.where(np.isnan(prediction), CONSTANT, half_points(prediction))


def correlations(prediction: Array, truth: Array) -> tuple[float, float]:
    """Pearson's r and Spearman's rho of half points."""
    found = scale_statistics(prediction, truth, SCALE, np.ones((1, len(truth))))
    return float(found["pearson"][0]), float(found["spearman"][0])


# ---- models --------------------------------------------------------------------------------------


def estimated(model: str, rated: pd.DataFrame, matrix: Array, split: data.Split) -> Array:
    """What one of `MODELS` says of the test part of a split, NaN where it has nothing. Outputs of
    one MR are together where ridge regression chooses its penalty."""
    rating = rated["median_quality"].to_numpy()
    if model == "bleu_neighbors":
        return _bleu_neighbors(rating, matrix, split)
    words = rated["words"].to_numpy(object)
    groups = pd.factorize(rated["mr_key"])[0][split.train].tolist()
    fresh = Lookup() if model == "lookup" else RidgeTfidf(alphas=(0.3, 1.0, 3.0, 10.0))
    fitted = fresh.fit(words[split.train].tolist(), rating[split.train], groups=groups)
    return fitted.predict(words[split.test].tolist())


def _bleu_neighbors(rating: Array, matrix: Array, split: data.Split) -> Array:
    """Of `TAUS`, the one that is best on the validation part, by what picks RNN-QE's pass."""

    def predict(near: Array, tau: float) -> Array:
        means, counts = neighbor_means(near, rating[split.train], tau)
        return enough_evidence(means, counts, len(split.train), MIN_NEIGHBORS, 1.0)

    def worth(tau: float) -> float:
        found = sum(correlations(to_scale(predict(validation, tau)), rating[split.dev]))
        return -np.inf if np.isnan(found) else found

    validation, test = (matrix[np.ix_(rows, split.train)] for rows in (split.dev, split.test))
    return predict(test, max(TAUS, key=worth))


def predicted(model: str, rated: pd.DataFrame, matrix: Array, splits: Splits) -> Array:
    """`estimated` of each split, NaN elsewhere."""
    values = np.full(len(rated), np.nan)
    for split in splits:
        values[split.test] = estimated(model, rated, matrix, split)
    return np.round(values, 4)  # half points are made of it; more digits would only fill files


# ---- files ---------------------------------------------------------------------------------------


def outputs(rated: pd.DataFrame, matrix: Array, settings: data.DataSettings) -> pd.DataFrame:
    """`COLUMNS` and the predictions of `MODELS`, one row a rated output, which has `METRICS`.

    ``mr_number`` is that of its MR, values as slots, in any order; ``cross_domain`` and
    ``cross_system`` are its part (``train``, ``dev``, ``test``) in the in-set of tables 4 and 5,
    empty outside.
    """
    numbers = pd.factorize(rated["mr"].str.split().map(unordered))[0]
    table = rated.assign(mr_number=numbers, rating=rated["median_quality"])
    splits = {tested: data.splits_of(rated, tested, settings) for tested in TESTED}
    for name in CROSS:
        table[name] = ""
        for part in ("train", "dev", "test"):
            table.loc[getattr(splits[f"{name}_1"][0], part), name] = part
    found = {
        f"{tested}:{model}": predicted(model, rated, matrix, own)
        for tested, own in splits.items()
        for model in MODELS
    }
    table = table[COLUMNS].astype(dict.fromkeys(METRICS.values(), np.float64))
    return pd.concat([table, pd.DataFrame(found)], axis=1)


def learning_curve(
    rated: pd.DataFrame, matrix: Array, splits: Splits, sizes: Iterable[int], seed: int
) -> pd.DataFrame:
    """BLEU Neighbors with fewer rated outputs to learn from, `CURVE_COLUMNS`: each fold's training
    part is cut to random subsets, and the test parts of all folds count together. The last size is
    the whole training part, once."""
    whole = min(len(split.train) for split in splits)
    drawn = [(n, subset) for n in sizes if n < whole for subset in range(CURVE_SUBSETS)]
    cut = {(n, subset): data.smaller(splits, n, subset, seed) for n, subset in drawn}
    rows = []
    for of, kept in {**cut, (whole, 0): splits}.items():
        given = to_scale(predicted("bleu_neighbors", rated, matrix, kept))
        found = correlations(given, rated["median_quality"].to_numpy())
        rows.append(("bleu_neighbors", *of, *found))
    return pd.DataFrame(rows, columns=CURVE_COLUMNS)


def write_outputs(
    path: str | Path,
    curve: str | Path,
    rated: str | Path,
    references: Sequence[str | Path],
    settings: Mapping[str, Any],
    threads: int | None = None,
) -> None:
    """Write `outputs` and `learning_curve` of the folders of `read_rated`; in the record's facts,
    ``instances`` has the training instances of each fold, by set-up. Raises FormatError: the
    outputs have no metrics; as `read_rated`."""
    texts, made = read_rated(rated, references, METRICS.values()), data.DataSettings(**settings)
    words, folds = texts.rated["words"].tolist(), data.cross_validation(texts.rated, made.seed)
    matrix = kernel(KERNEL, words, words, threads=threads)
    sizes = {str(setup): [data.size(texts, one, setup) for one in folds] for setup in SETUPS}
    sealed.write(path, outputs(texts.rated, matrix, made), {"instances": sizes})
    sealed.write(curve, learning_curve(texts.rated, matrix, folds, CURVE_SIZES, made.seed))
