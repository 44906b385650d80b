"""Predictions of unrated texts: what `refless score` and `refless estimate` make them with."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.citation import data_sum, signature
from refless.data.rows import File
from refless.data.text_ids import fold_key, label_ids, text_ids
from refless.errors import FormatError, KernelError
from refless.evaluation.answer import Answer, missing_scores
from refless.evaluation.read import FOLDS
from refless.kernels import unread
from refless.methods import COMBINED, GIVEN_SCORE, SCORE_PREFIX, Making, method
from refless.methods.estimators import TableEstimator, clusters_of
from refless.methods.table import score_names, with_keys
from refless.models.folds import in_folds
from refless.models.neighbors import NeighborsRegressor
from refless.models.neighbors_file import signature_line
from refless.statistics import agreement

Array = np.ndarray
Progress = Callable[[int], None]
"""What is told how many texts are done."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ScoreAnswer(Answer):
    """What `refless score` answers: ``table`` has a row a text, ``prediction`` and, of neighbors,
    their number and the nearest; ``facts`` say how it was made and how well it agrees."""

    facts: dict[str, Any]
    file: File | None = None  # whose rows these are


def deciding_columns(name: str, training: pd.DataFrame) -> list[str]:
    """The columns besides ``text`` from which a method that was fitted to these texts predicts."""
    if name == COMBINED:
        return score_names(training)
    return [column for column in method(name).reads if column in training]


def check_columns(
    name: str, training: pd.DataFrame, texts: pd.DataFrame, path: str | None = None
) -> None:
    """Raises FormatError: a method lacks a column of the training texts, or of the texts to rate;
    or has no value in a column of scores."""
    if name == COMBINED and len(scores := score_names(training)) < 2:
        message = f"{len(scores)} columns score_... are too few for --method {COMBINED}"
        raise FormatError(message, remedy="give the ratings two, or take another --method")
    remedy = "add it, or take another method"
    for column in method(name).needs:
        if column not in training and not (column == "context" and "mr" in training):
            message = f"the ratings have no column {column}, which {name} learns from"
            raise FormatError(message, remedy=remedy)
    for column in deciding_columns(name, training):
        if column not in texts:
            message = f"has no column {column}, which the predictions are made from"
            raise FormatError(message, path=path, remedy=remedy)
        for table in (training, texts) if column.startswith(SCORE_PREFIX) else ():
            if len(table) and table[column].isna().all():
                message = f"has no values in column {column}, which the predictions are made from"
                raise FormatError(message, path=path, remedy=remedy)


def missing_scores_of(name: str, training: pd.DataFrame, texts: pd.DataFrame) -> list[str]:
    """A sentence if some of the texts lack scores that the method predicts from."""
    columns = deciding_columns(name, training)
    scores = [column for column in columns if column.startswith(SCORE_PREFIX)]
    return [*missing_scores(texts[scores])]


def by_method(
    name: str,
    training: pd.DataFrame,
    texts: pd.DataFrame,
    making: Making,
    path: str | None = None,
) -> ScoreAnswer:
    """Predictions of texts by a method that is not neighbors. Raises FormatError: as
    `check_columns`."""
    check_columns(name, training, texts, path)
    rated_texts = training["text"].tolist()
    quality = training["quality"].tolist()
    making = replace(making, all_texts=[*rated_texts, *texts["text"]])
    predicted = method(name).make(making).fit(training, quality).predict(texts)
    deciding = deciding_columns(name, training)
    if making.new_contexts:  # what a method chooses, it chooses by contexts
        prompts = [column for column in ("mr", "context") if column in training]
        deciding = list(dict.fromkeys([*deciding, *prompts]))
    signed = data_sum([rated_texts, quality, *(training[column].tolist() for column in deciding)])
    knows_text = method(name).kind != GIVEN_SCORE  # a line and a sum of scores know no text
    facts = {
        "signature": signature(
            method=name,
            scale=making.scale,
            leave="contexts" if making.new_contexts else None,
            n=len(quality),
            data=signed,
        ),
        "own_text_known": len(_among(texts["text"].tolist(), rated_texts)) if knows_text else 0,
        "mean_rating": sum(quality) / len(quality),
    }
    warnings = missing_scores_of(name, training, texts)
    if name.startswith(SCORE_PREFIX) and (lost := int(texts[name].isna().sum())):
        warnings = [f"{lost} of {len(texts)} texts have no {name}, and so no prediction"]
    table = pd.DataFrame({"prediction": predicted})
    return ScoreAnswer(table=table, facts=facts, warnings=warnings)


def fit_neighbors(
    training: pd.DataFrame,
    threads: int | None,
    step: Progress | None,
    new_contexts: bool = False,
    **settings: Any,
) -> NeighborsRegressor:
    """The model of these settings (None: the default), fitted. Raises SettingError and KernelError:
    as its `fit`, or the kernel reads most of the texts as empty."""
    used = {name: value for name, value in settings.items() if value is not None}
    model = NeighborsRegressor(**{"tau": "auto", **used}, threads=threads)
    texts = training["text"].tolist()
    unread_notes(model.kernel, texts)  # refuses
    groups = clusters_of(with_keys(training), new_contexts)
    return model.fit(texts, training["quality"].tolist(), progress=step, groups=groups)


def by_neighbors(
    model: NeighborsRegressor, texts: list[str] | None, explain: int | None, step: Progress | None
) -> ScoreAnswer:
    """Predictions by a fitted model of neighbors, of its training texts from each other without
    ``texts``; ``explain`` adds so many nearest ones. Raises KernelError: as `unread_notes`."""
    notes = [] if texts is None else unread_notes(model.kernel, texts)
    predicted, counts = model.predict_with_counts(texts, step)
    table = pd.DataFrame({"prediction": predicted, "neighbors": counts})
    if explain:
        table["nearest"] = pd.Series(list(_nearest(model, texts, explain)), dtype=object)
    few = int((counts < model.min_neighbors).sum())
    facts = {
        "signature": signature_line(model, **({"leave": "one-out"} if texts is None else {})),
        "own_text_known": _among_neighbors(model, texts),
        "mean_rating": float(model.quality_.mean()),
        "tau": model.tau_,
        "too_few_neighbors": few,
        "too_many_neighbors": int(np.isnan(predicted).sum()) - few,
    }
    warnings = [*dict.fromkeys([*unread_notes(model.kernel, model.texts_), *notes])]
    return ScoreAnswer(table=table, facts=facts, warnings=warnings)


def with_agreement(scores: ScoreAnswer, quality: Sequence[float]) -> ScoreAnswer:
    """Return the same answer with its coverage, with how well predictions agree with ratings, and
    with the sentences that say so.

    quality : the rating of each text, (texts,); NaN where nobody rated it
    """
    predicted = scores.table["prediction"].to_numpy(float)
    truth = np.array(quality, float)
    n = len(predicted)
    covered = int((~np.isnan(predicted)).sum())
    facts = scores.facts | {"n": n, "covered": covered, "coverage": covered / n if n else None}
    if not np.isnan(truth).all():
        facts |= agreement(predicted, truth, facts["mean_rating"])
    warnings = [*scores.warnings]
    lines = []
    if leaked := facts["own_text_known"]:
        known = f"{leaked} of {n} texts have their own text among the rated texts that predict them"
        warnings.append(known + ", so that correlations are too high" * ("mse" in facts))
    if "mse" in facts:
        lines.append(f"where there is a prediction: {measures_line(facts)}")
    if n and "tau" in facts:
        counts = f"{covered} of {n}; {facts['too_few_neighbors']} with too few neighbors,"
        counts += f" {facts['too_many_neighbors']} with too many"
        lines.append(f"coverage {facts['coverage']:.3f} ({counts}), tau {facts['tau']:g}")
    return ScoreAnswer(
        table=scores.table,
        facts=facts,
        answer="\n".join(lines),
        warnings=warnings,
        signature=facts["signature"],
    )


def measures_line(measures: Mapping[str, float | None]) -> str:
    """What `refless.statistics.agreement` found, for people."""
    values = (measures[name] for name in ("pearson", "spearman", "mse", "mse_of_mean"))
    cells = ["undefined" if value is None else f"{value:.4g}" for value in values]
    return "Pearson {}; Spearman {}; squared error {}, of the mean rating {}".format(*cells)


def unread_notes(kernel: str, texts: Sequence[str]) -> list[str]:
    """A sentence if a kernel cannot read some texts. Raises KernelError: these are most of them."""
    lost, sentence = unread(kernel, texts)
    if 2 * lost > len(texts):
        remedy = "take another --kernel, such as bleu.char, or embedding.MODEL for short texts"
        raise KernelError(sentence, remedy=remedy)
    return [sentence] if lost else []


class CrossPredicted(NamedTuple):
    """Predictions for means.

    rated : of the rated texts, float64 (rated,)
    unrated : of the others, float64 (unrated,)
    abstained : the number of texts for which the method has no prediction
    """

    rated: Array
    unrated: Array
    abstained: int


def cross_predict(
    make: Callable[[bool], TableEstimator],
    rated: pd.DataFrame,
    unrated: pd.DataFrame,
    seed: int,
    new_contexts: bool = False,
) -> CrossPredicted:
    """Predictions of rated texts, each by an estimator that has not learned from its cluster, and
    of the others the mean of these estimators (Zrnic and Candes 2024, "Cross-prediction-powered
    inference"). Where one abstains, the mean of its training texts counts.

    make : gives an estimator, for texts of new contexts or not
    rated : with ``quality``, and the number of each text's ``cluster``
    seed : of the folds
    new_contexts : whether the clusters are contexts
    """
    group = rated["cluster"].to_numpy()
    if len(np.unique(group)) < 2:
        group = text_ids(rated["text"])
        new_contexts = False
    fold = in_folds(label_ids(group), FOLDS, np.random.default_rng(seed))
    quality = rated["quality"].to_numpy(float)
    number = int(fold.max()) + 1
    of_rated = np.zeros(len(rated))
    of_unrated = np.zeros((number, len(unrated)))
    mean = np.zeros(number)
    for k in range(number):
        training = fold != k
        rest = fold == k
        estimator = make(new_contexts).fit(rated[training], quality[training])
        mean[k] = quality[training].mean()
        of_rated[rest] = estimator.predict(rated[rest])
        if len(unrated):
            of_unrated[k] = estimator.predict(unrated)
    lost = np.isnan(of_rated)
    lost_by_fold = np.isnan(of_unrated)
    return CrossPredicted(
        rated=np.where(lost, mean[fold], of_rated),
        unrated=np.where(lost_by_fold, mean[:, None], of_unrated).mean(axis=0),
        abstained=int(lost.sum() + lost_by_fold.all(axis=0).sum()),
    )


def _nearest(
    model: NeighborsRegressor, texts: list[str] | None, number: int
) -> Iterator[list[dict[str, Any]]]:
    """The nearest rated texts of each candidate, most similar first; none of no similarity."""
    number = min(number, len(model.texts_))
    for rows, values in zip(*model.nearest(texts, number), strict=True):
        yield [
            {
                "similarity": value,
                "quality": float(model.quality_[row]),
                "text": model.texts_[row],
            }
            for row, value in zip(rows[values > 0], values[values > 0].tolist(), strict=True)
        ]


def _among_neighbors(model: NeighborsRegressor, texts: list[str] | None) -> int:
    """How many texts have their own text, in any spelling, among their nearest neighbors."""
    candidates = model.texts_ if texts is None else _among(texts, model.texts_)
    rated = np.array([*map(fold_key, model.texts_)], object)
    candidate = np.array([*map(fold_key, candidates)], object)
    rows, similarity = model.nearest(None if texts is None else candidates)
    same = (rated[rows] == candidate[:, None]) & (similarity >= model.tau_)
    return int(same.any(axis=1).sum())


def _among(texts: Sequence[str], training: Sequence[str]) -> list[str]:
    """The texts that are among the training texts, in any spelling."""
    normalized = set(map(fold_key, training))
    return [text for text in texts if fold_key(text) in normalized]
