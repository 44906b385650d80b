"""Numbers about the rated outputs that RNN-QE's tables are made of; no text is in them.

Stage: prediction. In: rated outputs and human references, delexicalised. Out: a table, one row a
rated output: `OUTPUT_COLUMNS`, and for each of our own models a column
``<experiment>:<model>:<reading>`` with its predictions; counts; a learning curve.

Own models, not in the paper: an entry of `PREDICTORS` sees a context and a split and predicts the
split's test outputs, NaN where it cannot. That is all it takes to put another one beside them in
tables 3 to 5. ΔBLEU is explained in `refless.experiments.rnn_qe.delta_bleu`.

BLEU Neighbors, with the kernel of its paper or with another (``rouge_neighbors``,
``meteor_neighbors``), sees the delexicalised text, or the MR's triples and then the text (``_mr``).
Reading ``tau`` has the thresholds of the BLEU Neighbors paper; in a domain this small nearly every
pair of outputs is similar by them. Reading ``dev`` takes the tau that is best on the validation
part, by the criterion that picks RNN-QE's pass. ``dev_apart`` is ``dev`` on folds where no
delexicalised MR and output stand on both sides, which the paper's folds allow.

The baselines (`BASELINES`) see the delexicalised output alone: its length, the mean training rating
of the same output (``lookup``), ridge regression on its character n-grams (``ridge``); or who wrote
it (``system_mean``). Whether an
output's MR and text, delexicalised, stand in the training part is in ``<experiment>:seen``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from refless.experiments.rnn_qe import delta_bleu
from refless.kernels import kernel
from refless.models.baselines import Baseline, Length, Lookup, RidgeTfidf, SystemMean
from refless.models.neighbors import enough_evidence, neighbor_means
from refless.models.rnn_qe.data import (
    SYNTHESISE,
    Split,
    Texts,
    cross_validation,
    matches,
    own_references,
    sizes,
    smaller,
)
from refless.models.rnn_qe.meaning import unordered
from refless.models.rnn_qe.names import APART, CROSS, SETUPS
from refless.statistics import draw_weights, scale_counts, scale_statistics

Array = np.ndarray

METRICS = {"bleu": "Bleu_4", "meteor": "METEOR", "rouge_l": "ROUGE_L", "cider": "CIDEr"}
OUTPUT_COLUMNS = [
    "id",
    "dataset",
    "system",
    "mr_number",
    "rating",
    *METRICS.values(),
    "fold",
    *CROSS,
]
CURVE_COLUMNS = ["model", "reading", "size", "subset"]
SCALE = np.arange(1, 6.25, 0.5)
CONSTANT = 4.5
KERNELS = ("bleu", "rouge", "meteor")
"""Names of the kernels that BLEU Neighbors may have here."""
VIEWS = {
    f"{name}_neighbors{suffix}": (name, view)
    for name in KERNELS
    for suffix, view in (("", "text"), ("_mr", "mr_text"))
}
"""Model -> kernel and what it compares."""
DELTA_BLEU = {"delta_bleu": False, "delta_bleu_human": True}
"""Whether human references count."""
OWN_REFERENCES = "tested_with_own_references"
OWN = (*VIEWS, *DELTA_BLEU)
BASELINES: dict[str, Callable[[], Baseline]] = {
    "lookup": partial(Lookup, unseen="nan"),
    "length": Length,
    "system_mean": partial(SystemMean, unseen="nan"),
    "ridge": partial(RidgeTfidf, alphas=(0.3, 1.0, 3.0, 10.0), folds=3),
}
APART_OF = {
    **{(model, "dev_apart"): (model, "dev") for model in OWN},
    **{(model, "apart"): (model, "") for model in BASELINES},
}
"""Reading on the folds of `apart` -> the same on the paper's folds."""
CURVE = ("bleu_neighbors", "bleu_neighbors_mr", *DELTA_BLEU)
"""The models of the learning curve."""


@dataclass(frozen=True)
class Neighbors:
    """Thresholds of BLEU Neighbors: the published ones, and those among which dev chooses.

    kernels : name (of `KERNELS`) -> kernel and its tau of the reading ``tau``
    min_neighbors, max_share : of the reading ``tau``
    taus, dev_min_neighbors : of the reading ``dev``, which knows no greatest share
    """

    kernels: Mapping[str, tuple[str, float]]
    min_neighbors: int
    max_share: float
    taus: Sequence[float]
    dev_min_neighbors: int


@dataclass(frozen=True)
class Context:
    """What own models see: kernels of all outputs with all outputs by model, delexicalised texts,
    the numbers of their MRs, their systems, ratings, settings, and what may be a reference of
    ΔBLEU."""

    matrices: Mapping[str, Array]
    words: Array
    mr: Array
    system: list[str]
    rating: Array
    pool: delta_bleu.Pool
    neighbors: Neighbors

    @classmethod
    def of(
        cls,
        texts: Texts,
        neighbors: Neighbors,
        threads: int | None = None,
        options: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Context:
        """Compute the kernels; ``options`` are theirs, by kernel."""
        rated = texts.rated
        views = {
            "text": rated["words"].tolist(),
            "mr_text": (rated["mr"] + " " + rated["words"]).tolist(),
        }
        matrices = {}
        for model, (name, view) in VIEWS.items():
            if name in neighbors.kernels:
                chosen, _ = neighbors.kernels[name]
                given = (options or {}).get(chosen, {})
                matrices[model] = kernel(chosen, views[view], views[view], threads=threads, **given)
        rating = rated["median_quality"].to_numpy(np.float64)
        words, mr = rated["words"].to_numpy(object), named_mrs(texts)
        system = rated["system"].tolist()
        return cls(matrices, words, mr, system, rating, delta_bleu.Pool.of(texts), neighbors)


def named_mrs(texts: Texts) -> Array:
    """Number of each rated output's MR, with its values, int64 (n,): outputs of one were drawn
    together."""
    return pd.factorize(texts.rated["mr_key"])[0].astype(np.int64)


def drawn_mrs(numbers: pd.Series, draws: int, seed: int) -> Array:
    """How often each output counts in each draw of MRs, all outputs of one together; uint16
    (draws, n). ``numbers`` are the column ``mr_number``."""
    cluster = pd.factorize(numbers)[0]
    weights: Array = draw_weights(int(cluster.max()) + 1, draws, seed)[:, cluster]
    return weights


def seen(texts: Texts, splits: Sequence[Split], text_alone: bool = False) -> Array:
    """Whether each output's MR and text, delexicalised, stand in the training part of the split
    that tests it: 1 or 0, int64 (n,); ``text_alone``: whether its text does."""
    rated = texts.rated
    texts_of = rated["words"] if text_alone else rated["mr"] + "\n" + rated["words"]
    key, found = texts_of.to_numpy(object), np.zeros(len(rated), np.int64)
    for split in splits:
        found[split.test] = np.isin(key[split.test], key[split.train])
    return found


def to_scale(prediction: Array) -> Array:
    """Predictions rounded to half points and clipped to 1..6; `CONSTANT` where there is none."""
    rounded = SCALE[0] + np.round((prediction - SCALE[0]) / 0.5) * 0.5
    return np.where(np.isnan(prediction), CONSTANT, np.clip(rounded, SCALE[0], SCALE[-1]))


def statistics(prediction: Array, truth: Array) -> dict[str, float]:
    """Pearson, Spearman, MAE and RMSE of half points, shape (n,) each."""
    counts = scale_counts(prediction, truth, SCALE, np.ones((1, len(truth))))
    return {name: float(values[0]) for name, values in scale_statistics(counts, SCALE).items()}


def _worth(prediction: Array, truth: Array) -> float:
    """What picks RNN-QE's best pass: Pearson plus Spearman of half points."""
    found = statistics(to_scale(prediction), truth)
    value = found["pearson"] + found["spearman"]
    return -np.inf if np.isnan(value) else value


def _published_tau(context: Context, split: Split, model: str) -> Array:
    own, train = context.neighbors, split.train
    _, tau = own.kernels[VIEWS[model][0]]
    matrix = context.matrices[model][np.ix_(split.test, train)]
    means, counts = neighbor_means(matrix, context.rating[train], tau)
    return enough_evidence(means, counts, len(train), own.min_neighbors, own.max_share)


def _dev_tau(context: Context, split: Split, model: str) -> Array:
    own, train, rating = context.neighbors, split.train, context.rating
    dev, test = (context.matrices[model][np.ix_(rows, train)] for rows in (split.dev, split.test))

    def predict(matrix: Array, tau: float) -> Array:
        means, counts = neighbor_means(matrix, rating[train], tau)
        return enough_evidence(means, counts, len(train), own.dev_min_neighbors, 1.0)

    def worth(tau: float) -> float:
        return _worth(predict(dev, tau), rating[split.dev])

    return predict(test, max(own.taus, key=worth))


def _delta_bleu(context: Context, split: Split, human: bool) -> Array:
    def worth(prediction: Array) -> float:
        return _worth(prediction, context.rating[split.dev])

    return delta_bleu.predict(context.pool, context.rating, split, human, worth)


def _baseline(context: Context, split: Split, model: str) -> Array:
    train, words = split.train, context.words
    systems = {
        part: [context.system[k] for k in getattr(split, part)] for part in ("train", "test")
    }
    fitted = BASELINES[model]().fit(
        words[train].tolist(),
        context.rating[train],
        systems=systems["train"],
        groups=context.mr[train].tolist(),
    )
    return fitted.predict(words[split.test].tolist(), systems=systems["test"])


PREDICTORS: dict[tuple[str, str], Callable[[Context, Split], Array]] = {
    (model, reading): partial(rule, model=model)
    for model in VIEWS
    for reading, rule in (("tau", _published_tau), ("dev", _dev_tau))
} | {(model, "dev"): partial(_delta_bleu, human=human) for model, human in DELTA_BLEU.items()}
PREDICTORS |= {(model, ""): partial(_baseline, model=model) for model in BASELINES}


def there(context: Context, model: str) -> bool:
    """Whether a model has what it needs: its kernel, if it has one."""
    return model in context.matrices or model not in VIEWS


def outputs(
    texts: Texts, metrics: pd.DataFrame, context: Context, splits: Mapping[str, list[Split]]
) -> pd.DataFrame:
    """Ratings, metrics, parts and own predictions of each rated output.

    ``mr_number`` is that of its MR, values as slots, in any order; ``fold`` is the fold that tests
    an output; ``cross_domain`` and ``cross_system`` are its part (``train``, ``dev``,
    ``test``) in the in-set of tables 4 and 5, empty outside.

    Parameters
    ----------
    metrics : the loader's table of the same outputs, with the columns of `METRICS`
    splits : by `refless.models.rnn_qe.data.experiments`
    """
    rated = texts.rated
    said = rated["mr"].str.split().map(unordered)
    table = rated[["id", "dataset", "system"]].assign(
        mr_number=pd.factorize(said)[0], rating=context.rating
    )
    for column in METRICS.values():
        table[column] = metrics[column].to_numpy(np.float64)
    table["fold"] = 0
    for number, split in enumerate(splits["cross_validation"]):
        table.loc[split.test, "fold"] = number
    for name in CROSS:
        table[name] = ""
        for part in ("train", "dev", "test"):
            table.loc[getattr(splits[f"{name}_1"][0], part), name] = part
    plain = {experiment: own for experiment, own in splits.items() if experiment != APART}
    found = {
        f"{experiment}:{model}:{reading}": _predicted(predict, context, own)
        for experiment, own in plain.items()
        for (model, reading), predict in PREDICTORS.items()
        if there(context, model)
    }
    for (model, reading), base in APART_OF.items():
        if there(context, model):
            predicted = _predicted(PREDICTORS[base], context, splits[APART])
            found[f"cross_validation:{model}:{reading}"] = predicted
    for experiment, own in plain.items():
        found[f"{experiment}:seen"] = seen(texts, own)
    return pd.concat([table, pd.DataFrame(found, index=table.index)], axis=1)


def _predicted(
    predict: Callable[[Context, Split], Array], context: Context, splits: Sequence[Split]
) -> Array:
    values = np.full(len(context.rating), np.nan)
    for split in splits:
        if len(values[split.test]):
            values[split.test] = predict(context, split)
    return np.round(values, 4)  # half points are made of it; more digits would only fill files


def counts(texts: Texts, seed: int, splits: Mapping[str, list[Split]]) -> dict[str, Any]:
    """What tables 1 and 2 count.

    Parameters
    ----------
    seed : of the folds
    splits : by `refless.models.rnn_qe.data.experiments`

    Returns
    -------
    dict : ``ratings`` (system -> data set -> rated outputs); ``matches`` (by data set: outputs,
        those with a human reference, MRs, references); ``repeated`` (rows whose MR and output stand
        in an earlier row); ``instances`` (synthesise -> set-up -> for each fold what `sizes` says,
        and `OWN_REFERENCES`, the share of test outputs of which one is trained on);
        ``seen`` (share of test outputs whose delexicalised MR and text stand in the training part);
        ``seen_text`` (of those in folds where none does, the share whose text alone does);
        ``cross`` (for each configuration of tables 4 and 5, e.g. ``cross_domain_1``: ``seen``, and
        by synthesise and set-up the share of `OWN_REFERENCES`)
    """
    rated = texts.rated
    table = pd.crosstab(rated["system"], rated["dataset"])
    cross = {name: own for name, (own, *_) in splits.items() if name.startswith(CROSS)}
    return {
        "ratings": {
            str(system): {str(name): int(n) for name, n in row.items()}
            for system, row in table.iterrows()
        },
        "matches": matches(texts).to_dict("records"),
        "repeated": int(rated.duplicated(["mr_key", "text"]).sum()),
        "seen": float(seen(texts, splits["cross_validation"]).mean()),
        "seen_text": float(seen(texts, splits[APART], text_alone=True).mean()),
        "cross": {
            name: {
                "seen": float(seen(texts, [split])[split.test].mean()),
                OWN_REFERENCES: {
                    synthesise: {
                        str(setup): own_references(texts, split, setup, synthesise)
                        for setup in SETUPS
                    }
                    for synthesise in SYNTHESISE
                },
            }
            for name, split in cross.items()
        },
        "instances": {
            synthesise: {
                str(setup): [
                    sizes(texts, split, setup, synthesise)
                    | {OWN_REFERENCES: own_references(texts, split, setup, synthesise)}
                    for split in cross_validation(rated, seed, synthesise)
                ]
                for setup in SETUPS
            }
            for synthesise in SYNTHESISE
        },
    }


def own_shares(counts: Mapping[str, Any], synthesise: str) -> dict[str, float]:
    """Share of test outputs with a human reference of their own in training, from `counts`; by
    name of the training data (``setup4``, ``cross_domain_1_setup4``)."""
    shares = {
        f"setup{setup}": float(np.mean([fold[OWN_REFERENCES] for fold in folds]))
        for setup, folds in counts["instances"][synthesise].items()
    }
    for name, found in counts["cross"].items():
        for setup, share in found[OWN_REFERENCES][synthesise].items():
            shares[f"{name}_setup{setup}"] = share
    return shares


def learning_curve(
    context: Context,
    folds: Mapping[str, Sequence[Split]],
    counts: Sequence[int],
    subsets: int,
    seed: int,
) -> pd.DataFrame:
    """Own models, reading ``dev``, with fewer rated outputs to learn from.

    Each fold's training part is cut to a random subset; the test parts of all folds count
    together. The last size is the whole training part, once.

    Parameters
    ----------
    folds : reading (``dev``, ``dev_apart``) -> folds

    Returns
    -------
    DataFrame : `CURVE_COLUMNS`, pearson, spearman, mae, rmse, coverage
    """
    rows = []
    for reading, splits in folds.items():
        whole = min(len(split.train) for split in splits)
        drawn = [(n, subset) for n in counts if n < whole for subset in range(subsets)]
        for size, subset in [*drawn, (whole, 0)]:
            kept = smaller(splits, size, subset, seed) if size < whole else splits
            for model in filter(lambda name: there(context, name), CURVE):
                raw = _predicted(PREDICTORS[model, "dev"], context, kept)
                rows.append(
                    {"model": model, "reading": reading, "size": size, "subset": subset}
                    | statistics(to_scale(raw), context.rating)
                    | {"coverage": float((~np.isnan(raw)).mean())}
                )
    return pd.DataFrame(rows)
