"""The report: tables, figures, and the page around them."""

import os

# Before matplotlib is imported, which fails over a notebook's backend where that is not installed.
os.environ["MPLBACKEND"] = "Agg"
