"""Bands of what other divisions into parts give, for rows that need no training.

Stage: cell. In: rated outputs with their parts. Out: intervals over random test parts. Which of an
in-set's outputs test in tables 4 and 5 of the paper is not public, so a published number of a row
that is not trained should lie where a random test part of the same size puts it. If it lies
elsewhere, the division is not the reason. Table 3 tests on all outputs: no division moves it.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from refless.experiments.rnn_qe.baselines import untrained_rows
from refless.models.rnn_qe.data import PARTS
from refless.models.rnn_qe.statistics import scale_statistics
from refless.statistics.bootstrap import interval
from refless.statistics.measure import Measure

Array = np.ndarray

DIVISIONS = 1000


def random_test_parts(in_set: int, tested: int, seed: int, number: int = DIVISIONS) -> Array:
    """Return which outputs of an in-set are the test part in each of some random divisions, int64
    (number, in_set): 1 for those that are, ``tested`` in each row, and 0 for the others.

    >>> random_test_parts(in_set=5, tested=3, seed=0, number=2)
    array([[1, 0, 0, 1, 1],
           [0, 1, 1, 1, 0]])
    """
    generator = np.random.default_rng(seed)
    first = np.broadcast_to(np.arange(in_set) < tested, (number, in_set))
    return generator.permuted(first, axis=1).astype(np.int64)


def bands(rows: Mapping[str, Array], truth: Array, test_parts: Array) -> pd.DataFrame:
    """Return where random test parts put each statistic of `scale_statistics`: for each row of a
    table (``setup``) the median and the ends of 95% of them, in the columns `Measure.deals`.

    rows : half points of the in-set by row, (in_set,) each
    truth : ratings in half points, (in_set,)
    test_parts : by `random_test_parts`
    """
    table = []
    for setup, half_points in rows.items():
        band: dict[str, str | float] = {"setup": setup}
        for name, values in scale_statistics(half_points, truth, test_parts).items():
            low, high = interval(values)
            band |= dict(zip(Measure(name).deals, (np.median(values), low, high), strict=True))
        table.append(band)
    return pd.DataFrame(table)


def bands_of_table(outputs: pd.DataFrame, experiment: str, seed: int) -> pd.DataFrame:
    """Return `bands` of those rows of a table that need no training.

    outputs : by `refless.experiments.rnn_qe.baselines.outputs`
    experiment : one of `CROSS`, the column with the part of each output in the in-set
    """
    in_set = outputs[outputs[experiment].isin(PARTS)]
    tested = int((in_set[experiment] == "test").sum())
    test_parts = random_test_parts(len(in_set), tested, seed)
    return bands(untrained_rows(in_set), in_set["rating"].to_numpy(np.float64), test_parts)
