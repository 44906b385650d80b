"""Every method on every data set, as a forest plot. Stage: figure."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from refless.evaluation.evaluate import criterion
from refless.methods import is_text_blind
from refless.report.figures import FOREST, METHODS, empty_figure, forest_figure
from refless.report.names import join_names, words

_SPLITS = ("texts", "contexts", "systems")
_COLUMNS = ["dataset", "split", "method", "kernel", "pearson", "pearson_low", "pearson_high"]


def correlations_of_methods(
    tables: Mapping[str, pd.DataFrame], datasets: Mapping[str, str]
) -> tuple[Figure, pd.DataFrame]:
    """Pearson's r of each method with its interval, a row of panels a data set, a panel a split: of
    new systems, the mean of their own. Text-blind methods are grey, and together, below.

    tables : `comparison`
    datasets : their names
    """
    table = tables["comparison"]
    parts = []
    for split in _SPLITS:
        part = table[table["split"] == split]
        ends = {end: part[end.replace("pearson", criterion(split))] for end in _COLUMNS[4:]}
        parts.append(part.assign(**ends))
    correlations = pd.concat(parts)[_COLUMNS].dropna(subset="pearson").reset_index(drop=True)
    if correlations.empty:
        return empty_figure("the table has the reason"), correlations
    text_blind = correlations["method"].map(is_text_blind).astype(bool)
    rows = correlations.rename(columns={name: FOREST[name] for name in _COLUMNS[4:]}).assign(
        label=[
            join_names(words(), row, ("method", "kernel"))
            for row in correlations.to_dict("records")
        ],
        style=text_blind.map({True: "text-blind", False: "other"}),
        down=correlations["dataset"].map(datasets),
        across=correlations["split"].map(words()["split"]),
    )
    return forest_figure(pd.concat([rows[~text_blind], rows[text_blind]]), METHODS), correlations
