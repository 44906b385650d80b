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
OTHER_UNIT = "other"
"""The unit of scores that have one of their own, so that they are mapped to ratings."""
RATING = "rating"
"""The unit of scores that are taken as they are, since it is that of the ratings."""
