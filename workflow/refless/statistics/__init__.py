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
    overall_error,
)
from refless.statistics.evaluation import Evaluation, evaluate, mean_squared_error
from refless.statistics.families import (
    holm,
    holm_by,
    least_between,
    least_detectable,
    needed,
)
from refless.statistics.humans import (
    Annotators,
    BesideAnnotators,
    Humans,
    annotators,
    annotators_less,
    beside_annotators,
    human_rows,
    others_mean,
)
from refless.statistics.paired import Compared, Measures, paired_bootstrap
from refless.statistics.reliability import Reliability, reliability
from refless.statistics.scale import scale_counts, scale_statistics
from refless.statistics.systems import (
    Systems,
    between_and_within,
    members,
    pairwise_accuracy,
    part_of,
    pearson_between_and_within,
)
from refless.statistics.williams import between_needed, williams

__all__ = [
    "ENOUGH_UNITS",
    "NOISE",
    "AnnotatorErrors",
    "Annotators",
    "BesideAnnotators",
    "Compared",
    "CoveredErrors",
    "Estimate",
    "Evaluation",
    "Humans",
    "Measures",
    "Reliability",
    "Systems",
    "annotator_errors",
    "annotators",
    "annotators_less",
    "beside_annotators",
    "between_and_within",
    "between_needed",
    "centred",
    "correlation_p_value",
    "covered_errors",
    "defined",
    "draw_blocks",
    "draw_weights",
    "drawn_together",
    "drawn_whole",
    "evaluate",
    "holm",
    "holm_by",
    "human_rows",
    "interval",
    "kendall_rows",
    "least_between",
    "least_detectable",
    "mean_squared_error",
    "members",
    "midranks",
    "needed",
    "ordered",
    "others_mean",
    "overall_error",
    "paired_bootstrap",
    "pairwise_accuracy",
    "part_of",
    "pearson_between_and_within",
    "pearson_rows",
    "reliability",
    "scale_counts",
    "scale_statistics",
    "spearman",
    "spearman_rows",
    "weighted_pearson",
    "weighted_spearman",
    "williams",
]
