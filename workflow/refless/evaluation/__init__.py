"""Which method predicts these ratings, how well, and what is it worth?"""

TABLES = (
    "comparison.csv",
    "pairs.csv",
    "within.csv",
    "replace.csv",
    "bias.csv",
    "predictions.csv",
    "learning_curve.csv",
)
FILES = (*TABLES, "comparison.json", "report.html")
"""What `refless compare` writes."""
EPSILON = 0.1
"""What a rater's work costs more than a method's: Calderon et al.'s value for crowd workers."""
OTHER_UNIT, RATING = "other", "rating"
"""The unit of scores: one of their own, so that they are mapped to ratings; or that of the ratings,
so that they are taken as they are."""
