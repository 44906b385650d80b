"""Table 2 and figure 2 of the ΔBLEU paper.

Stage: cell -> table. In: the files by `refless.experiments.delta_bleu.units`, and what the paper
prints. Out: a row for each metric and set of references on each data set; points of the figure.

The copy of the paper at hand has lost the numbers of its table 2, and keeps two intervals in its
text. ``resources/published/delta_bleu_table2.csv`` has a cell for each: what is filled in there
stands beside our numbers, as the paper's data are others, without a verdict.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from refless.experiments.published import read_rows, with_types
from refless.statistics.measure import Measure

KEYS = ["dataset", "metric", "references", "contexts", "tokens", "rule"]
SPEARMAN = Measure("spearman")
KENDALL = Measure("kendall")
ENDS = [SPEARMAN.low, SPEARMAN.high]
ON_TWEETS = {"spearman": "tweets_spearman", "kendall": "tweets_kendall"}
"""Measure -> the column with the number that the paper prints for a row's metric and references,
which is of tweets."""
_PRINTED = [*SPEARMAN.interval, *KENDALL.interval]
_PLAIN = {"contexts": "all", "tokens": "words", "rule": "smooth"}
"""Rows as the paper's."""
SHOWN = [
    *KEYS,
    *SPEARMAN.interval,
    *[Measure(name).published for name in SPEARMAN.interval],
    *KENDALL.interval,
    *[Measure(name).published for name in KENDALL.interval],
    *ON_TWEETS.values(),
    "references_per_context",
    "without_good_reference",
    "n",
    "provenance",
    "reason",
    SPEARMAN.draws,
]
POINTS = ["dataset", "panel", "metric", "references", "unit", "order", "spearman"]
_COLUMNS = [*KEYS, *POINTS, *ENDS]
LEAST_WEIGHT = {"all": "w>=-1"}
"""What all references are on the axis of thresholds: no weight is lower."""


def delta_bleu_table2(
    units: Iterable[str | Path], published: pd.DataFrame, tasks: Iterable[str]
) -> pd.DataFrame:
    """Return table 2 of the ΔBLEU paper: the paper's rows, then those of each data set.

    units : the files by `refless.experiments.delta_bleu.units.write_units`
    published : by `refless.experiments.published.read_published`
    tasks : names of data sets; one that has no file gets a row without numbers
    """
    paper = published.rename(columns={name: Measure(name).published for name in _PRINTED})
    lost = (published[list(ON_TWEETS)] == "").all(axis=1)
    # its tweets are known by identifiers alone
    reasons = np.where(lost, "not_public number_lost", "not_public")
    parts = [paper.assign(dataset="twitter", reason=reasons)]
    numbers = read_rows(units, _COLUMNS)
    rows = numbers[numbers["panel"] == "table"]
    rows = rows.merge(_on_tweets(published), "left", ["metric", "references", *_PLAIN])
    for dataset in tasks:
        part = rows[rows["dataset"] == dataset]
        parts.append(part if len(part) else pd.DataFrame([{"dataset": dataset}]))
    return with_types(pd.concat(parts), SHOWN)


def _on_tweets(published: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers that the paper prints, under the names of `ON_TWEETS`, with the columns
    that name the row of ours which each stands beside."""
    numbers = published[list(ON_TWEETS)].apply(pd.to_numeric).rename(columns=ON_TWEETS)
    return published[["metric", "references"]].assign(**_PLAIN).join(numbers)


def figure2(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Return the points of figure 2, panel by panel, as `POINTS`, with the intervals (`ENDS`) of
    those that table 2 has as well.

    paths : the files of `delta_bleu_table2`
    """
    units = read_rows(paths, _COLUMNS)
    keys = ["dataset", "metric", "references", "unit", "order"]
    plain = (units[list(_PLAIN)] == pd.Series(_PLAIN)).all(axis=1)
    cells = units.loc[(units["panel"] == "table") & plain, [*keys, *ENDS]]
    cells = pd.concat([cells, cells[cells["references"] == "all"].replace(LEAST_WEIGHT)])
    points = units.loc[units["panel"] != "table", POINTS]
    return points.merge(cells, "left", keys)
