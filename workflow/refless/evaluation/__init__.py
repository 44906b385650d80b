"""Which method predicts these ratings, how well, and what is it worth?"""

TABLES = ("comparison.csv", "pairs.csv", "replace.csv", "predictions.csv", "learning_curve.csv")
FILES = (*TABLES, "comparison.json", "report.html")
"""What `refless compare` writes."""
EPSILON = 0.1
"""What a rater's work costs more than a method's: Calderon et al.'s value for crowd workers."""
NEIGHBORS, RIDGE, SYSTEM_RIDGE, COMBINED = "neighbors", "ridge", "ridge_system", "combined"
METHODS = (NEIGHBORS, RIDGE, SYSTEM_RIDGE, COMBINED)
"""By which new texts are scored, besides columns ``score_<name>``."""
NETWORKS = "rnn_qe"


def scores_texts(method: str) -> bool:
    """Whether `refless score` has a method of this name."""
    return method in METHODS or method.startswith("score_")
