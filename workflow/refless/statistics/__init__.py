"""The statistics behind the cells: errors, correlations, bootstrap intervals, tests.

Stage: cell. In: predictions and human quality, one number a candidate. Out: estimates with
intervals. Arrays are float64; NaN marks a candidate without a prediction. Weights say how often
each candidate was drawn by a bootstrap (`bootstrap`).
"""

from refless.statistics.bootstrap import (
    ENOUGH_UNITS,
    Estimate,
    defined,
    draw_blocks,
    draw_weights,
    drawn_together,
    drawn_whole,
    interval,
)
from refless.statistics.correlation import (
    NOISE,
    centred,
    correlation_p_value,
    kendall_rows,
    midranks,
    ordered,
    pearson_rows,
    spearman,
    spearman_rows,
    weighted_pearson,
    weighted_spearman,
)
from refless.statistics.covered import (
    AnnotatorErrors,
    CoveredErrors,
    annotator_errors,
    covered_errors,
)
from refless.statistics.evaluation import Evaluation, evaluate, mean_squared_error
from refless.statistics.humans import (
    Annotators,
    BesideAnnotators,
    Humans,
    annotators,
    beside_annotators,
    human_rows,
    others_mean,
)
from refless.statistics.scale import scale_counts, scale_statistics
from refless.statistics.williams import williams

__all__ = [
    "ENOUGH_UNITS",
    "NOISE",
    "AnnotatorErrors",
    "Annotators",
    "BesideAnnotators",
    "CoveredErrors",
    "Estimate",
    "Evaluation",
    "Humans",
    "annotator_errors",
    "annotators",
    "beside_annotators",
    "centred",
    "correlation_p_value",
    "covered_errors",
    "defined",
    "draw_blocks",
    "draw_weights",
    "drawn_together",
    "drawn_whole",
    "evaluate",
    "human_rows",
    "interval",
    "kendall_rows",
    "mean_squared_error",
    "midranks",
    "ordered",
    "others_mean",
    "pearson_rows",
    "scale_counts",
    "scale_statistics",
    "spearman",
    "spearman_rows",
    "weighted_pearson",
    "weighted_spearman",
    "williams",
]
