"""The experiments of the BLEU Neighbors paper (Ethayarajh & Sadigh, 2020).

Stage: cell. In: rated texts, individual ratings, dense kernels. Out: predictions, cells of
table 1, the curves of figures 2 to 4. A *reading* says how the ground truth is read:

=========  =====================================================================================
published  one sentence is one (context, output) pair; its quality is the floating-point mean of
           its ratings in the order of the raw file. Rounding noise breaks ties; on HUSE
           summarization it moves the human average rho from 0.4061 to 0.405. An estimate is the
           floating-point mean over the neighbors: from a kernel matrix as `numpy.mean` takes it,
           as published; of a task that is streamed, the sum in training order, one after the
           other, over their number. (No paper has such a task.)
exact      the same sentences; sums of ratings and of neighbors' quality are exact and divided
           once, so that equal means are equal numbers
item       the rated items as they were sent out, one by one: a pair that was sent out as two
           items counts as two sentences (rho of ``bleu.char`` 0.317 instead of 0.325)
=========  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from refless.data.ratings import exact_points
from refless.errors import FormatError, SettingError
from refless.experiments.bleu_neighbors.columns import with_intervals
from refless.models.neighbors import enough_evidence, neighbor_means
from refless.statistics import (
    Annotators,
    Estimate,
    annotators,
    between_and_within,
    evaluate,
    human_rows,
    spearman,
)

Array = np.ndarray

READINGS = ("published", "exact", "item")
PREDICTION_COLUMNS = ["kernel", "reading", "id", "quality", "estimate", "neighbors", "training"]
POINT = ["spearman", "coverage", "n_covered"]


@dataclass(frozen=True)
class Truth:
    """Candidates under one reading.

    id : name of each candidate
    row : its row in the table of rated texts (and in the kernel), shape (candidates,)
    quality : shape (candidates,)
    points, most : quality is points / most; under ``exact``, sums of points are exact. Otherwise
        points are the quality and most is 1.
    candidate, rater, rating : one entry an individual rating; ``candidate`` indexes ``id``
    """

    id: Array
    row: Array
    quality: Array
    points: Array
    most: float
    candidate: Array
    rater: Array
    rating: Array


def read_truth(
    texts: pd.DataFrame,
    ratings: pd.DataFrame,
    reading: str = "published",
    scale: tuple[float, float] | None = None,
) -> Truth:
    """Bring the tables of a task into one reading. Texts that nobody rated are no candidates.

    ``scale`` is the lowest and the highest label (``about.json`` of the task); ``exact`` needs it.

    Raises
    ------
    SettingError : unknown reading; ``item`` for ratings that do not say their item; ``exact``
        without a scale.
    FormatError : a rating has no text, or is not its label on the scale.
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
        items, first, candidate, number = np.unique(
            ratings["item"].astype(str), return_index=True, return_inverse=True, return_counts=True
        )
        # the ratings of each item, in the order of the file
        groups = np.split(rating[np.argsort(candidate, kind="stable")], np.cumsum(number)[:-1])
        quality = np.array([np.mean(group) for group in groups])
        return Truth(items, text_row[first], quality, quality, 1.0, candidate, rater, rating)
    points, most = texts["quality"].to_numpy(np.float64), 1.0
    if reading == "exact":
        if scale is None:
            raise SettingError("without the scale of the labels, no mean is exact")
        points, most = exact_points(texts, ratings, scale)
    elif reading != "published":
        raise SettingError(f"unknown reading {reading!r}; there are {', '.join(READINGS)}")
    rated = ~np.isnan(points)
    candidate = (np.cumsum(rated) - 1)[text_row]
    rows, points = np.flatnonzero(rated), points[rated]
    name = texts["id"].to_numpy()[rows]
    return Truth(name, rows, points / most, points, most, candidate, rater, rating)


def read_truths(
    texts: pd.DataFrame, ratings: pd.DataFrame, scale: tuple[float, float] | None
) -> dict[str, Truth]:
    """Every reading that the ratings allow: see `read_truth`."""
    missing = {"exact": scale is None, "item": "item" not in ratings.columns}
    allowed = [reading for reading in READINGS if not missing.get(reading)]
    return {reading: read_truth(texts, ratings, reading, scale) for reading in allowed}


def leave_one_out(matrix: Array, truth: Truth, tau: float) -> pd.DataFrame:
    """Estimates for every candidate from all the others.

    ``matrix`` has shape (texts, texts), in the order of the table of rated texts. Returns the
    columns id, quality, estimate (NaN without a neighbor), neighbors, training (their number).
    """
    square = matrix[np.ix_(truth.row, truth.row)]
    means, counts = neighbor_means(square, truth.points, tau, leave_one_out=True, most=truth.most)
    return as_predictions(truth, means, counts)


def as_predictions(truth: Truth, estimate: Array, neighbors: Array) -> pd.DataFrame:
    """The table that `leave_one_out` returns, of estimates and numbers of neighbors."""
    return pd.DataFrame(
        {
            "id": truth.id,
            "quality": truth.quality,
            "estimate": estimate,
            "neighbors": neighbors,
            "training": len(truth.id) - 1,
        }
    )


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
    predictions: pd.DataFrame,
    a: int,
    b: float,
    draws: int,
    seed: int,
    units: Array | None = None,
) -> dict[str, Any]:
    """The cells of one model on one task: see `estimate_cells`."""
    quality = predictions["quality"].to_numpy(np.float64)
    return estimate_cells(apply_thresholds(predictions, a, b), quality, draws, seed, units)


def estimate_cells(
    estimate: Array, quality: Array, draws: int, seed: int, units: Array | None = None
) -> dict[str, Any]:
    """Cells of estimates, NaN where undefined: values, intervals, p-value, counts."""
    cell = evaluate(estimate, quality, draws, seed, units)
    return {
        **cell.mse.columns("mse"),
        **cell.spearman.columns("spearman"),
        **cell.coverage.columns("coverage"),
        "p_value": cell.p_value,
        # the published column is a star at p < 0.01, so without a p-value there is no star
        "p_below_0.01": int(cell.p_value < 0.01),
        "n": cell.n,
        "n_covered": cell.n_covered,
    }


BY_SYSTEM = [
    *with_intervals("between_share", "within_spearman"),
    *("system_spearman", "system_accuracy", "systems"),
]
"""A correlation over texts of several systems, taken apart: `between_and_within`."""


def system_cells(
    estimate: Array, quality: Array, systems: Sequence[str], **how: Any
) -> dict[str, Any]:
    """The columns `BY_SYSTEM` of estimates; none where there are no two systems.

    Parameters
    ----------
    systems : who wrote each text
    how : ``units``, ``draws`` and ``seed`` of the bootstrap
    """
    found = between_and_within(estimate, quality, systems, **how)
    if found.systems < 2:
        return {}
    return {
        **found.between_share.columns("between_share"),
        **found.within_spearman.columns("within_spearman"),
        "system_spearman": found.system_spearman,
        "system_accuracy": found.system_accuracy,
        "systems": found.systems,
    }


def annotators_of(
    truth: Truth, draws: int, seed: int, others: bool = False, units: Array | None = None
) -> Annotators:
    """Each annotator against the quality, or against the mean of the ``others``' ratings."""
    of_rating = truth.candidate, truth.rater, truth.rating
    how: dict[str, Any] = {"others": others, "units": units, "draws": draws, "seed": seed}
    return annotators(*of_rating, truth.quality, **how)


def human_cells(each: Annotators, n: int, undefined: float = 0.0) -> dict[str, dict[str, Any]]:
    """The cells of the rows ``human_best`` and ``human_average``, by `annotators_of`.

    An annotator without a rho (labels all alike, or fewer than 3 of them) counts as ``undefined``;
    how many there are is in the cells under that name. ``n`` is the number of candidates.
    """
    humans = human_rows(each, undefined)
    common = {
        **Estimate(1.0, 1.0, 1.0).columns("coverage"),
        "n": n,
        "n_covered": n,
        "annotators": humans.annotators,
        "undefined": humans.undefined,
    }
    estimates = {
        "human_best": (humans.best_mse, humans.best_spearman),
        "human_average": (humans.average_mse, humans.average_spearman),
    }
    return {
        model: {**mse.columns("mse"), **rho.columns("spearman"), **common}
        for model, (mse, rho) in estimates.items()
    }


def threshold_curves(
    predictions: pd.DataFrame, a_values: Iterable[int], b_values: Iterable[float], a: int, b: float
) -> pd.DataFrame:
    """Spearman and coverage as one threshold moves and the other stays (figures 2 and 3).

    Columns: threshold (``a`` or ``b``), value, spearman (NaN where undefined), coverage,
    n_covered. One pass over the estimates; the kernel is not looked at again.
    """
    quality = predictions["quality"].to_numpy(np.float64)
    rows = []
    settings = [("a", x, x, b) for x in a_values] + [("b", x, a, x) for x in b_values]
    for threshold, value, a_now, b_now in settings:
        predicted = apply_thresholds(predictions, int(a_now), float(b_now))
        rows.append((threshold, float(value), *_point(predicted, quality)))
    return pd.DataFrame(rows, columns=["threshold", "value", *POINT])


def _point(predicted: Array, quality: Array) -> tuple[float, float, int]:
    """What `POINT` names."""
    covered = ~np.isnan(predicted)
    rho, _ = spearman(predicted[covered], quality[covered])
    return rho, float(covered.mean()), int(covered.sum())


def data_size_curve(
    neighbors: Callable[[Array], tuple[Array, Array]],
    truth: Truth,
    sizes: Iterable[int],
    *,
    a: int,
    b: float,
    subsets: int = 20,
    seed: int = 0,
) -> pd.DataFrame:
    """Spearman and coverage on random subsets of the data, leave-one-out in each (figure 4).

    ``neighbors`` takes a subset, ascending places in ``truth``, and returns means and numbers of
    the neighbors within it, both of the subset's shape: see `matrix_neighbors`.

    Columns: size, subset, spearman (NaN where undefined), coverage, n_covered: one row a subset.
    Subsets come from one generator a size, so that adding a size changes no other.

    Source: Ethayarajh & Sadigh (2020), section 5.5.
    """
    n = len(truth.id)
    rows = []
    for size in sizes:
        if not 2 <= size <= n:
            raise SettingError(f"a subset of {size} cannot be drawn from {n} candidates")
        generator = np.random.default_rng([seed, size])
        for subset in range(subsets):
            if size < n or subset == 0:  # of everything there is one subset only
                chosen = np.sort(generator.choice(n, size, replace=False))
                means, counts = neighbors(chosen)
                predicted = enough_evidence(means, counts, size - 1, a, b)
                point = _point(predicted, truth.quality[chosen])
            rows.append((size, subset, *point))
    return pd.DataFrame(rows, columns=["size", "subset", *POINT])


def matrix_neighbors(
    matrix: Array, truth: Truth, tau: float
) -> Callable[[Array], tuple[Array, Array]]:
    """Neighbors within a subset, for `data_size_curve`, from the kernel matrix of the texts."""
    square = matrix[np.ix_(truth.row, truth.row)]

    def neighbors(chosen: Array) -> tuple[Array, Array]:
        part = square[np.ix_(chosen, chosen)]
        points = truth.points[chosen]
        return neighbor_means(part, points, tau, leave_one_out=True, most=truth.most)

    return neighbors
