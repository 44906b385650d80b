"""The experiments of the BLEU Neighbors paper (Ethayarajh & Sadigh, 2020).

Stage: cell. In: rated texts, individual ratings, dense kernels. Out: predictions, cells of
table 1, the curves of figures 2 to 4. A *reading* says how the ground truth is read:

=========  =====================================================================================
published  one sentence is one (context, output) pair; its quality is the floating-point mean of
           its ratings in the order of the raw file. Rounding noise breaks ties; on HUSE
           summarization it moves the human average rho from 0.4061 to 0.405.
exact      the same sentences, with means rounded once, so that equal means are equal numbers
item       the rated items as they were sent out, one by one: a pair that was sent out as two
           items counts as two sentences (rho of ``bleu.char`` 0.317 instead of 0.325)
=========  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from refless.errors import FormatError, SettingError
from refless.models.neighbors import enough_evidence, most_neighbors, neighbor_means
from refless.statistics import Estimate, evaluate, human_rows, spearman

Array = np.ndarray

READINGS = ("published", "exact", "item")
PREDICTION_COLUMNS = ["kernel", "reading", "id", "quality", "estimate", "neighbors", "training"]


@dataclass(frozen=True)
class Truth:
    """Candidates under one reading.

    id : name of each candidate
    row : its row in the table of rated texts (and in the kernel), shape (candidates,)
    quality : shape (candidates,)
    candidate, rater, rating : one entry an individual rating; ``candidate`` indexes ``id``
    """

    id: Array
    row: Array
    quality: Array
    candidate: Array
    rater: Array
    rating: Array


def read_truth(texts: pd.DataFrame, ratings: pd.DataFrame, reading: str = "published") -> Truth:
    """Bring the tables of a task into one reading. Texts that nobody rated are no candidates.

    Raises
    ------
    SettingError : unknown reading; ``item`` for ratings that do not say their item; ``exact`` for
        ratings that are no straight line of their labels.
    FormatError : a rating has no text.
    """
    row_of = {name: row for row, name in enumerate(texts["id"])}
    lost = ~ratings["id"].isin(texts["id"])
    if lost.any():
        raise FormatError(f"a rating names {ratings['id'][lost].iloc[0]!r}, which is no text's id")
    text_row = ratings["id"].map(row_of).to_numpy(np.int64)
    rating = ratings["rating"].to_numpy(np.float64)
    rater = ratings["rater"].to_numpy()
    if reading == "item":
        if "item" not in ratings.columns:
            raise SettingError("these ratings do not say which item they were given to")
        items, first, candidate = np.unique(
            ratings["item"].astype(str), return_index=True, return_inverse=True
        )
        quality = np.array([np.mean(rating[candidate == i]) for i in range(len(items))])
        return Truth(items, text_row[first], quality, candidate, rater, rating)
    quality = texts["quality"].to_numpy(np.float64)
    if reading == "exact":
        quality = _exact_means(quality, text_row, ratings)
    elif reading != "published":
        raise SettingError(f"unknown reading {reading!r}; there are {', '.join(READINGS)}")
    rated = ~np.isnan(quality)
    candidate = (np.cumsum(rated) - 1)[text_row]
    rows = np.flatnonzero(rated)
    return Truth(texts["id"].to_numpy()[rows], rows, quality[rows], candidate, rater, rating)


def available_readings(ratings: pd.DataFrame) -> list[str]:
    """The readings that say something for these ratings: ``item`` needs to know the items."""
    return [name for name in READINGS if name != "item" or "item" in ratings.columns]


def _exact_means(quality: Array, text_row: Array, ratings: pd.DataFrame) -> Array:
    """Means of the labels rounded once; a label is brought to [0, 1] by one exact line."""
    label = ratings["label"].to_numpy(np.float64)
    rating = ratings["rating"].to_numpy(np.float64)
    if len(label) == 0:
        return quality
    number = np.bincount(text_row, minlength=len(quality))
    if np.ptp(label) == 0:
        return np.where(number > 0, rating[0], quality)
    # rating = (label - low) / width, with low and width read off two different labels and
    # rounded to the halves that every scale in use has.
    i, j = int(np.argmin(label)), int(np.argmax(label))
    span = rating[j] - rating[i]
    width = round(2 * (label[j] - label[i]) / span) / 2 if span else 0.0
    low = round(2 * (label[i] - rating[i] * width)) / 2
    if not np.allclose(low + rating * width, label, rtol=0, atol=1e-6):
        raise SettingError("the ratings are no straight line of the labels, so no mean is exact")
    total = np.bincount(text_row, weights=label, minlength=len(quality))
    exact = quality.copy()
    seen = number > 0
    exact[seen] = (total[seen] - low * number[seen]) / (width * number[seen])
    return exact


def leave_one_out(matrix: Array, truth: Truth, tau: float) -> pd.DataFrame:
    """Estimates for every candidate from all the others.

    ``matrix`` has shape (texts, texts), in the order of the table of rated texts. Returns the
    columns id, quality, estimate (NaN without a neighbor), neighbors, training (their number).
    """
    estimate, neighbors = neighbor_means(
        matrix[np.ix_(truth.row, truth.row)], truth.quality, tau, leave_one_out=True
    )
    return pd.DataFrame(
        {
            "id": truth.id,
            "quality": truth.quality,
            "estimate": estimate,
            "neighbors": neighbors,
            "training": len(truth.id) - 1,
        }
    )


def predictions(
    kernel: str, matrix: Array, texts: pd.DataFrame, ratings: pd.DataFrame, tau: float
) -> pd.DataFrame:
    """`leave_one_out` under every reading that the ratings allow, as `PREDICTION_COLUMNS`."""
    tables = []
    for reading in available_readings(ratings):
        table = leave_one_out(matrix, read_truth(texts, ratings, reading), tau)
        tables.append(table.assign(kernel=kernel, reading=reading))
    return pd.concat(tables, ignore_index=True)[PREDICTION_COLUMNS]


def apply_thresholds(predictions: pd.DataFrame, a: int, b: float) -> Array:
    """The predictions of a table by `leave_one_out` under thresholds a and b, shape (n,)."""
    return enough_evidence(
        predictions["estimate"].to_numpy(np.float64),
        predictions["neighbors"].to_numpy(np.int64),
        int(predictions["training"].iloc[0]),
        a,
        b,
    )


def model_cells(
    predictions: pd.DataFrame, a: int, b: float, draws: int, seed: int
) -> dict[str, object]:
    """The cells of one model on one task: estimates, intervals, p-value, counts."""
    cell = evaluate(
        apply_thresholds(predictions, a, b),
        predictions["quality"].to_numpy(np.float64),
        draws,
        seed,
    )
    return {
        **_spread("mse", cell.mse),
        **_spread("spearman", cell.spearman),
        **_spread("coverage", cell.coverage),
        "p_value": cell.p_value,
        # the published column is a star at p < 0.01, so without a p-value there is no star
        "p_below_0.01": int(cell.p_value < 0.01),
        "n": cell.n,
        "n_covered": cell.n_covered,
    }


def human_cells(
    truth: Truth, draws: int, seed: int, undefined: float = 0.0
) -> dict[str, dict[str, object]]:
    """The cells of the rows ``human_best`` and ``human_average``."""
    humans = human_rows(
        truth.candidate,
        truth.rater,
        truth.rating,
        truth.quality,
        undefined=undefined,
        draws=draws,
        seed=seed,
    )
    common: dict[str, object] = {
        **_spread("coverage", Estimate(1.0, 1.0, 1.0)),
        "p_below_0.01": 0,
        "n": len(truth.id),
        "n_covered": len(truth.id),
        "annotators": humans.annotators,
    }
    return {
        "human_best": {
            **_spread("mse", humans.best_mse),
            **_spread("spearman", humans.best_spearman),
            **common,
        },
        "human_average": {
            **_spread("mse", humans.average_mse),
            **_spread("spearman", humans.average_spearman),
            **common,
        },
    }


def _spread(name: str, estimate: Estimate) -> dict[str, object]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def threshold_curves(
    predictions: pd.DataFrame, a_values: Iterable[int], b_values: Iterable[float], a: int, b: float
) -> pd.DataFrame:
    """Spearman and coverage as one threshold moves and the other stays (figures 2 and 3).

    Columns: threshold (``a`` or ``b``), value, spearman (NaN where undefined), coverage,
    n_covered. One pass over the estimates; the kernel is not looked at again.
    """
    truth = predictions["quality"].to_numpy(np.float64)
    rows = []
    settings = [("a", x, x, b) for x in a_values] + [("b", x, a, x) for x in b_values]
    for threshold, value, a_now, b_now in settings:
        predicted = apply_thresholds(predictions, int(a_now), float(b_now))
        covered = ~np.isnan(predicted)
        rho, _ = spearman(predicted[covered], truth[covered])
        rows.append((threshold, float(value), rho, float(covered.mean()), int(covered.sum())))
    return pd.DataFrame(rows, columns=["threshold", "value", "spearman", "coverage", "n_covered"])


def data_size_curve(
    matrix: Array,
    truth: Truth,
    sizes: Iterable[int],
    *,
    tau: float,
    a: int,
    b: float,
    subsets: int = 20,
    seed: int = 0,
) -> pd.DataFrame:
    """Spearman and coverage on random subsets of the data, leave-one-out in each (figure 4).

    Columns: size, subset, spearman (NaN where undefined), coverage, n_covered: one row a subset.
    Subsets come from one generator a size, so that adding a size changes no other. A submatrix of
    the kernel serves each subset.

    Source: Ethayarajh & Sadigh (2020), section 5.5.
    """
    full = matrix[np.ix_(truth.row, truth.row)] >= tau
    np.fill_diagonal(full, False)
    n = len(truth.id)
    rows = []
    for size in sizes:
        if not 2 <= size <= n:
            raise SettingError(f"a subset of {size} cannot be drawn from {n} candidates")
        generator = np.random.default_rng([seed, size])
        for subset in range(subsets):
            chosen = np.sort(generator.choice(n, size, replace=False))
            near = full[np.ix_(chosen, chosen)]
            quality = truth.quality[chosen]
            counts = near.sum(axis=1)
            inside = (counts >= a) & (counts <= most_neighbors(b, size - 1))
            estimate = np.array([np.mean(quality[near[i]]) for i in np.flatnonzero(inside)])
            rho, _ = spearman(estimate, quality[inside])
            rows.append((size, subset, rho, float(inside.mean()), int(inside.sum())))
    return pd.DataFrame(rows, columns=["size", "subset", "spearman", "coverage", "n_covered"])
