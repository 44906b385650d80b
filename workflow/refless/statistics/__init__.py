"""The statistics behind the cells: errors, correlations, bootstrap intervals, tests.

Stage: cell. In: predictions and human quality, one number a candidate. Out: estimates with
intervals. Arrays are float64; NaN marks a candidate without a prediction. Weights say how often
each candidate was drawn by a bootstrap (`bootstrap`).
"""

from refless.statistics.bootstrap import Estimate, draw_blocks, draw_weights, interval
from refless.statistics.correlation import (
    correlation_p_value,
    fisher_interval,
    kendall_rows,
    midranks,
    pearson_rows,
    spearman,
    weighted_midranks,
    weighted_pearson,
    weighted_spearman,
)
from refless.statistics.covered import (
    AnnotatorErrors,
    CoveredErrors,
    annotator_errors,
    covered_errors,
    overall_error,
)
from refless.statistics.evaluation import Evaluation, evaluate, mean_squared_error
from refless.statistics.humans import Humans, human_rows
from refless.statistics.paired import Compared, Measures, paired_bootstrap
from refless.statistics.scale import scale_counts, scale_statistics
from refless.statistics.williams import between_needed, williams

__all__ = [
    "AnnotatorErrors",
    "Compared",
    "CoveredErrors",
    "Estimate",
    "Evaluation",
    "Humans",
    "Measures",
    "annotator_errors",
    "between_needed",
    "correlation_p_value",
    "covered_errors",
    "draw_blocks",
    "draw_weights",
    "evaluate",
    "fisher_interval",
    "human_rows",
    "interval",
    "kendall_rows",
    "mean_squared_error",
    "midranks",
    "overall_error",
    "paired_bootstrap",
    "pearson_rows",
    "scale_counts",
    "scale_statistics",
    "spearman",
    "weighted_midranks",
    "weighted_pearson",
    "weighted_spearman",
    "williams",
]
