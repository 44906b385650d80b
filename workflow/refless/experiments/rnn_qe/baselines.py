"""What stands beside RNN-QE: the paper's metrics, and three models that are not in the paper.

Stage: prediction. In: rated outputs, delexicalised, and the folds of RNN-QE. Out: one row a rated
output, without text: `COLUMNS`, and the predictions ``<experiment>:<model>`` of its test parts, NaN
where a model has none; the learning curve of BLEU Neighbors.

==============  ================================================================================
lookup          the mean training rating of the same output
ridge           ridge regression on the output's character n-grams (TF-IDF)
bleu_neighbors  BLEU Neighbors on the output, its tau chosen on the validation part
==============  ================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.errors import FormatError
from refless.experiments.rnn_qe.runs import read_rated
from refless.kernels import kernel
from refless.models.baselines import Lookup, RidgeTfidf
from refless.models.neighbors import enough_evidence, neighbor_means
from refless.models.rnn_qe import data
from refless.models.rnn_qe.batches import rounded
from refless.models.rnn_qe.data import DataSettings, Split, Texts, smaller, splits_of
from refless.models.rnn_qe.meaning import unordered
from refless.models.rnn_qe.names import (
    CONFIGURATIONS,
    CROSS,
    CURVE_SIZES,
    CURVE_SUBSETS,
    EXPERIMENTS,
    SETUPS,
    SHORT,
    Name,
)
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


@dataclass(frozen=True)
class Rated:
    """What the models see of all outputs: delexicalised words, ratings, the number of each one's MR
    with its values, and the kernel of all with all."""

    words: Array
    rating: Array
    mr: Array
    kernel: Array

    @classmethod
    def of(cls, texts: Texts, threads: int | None = None) -> Rated:
        """Compute the kernel, too."""
        words = texts.rated["words"].tolist()
        return cls(
            np.array(words, object),
            texts.rated["median_quality"].to_numpy(np.float64),
            pd.factorize(texts.rated["mr_key"])[0],
            kernel(KERNEL, words, words, threads=threads),
        )


def to_scale(prediction: Array) -> Array:
    """Predictions rounded to half points of 1..6; `CONSTANT` where there is none."""
    return np.where(np.isnan(prediction), CONSTANT, rounded(prediction))


def statistics(prediction: Array, truth: Array, weights: Array | None = None) -> dict[str, Array]:
    """Pearson, Spearman, MAE and RMSE of half points, shape (n,) each, under each row of weights;
    without weights, of all once."""
    given = np.ones((1, len(truth))) if weights is None else weights
    return scale_statistics(prediction, truth, SCALE, given)


def _lookup(rated: Rated, split: Split) -> Array:
    train = rated.words[split.train].tolist()
    fitted = Lookup().fit(train, rated.rating[split.train])
    return fitted.predict(rated.words[split.test].tolist())


def _ridge(rated: Rated, split: Split) -> Array:
    train, groups = rated.words[split.train].tolist(), rated.mr[split.train].tolist()
    model = RidgeTfidf(alphas=(0.3, 1.0, 3.0, 10.0), folds=3)
    fitted = model.fit(train, rated.rating[split.train], groups=groups)
    return fitted.predict(rated.words[split.test].tolist())


def _bleu_neighbors(rated: Rated, split: Split) -> Array:
    """Of `TAUS`, the one that is best on the validation part, by what picks RNN-QE's pass."""

    def predict(rows: Array, tau: float) -> Array:
        matrix = rated.kernel[np.ix_(rows, split.train)]
        means, counts = neighbor_means(matrix, rated.rating[split.train], tau)
        return enough_evidence(means, counts, len(split.train), MIN_NEIGHBORS, 1.0)

    def worth(tau: float) -> float:
        found = statistics(to_scale(predict(split.dev, tau)), rated.rating[split.dev])
        return float(np.nan_to_num(found["pearson"] + found["spearman"], nan=-np.inf)[0])

    return predict(split.test, max(TAUS, key=worth))


MODELS: dict[str, Callable[[Rated, Split], Array]] = {
    "lookup": _lookup,
    "ridge": _ridge,
    "bleu_neighbors": _bleu_neighbors,
}


def predicted(model: str, rated: Rated, splits: Iterable[Split]) -> Array:
    """What a model says of the test part of each split, NaN elsewhere and where it has nothing."""
    values = np.full(len(rated.rating), np.nan)
    for split in splits:
        values[split.test] = MODELS[model](rated, split)
    return np.round(values, 4)  # half points are made of it; more digits would only fill files


def all_splits(texts: Texts, settings: DataSettings) -> dict[str, list[Split]]:
    """The splits of tables 3 to 5: ``cross_validation``, ``cross_domain_1``, ..."""
    found = [(EXPERIMENTS[0], 0), *product(CROSS, CONFIGURATIONS)]
    return {
        f"{name}_{number}" if number else name: splits_of(
            texts.rated, Name(SHORT, name, number, 1), settings
        )
        for name, number in found
    }


def outputs(
    texts: Texts, metrics: pd.DataFrame, rated: Rated, splits: Mapping[str, list[Split]]
) -> pd.DataFrame:
    """`COLUMNS` and the predictions of `MODELS`, one row a rated output.

    ``mr_number`` is that of its MR, values as slots, in any order; ``cross_domain`` and
    ``cross_system`` are its part (``train``, ``dev``, ``test``) in the in-set of tables 4 and 5,
    empty outside.

    Parameters
    ----------
    metrics : the loader's table of the same outputs, with the columns of `METRICS`
    splits : by `all_splits`
    """
    said = texts.rated["mr"].str.split().map(unordered)
    table = texts.rated[["id", "dataset", "system"]].assign(
        mr_number=pd.factorize(said)[0], rating=rated.rating
    )
    table[[*METRICS.values()]] = metrics[[*METRICS.values()]].to_numpy(np.float64)
    for name in CROSS:
        table[name] = ""
        for part in ("train", "dev", "test"):
            table.loc[getattr(splits[f"{name}_1"][0], part), name] = part
    found = {
        f"{experiment}:{model}": predicted(model, rated, own)
        for experiment, own in splits.items()
        for model in MODELS
    }
    return pd.concat([table, pd.DataFrame(found)], axis=1)


def learning_curve(
    rated: Rated, splits: Sequence[Split], sizes: Iterable[int], subsets: int, seed: int
) -> pd.DataFrame:
    """BLEU Neighbors with fewer rated outputs to learn from, `CURVE_COLUMNS`.

    Each fold's training part is cut to a random subset; the test parts of all folds count
    together. The last size is the whole training part, once.
    """
    whole, model = min(len(split.train) for split in splits), "bleu_neighbors"
    drawn = [(size, subset) for size in sizes if size < whole for subset in range(subsets)]
    rows = []
    for size, subset in [*drawn, (whole, 0)]:
        kept = smaller(splits, size, subset, seed) if size < whole else splits
        found = statistics(to_scale(predicted(model, rated, kept)), rated.rating)
        rows.append((model, size, subset, found["pearson"][0], found["spearman"][0]))
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

    Parameters
    ----------
    rated, references : see `refless.experiments.rnn_qe.runs.read_rated`
    settings : see `DataSettings`

    Raises
    ------
    FormatError : the outputs have no metrics; as `read_rated`.
    """
    task, texts = read_rated(rated, references)
    if lacking := [name for name in METRICS.values() if name not in task.texts]:
        raise FormatError(
            f"columns {', '.join(lacking)} are missing: metrics of each output",
            path=Path(rated) / "texts.csv",
        )
    made, seen = DataSettings(**settings), Rated.of(texts, threads)
    splits = all_splits(texts, made)
    folds = splits[EXPERIMENTS[0]]
    instances = {str(k): [data.size(texts, split, k) for split in folds] for k in SETUPS}
    sealed.write(path, outputs(texts, task.texts, seen, splits), {"instances": instances})
    sealed.write(curve, learning_curve(seen, folds, CURVE_SIZES, CURVE_SUBSETS, seed=made.seed))
