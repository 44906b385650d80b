"""Which method predicts these ratings, how well, and what is it worth?"""

TABLES = ("comparison.csv", "pairs.csv", "replace.csv", "predictions.csv", "learning_curve.csv")
FILES = (*TABLES, "comparison.json", "report.html")
"""What `refless compare` writes."""
