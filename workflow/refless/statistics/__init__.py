"""The statistics behind the cells: errors, correlations, bootstrap intervals, tests. Stage: cell.

Arrays are float64, one number a candidate; NaN marks a candidate without a prediction.
"""
# ruff: noqa: F401

from refless.statistics.bootstrap import (
    IntervalEstimate,
    ResamplingUnits,
    contexts_if_enough,
    draw_blocks,
    draw_weights,
    interval,
)
from refless.statistics.correlation import ratings_saved, spearman_rows, williams
from refless.statistics.evaluation import agreement, evaluate
from refless.statistics.humans import covered_errors, human_rows
