"""Table 2 and figure 2 of the ΔBLEU paper.

Stage: cell -> table. In: the files by `refless.experiments.delta_bleu.units`, and what the paper
reports. Out: a row for each metric and set of references on each data set; points of the figure.
"""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from refless.experiments.published import read_rows, with_types
from refless.statistics.measure import Measure

KEYS = ["dataset", "metric", "references", "contexts", "tokens", "rule"]
SPEARMAN = Measure("spearman")
ENDS = [SPEARMAN.low, SPEARMAN.high]
SHOWN = [
    *KEYS,
    *(*SPEARMAN.interval, *(Measure(end).published for end in ENDS)),
    *Measure("kendall").interval,
    *("references_per_context", "without_good_reference", "n", "provenance", "reason"),
    SPEARMAN.draws,
]
POINTS = ["dataset", "panel", "metric", "references", "unit", "order", "spearman"]
_COLUMNS = [*KEYS, *POINTS, *ENDS]
LEAST_WEIGHT = {"all": "w>=-1"}
"""What all references are on the axis of thresholds: no weight is lower."""


def delta_bleu_table2(
    units: Iterable[str | Path], published: pd.DataFrame, tasks: Iterable[str]
) -> pd.DataFrame:
    """The paper's cells, then every row of each data set of ``tasks``, one row for each without
    numbers; ``units`` are the files by `refless.experiments.delta_bleu.units.write_units`."""
    paper = published.rename(columns={end: Measure(end).published for end in ENDS})
    # its tweets are known by identifiers alone
    parts = [paper.assign(dataset="twitter", reason="not_public")]
    numbers = read_rows(units, _COLUMNS)
    rows = numbers[numbers["panel"] == "table"]
    for dataset in tasks:
        part = rows[rows["dataset"] == dataset]
        parts.append(part if len(part) else pd.DataFrame([{"dataset": dataset}]))
    return with_types(pd.concat(parts), SHOWN)


def figure2(paths: Iterable[str | Path]) -> pd.DataFrame:
    """The points of figure 2, panel by panel, from the files of table 2: `POINTS`, and the
    intervals (`ENDS`) of those that table 2 has as well."""
    units = read_rows(paths, _COLUMNS)
    keys = ["dataset", "metric", "references", "unit", "order"]
    plain = (
        (units["contexts"] == "all") & (units["tokens"] == "words") & (units["rule"] == "smooth")
    )
    cells = units.loc[(units["panel"] == "table") & plain, [*keys, *ENDS]]
    cells = pd.concat([cells, cells[cells["references"] == "all"].replace(LEAST_WEIGHT)])
    points = units.loc[units["panel"] != "table", POINTS]
    return points.merge(cells, "left", keys)
