"""What is made of a block of kernel values: neighbors counted and summed up, the nearest kept.

Stage: kernels (helper). In: a block of kernel values, shape (rows, columns): row r is candidate
``first + r``, column c training text ``start + c``. Out: counts, sums and rows, in place.
"""

import numpy as np

from refless.compute.compiled import compiled

_STEPS = 256
"""A power of two, so that multiplying by it is exact."""


@compiled(
    "void(float64[:, ::1], int64, int64, float64[::1], float64[::1], int64[:, ::1],"
    " float64[:, ::1])"
)
def add_neighbors(
    values: np.ndarray,
    first: int,
    start: int,
    quality: np.ndarray,
    taus: np.ndarray,
    counts: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Add to counts and sums, (candidates, n_tau). ``taus`` ascend."""
    n = values.shape[1]
    near = np.empty(n, np.int64)
    for row in range(values.shape[0]):
        candidate = first + row
        for c in range(n):
            near[c] = c
        n_near = n
        # Neighbors at one tau are among those at the tau below. The place is written to before
        # it is known whether it counts: a branch would be guessed wrong too often.
        for t in range(len(taus)):
            kept = 0
            for c in range(n_near):
                near[kept] = near[c]
                kept += values[row, near[c]] >= taus[t]
            n_near = kept
            total = sums[candidate, t]
            for c in range(n_near):
                total += quality[start + near[c]]
            sums[candidate, t] = total
            counts[candidate, t] += n_near


@compiled(
    "void(float64[:, ::1], int64, int64, float64[::1], float64[::1], int64[:, ::1],"
    " int64[:, ::1], int64[:, ::1], int64[:, :, ::1], float64[:, :, ::1])"
)
def add_levels(
    values: np.ndarray,
    first: int,
    start: int,
    quality: np.ndarray,
    taus: np.ndarray,
    groups: np.ndarray,
    candidate_cluster: np.ndarray,
    training_cluster: np.ndarray,
    counts: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Add to counts and sums of groups of training texts, (candidates, groups, n_tau), at the
    greatest tau that a value reaches, and there alone.

    ``groups``, (ways, training), has the group of each training text (-1: none) under each way of
    grouping them; ``taus`` ascend. Under each way, a training text of the candidate's cluster does
    not count; clusters are (ways, candidates) and (ways, training).
    """
    # where to begin to look for a level, by the value in steps
    lowest = np.searchsorted(taus, np.arange(_STEPS + 1) / _STEPS, side="right") - 1
    for row in range(values.shape[0]):
        group_counts = counts[first + row]
        group_sums = sums[first + row]
        for c in range(values.shape[1]):
            value = values[row, c]
            if not value >= taus[0]:
                continue
            level = max(lowest[np.int64(min(value, 1.0) * _STEPS)], 0) if value > 0 else 0
            while level + 1 < len(taus) and value >= taus[level + 1]:
                level += 1
            for way in range(groups.shape[0]):
                group = groups[way, start + c]
                same = candidate_cluster[way, first + row] == training_cluster[way, start + c]
                if group >= 0 and not same:
                    group_counts[group, level] += 1
                    group_sums[group, level] += quality[start + c]


@compiled("void(float64[:, ::1], int64, int64, int64[:, ::1], float64[:, ::1])")
def keep_nearest(
    values: np.ndarray, first: int, start: int, rows: np.ndarray, best: np.ndarray
) -> None:
    """Keep the training texts of the greatest values, greatest first; of equal ones the earlier.

    ``rows`` (-1: none yet) and ``best`` (-inf), (candidates, number), are those of the blocks
    before.
    """
    number = rows.shape[1]
    for row in range(values.shape[0]):
        candidate = first + row
        for c in range(values.shape[1]):
            value = values[row, c]
            if not value > best[candidate, number - 1]:
                continue
            k = number - 1
            while k > 0 and value > best[candidate, k - 1]:
                best[candidate, k] = best[candidate, k - 1]
                rows[candidate, k] = rows[candidate, k - 1]
                k -= 1
            best[candidate, k] = value
            rows[candidate, k] = start + c
