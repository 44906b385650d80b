"""What stands beside RNN-QE: the paper's metrics, and three models that are not in the paper.

Stage: prediction. In: rated outputs, delexicalised, and the folds of RNN-QE. Out: one row a rated
output, without text: `COLUMNS`, and the predictions ``<experiment>:<model>`` of its test parts, NaN
where a model has none; the learning curve of BLEU Neighbors.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.errors import FormatError
from refless.experiments.rnn_qe.runs import read_rated
from refless.kernels import kernel
from refless.models.baselines import Lookup, RidgeTfidf
from refless.models.neighbor_means import enough_evidence, neighbor_means
from refless.models.rnn_qe.data import DataSettings, Split, size, smaller, splits_of
from refless.models.rnn_qe.meaning import unordered
from refless.models.rnn_qe.names import (
    CROSS,
    CURVE_SIZES,
    CURVE_SUBSETS,
    SETUPS,
    SHORT,
    TESTED,
    Name,
)
from refless.models.rnn_qe.scale import HALF_POINTS
from refless.statistics import scale_statistics
from refless.store import sealed

Array = np.ndarray

METRICS = {"bleu": "Bleu_4", "meteor": "METEOR", "rouge_l": "ROUGE_L", "cider": "CIDEr"}
COLUMNS = ["id", "dataset", "system", "mr_number", "rating", *METRICS.values(), *CROSS]
CURVE_COLUMNS = ["model", "size", "subset", "pearson", "spearman"]
SCALE = np.arange(1, 6.25, 0.5)
CONSTANT = 4.5
"""The paper's constant, and what stands for a missing prediction."""
KERNEL = "bleu.char"
TAUS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
MIN_NEIGHBORS = 5


def to_scale(prediction: Array) -> Array:
    """Predictions rounded to half points of 1..6; `CONSTANT` where there is none."""
    return np.where(np.isnan(prediction), CONSTANT, HALF_POINTS.rounded(prediction))


def statistics(prediction: Array, truth: Array, weights: Array | None = None) -> dict[str, Array]:
    """Pearson, Spearman, MAE and RMSE of half points, shape (n,) each, under each row of weights;
    without weights, of all once."""
    given = np.ones((1, len(truth))) if weights is None else weights
    return scale_statistics(prediction, truth, SCALE, given)


# ---- models --------------------------------------------------------------------------------------


def _lookup(rated: pd.DataFrame, matrix: Array, split: Split) -> Array:
    """The mean training rating of the same output."""
    train, test = rated.iloc[split.train], rated.iloc[split.test]
    fitted = Lookup().fit(train["words"].tolist(), train["median_quality"].to_numpy())
    return fitted.predict(test["words"].tolist())


def _ridge(rated: pd.DataFrame, matrix: Array, split: Split) -> Array:
    """Ridge regression on the output's character n-grams (TF-IDF)."""
    train, test = rated.iloc[split.train], rated.iloc[split.test]
    groups = pd.factorize(rated["mr_key"])[0][split.train].tolist()
    model = RidgeTfidf(alphas=(0.3, 1.0, 3.0, 10.0))
    quality = train["median_quality"].to_numpy()
    return model.fit(train["words"].tolist(), quality, groups=groups).predict(
        test["words"].tolist()
    )


def _bleu_neighbors(rated: pd.DataFrame, matrix: Array, split: Split) -> Array:
    """BLEU Neighbors; of `TAUS`, the one that is best on the validation part, by what picks
    RNN-QE's pass."""
    rating = rated["median_quality"].to_numpy()

    def predict(rows: Array, tau: float) -> Array:
        near = matrix[np.ix_(rows, split.train)]
        means, counts = neighbor_means(near, rating[split.train], tau)
        return enough_evidence(means, counts, len(split.train), MIN_NEIGHBORS, 1.0)

    def worth(tau: float) -> float:
        found = statistics(to_scale(predict(split.dev, tau)), rating[split.dev])
        return float(np.nan_to_num(found["pearson"] + found["spearman"], nan=-np.inf)[0])

    return predict(split.test, max(TAUS, key=worth))


MODELS: dict[str, Callable[[pd.DataFrame, Array, Split], Array]] = {
    "lookup": _lookup,
    "ridge": _ridge,
    "bleu_neighbors": _bleu_neighbors,
}


def predicted(model: str, rated: pd.DataFrame, matrix: Array, splits: Iterable[Split]) -> Array:
    """What a model says of the test part of each split, NaN elsewhere and where it has nothing."""
    values = np.full(len(rated), np.nan)
    for split in splits:
        values[split.test] = MODELS[model](rated, matrix, split)
    return np.round(values, 4)  # half points are made of it; more digits would only fill files


# ---- files ---------------------------------------------------------------------------------------


def all_splits(rated: pd.DataFrame, settings: DataSettings) -> dict[str, list[Split]]:
    """The splits of tables 3 to 5: ``cross_validation``, ``cross_domain_1``, ..."""
    return {name: splits_of(rated, Name(SHORT, *of, 1), settings) for name, of in TESTED.items()}


def outputs(
    rated: pd.DataFrame, metrics: pd.DataFrame, matrix: Array, splits: Mapping[str, list[Split]]
) -> pd.DataFrame:
    """`COLUMNS` and the predictions of `MODELS`, one row a rated output.

    ``mr_number`` is that of its MR, values as slots, in any order; ``cross_domain`` and
    ``cross_system`` are its part (``train``, ``dev``, ``test``) in the in-set of tables 4 and 5,
    empty outside.

    rated : see `refless.models.rnn_qe.data.Texts`
    metrics : the loader's table of the same outputs, with the columns of `METRICS`
    splits : by `all_splits`
    """
    said = rated["mr"].str.split().map(unordered)
    table = rated[["id", "dataset", "system"]].assign(
        mr_number=pd.factorize(said)[0], rating=rated["median_quality"]
    )
    table[[*METRICS.values()]] = metrics[[*METRICS.values()]].to_numpy(np.float64)
    for name in CROSS:
        table[name] = ""
        for part in ("train", "dev", "test"):
            table.loc[getattr(splits[f"{name}_1"][0], part), name] = part
    found = {
        f"{experiment}:{model}": predicted(model, rated, matrix, own)
        for experiment, own in splits.items()
        for model in MODELS
    }
    return pd.concat([table, pd.DataFrame(found)], axis=1)


def learning_curve(
    rated: pd.DataFrame, matrix: Array, splits: Sequence[Split], sizes: Iterable[int], seed: int
) -> pd.DataFrame:
    """BLEU Neighbors with fewer rated outputs to learn from, `CURVE_COLUMNS`.

    Each fold's training part is cut to `CURVE_SUBSETS` random subsets; the test parts of all folds
    count together. The last size is the whole training part, once.
    """
    whole = min(len(split.train) for split in splits)
    drawn = [(n, subset) for n in sizes if n < whole for subset in range(CURVE_SUBSETS)]
    cut = {(n, subset): smaller(splits, n, subset, seed) for n, subset in drawn}
    rows = []
    for of, kept in {**cut, (whole, 0): splits}.items():
        given = to_scale(predicted("bleu_neighbors", rated, matrix, kept))
        found = statistics(given, rated["median_quality"].to_numpy())
        rows.append(("bleu_neighbors", *of, found["pearson"][0], found["spearman"][0]))
    return pd.DataFrame(rows, columns=CURVE_COLUMNS)


def write_outputs(
    path: str | Path,
    curve: str | Path,
    rated: str | Path,
    references: Sequence[str | Path],
    settings: Mapping[str, Any],
    threads: int | None = None,
) -> None:
    """Write `outputs` and `learning_curve`; in the record's facts, ``instances`` has the training
    instances of each fold, by set-up.

    rated, references : see `refless.experiments.rnn_qe.runs.read_rated`
    settings : see `DataSettings`
    Raises FormatError: the outputs have no metrics; as `read_rated`.
    """
    task, texts = read_rated(rated, references)
    if lacking := [name for name in METRICS.values() if name not in task.texts]:
        raise FormatError(
            f"columns {', '.join(lacking)} are missing: metrics of each output",
            path=Path(rated) / "texts.csv",
        )
    made, words = DataSettings(**settings), texts.rated["words"].tolist()
    matrix = kernel(KERNEL, words, words, threads=threads)
    splits = all_splits(texts.rated, made)
    folds = splits["cross_validation"]
    instances = {str(setup): [size(texts, split, setup) for split in folds] for setup in SETUPS}
    found = outputs(texts.rated, task.texts, matrix, splits)
    sealed.write(path, found, {"instances": instances})
    sealed.write(curve, learning_curve(texts.rated, matrix, folds, CURVE_SIZES, made.seed))
