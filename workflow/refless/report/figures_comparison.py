"""Every method on every data set, as a forest plot. Stage: figure."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from refless.evaluation.evaluate import criterion
from refless.methods import is_text_blind
from refless.report.figures import BLIND, FOREST, METHODS, empty_figure, forest_figure, judged
from refless.report.names import join_names, words

_SPLITS = ("texts", "contexts", "systems")
_COLUMNS = ["dataset", "split", "method", "kernel", "pearson", "pearson_low", "pearson_high"]
_LEAD = ["difference_low", "difference_high"]
_TOGETHER = "text-blind methods"
_PITCH = 0.136
"""Inches from a line to the next: all data sets are on one page."""


def correlations_of_methods(
    tables: Mapping[str, pd.DataFrame], datasets: Mapping[str, str]
) -> tuple[Figure, pd.DataFrame]:
    """Pearson's r of each method with its interval, a row of panels a data set, a panel a split: of
    new systems, the mean of their own. The best on new texts is the highest. Text-blind methods
    share a line, and only the best of a panel has its interval; it is what the others have to pass.

    tables : `comparison`
    datasets : their names
    """
    table = tables["comparison"]
    parts = []
    for split in _SPLITS:
        part = table[table["split"] == split]
        ends = {end: part[end.replace("pearson", criterion(split))] for end in _COLUMNS[4:]}
        parts.append(part.assign(**ends))
    of_splits = pd.concat(parts)[[*_COLUMNS, *_LEAD]].dropna(subset="pearson")
    if of_splits.empty:
        return empty_figure("the table has the reason"), of_splits[_COLUMNS]
    rows = _sorted(of_splits.reset_index(drop=True).rename(columns=FOREST | {"method": "method"}))
    rows = rows.assign(
        down=rows["dataset"].map(datasets), across=rows["split"].map(words()["split"])
    )
    return forest_figure(rows, METHODS, _title(rows), _PITCH), of_splits[_COLUMNS]


def _sorted(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a forest, by r on new texts within a data set."""
    text_blind = rows["method"].map(is_text_blind).astype(bool)
    names = [join_names(words(), row, ("method", "kernel")) for row in rows.to_dict("records")]
    rows = rows.assign(label=pd.Series(names, rows.index).mask(text_blind, _TOGETHER))
    rows = judged(rows, text_blind, ["dataset", "split"])
    rows[["low", "high"]] = rows[["low", "high"]].mask(
        text_blind & (rows["value"] < rows["to_pass"])
    )
    on_texts = rows["value"].where(rows["split"] == _SPLITS[0])
    place = on_texts.groupby([rows["dataset"], rows["label"]]).transform("max")
    order = rows.assign(number=pd.factorize(rows["dataset"])[0], place=-place)
    return rows.loc[order.sort_values(["number", "place"], kind="stable").index]


def _title(rows: pd.DataFrame) -> str:
    """What is drawn, and the answer, counted."""
    counts = rows.loc[rows["style"] != BLIND, "style"].value_counts()
    above = int(counts.get("above", 0))
    both = int(counts.get("both", 0))
    below = int(counts.get("below", 0))
    return (
        "Pearson's r of each method, and whether it passes the best that reads no text\n"
        f"Of {above + both + below} leads over that, {above} are above 0, {below} below, and"
        f" {both} may be 0"
    )
