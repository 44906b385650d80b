"""p of several tests, corrected for their number."""

from typing import Any

import numpy as np

Array = np.ndarray


def holm(p: Any) -> Array:
    """p, float64 (tests,), corrected for all tests by Holm's step-down method (Holm 1979); NaN is
    no test."""
    values = np.asarray(p, np.float64)
    order = np.argsort(values)  # NaN is last
    number = int(np.isfinite(values).sum())
    steps = values[order] * np.maximum(number - np.arange(len(values)), 1)
    corrected = np.full(len(values), np.nan)
    corrected[order[:number]] = np.minimum(np.maximum.accumulate(steps[:number]), 1)
    return corrected
