"""RNN-QE on somebody's ratings: estimates for a comparison, and a model to rate other texts."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from refless.evaluation.read import FOLDS, CvSplit, Rated, all_splits
from refless.machine import available_threads

if TYPE_CHECKING:
    from refless.models.rnn_qe.saved import QEModel

Array = np.ndarray


def by_networks(rated: Rated, split: CvSplit, seed: int, threads: int | None = None) -> Array:
    """RNN-QE's estimates in [0, 1], float64 (n,), by networks trained anew for each fold: nothing
    is chosen on the texts that are estimated. Needs torch."""
    from refless.models.rnn_qe.cross_fit import cross_fit

    return cross_fit(
        rated.texts,
        rated.prompts,
        rated.quality,
        split.fold,
        seed,
        threads=available_threads(threads),
    )[1]


def trained_networks(
    rated: Rated, seed: int, threads: int | None = None, errors: bool = False
) -> "QEModel":
    """Networks to rate other texts, as by `refless.models.rnn_qe.cross_fit`, tested on new
    contexts, or where these make no `FOLDS` folds, on new texts. Needs torch."""
    from refless.models.rnn_qe.cross_fit import cross_fit

    splits = all_splits(rated, seed)
    (split,) = splits.get("contexts", splits["texts"])
    if split.folds < FOLDS:
        (split,) = splits["texts"]
    model, _ = cross_fit(
        rated.texts,
        rated.prompts,
        rated.quality,
        split.fold,
        seed,
        errors,
        threads or 1,
        rated.scale,
    )
    return replace(model, metadata={**model.metadata, "tested": split.name})
