"""The answer of `refless.compare`, and its files: but for the page, which has its date and the
names of the input, the same ratings, settings and seed give the same bytes; none has a text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless import __version__
from refless.evaluation import EPSILON, TABLES
from refless.evaluation.answer import Answer, page
from refless.evaluation.decisions import DIGITS, Decisions, as_data
from refless.evaluation.evaluate import LEAST_COVERAGE, Comparison, ComparisonSettings, criterion
from refless.evaluation.grid import grid_html
from refless.evaluation.measures import WITHIN_CONTEXTS, WITHIN_SYSTEMS
from refless.evaluation.next_step import Source
from refless.evaluation.pairs import ranks, significant
from refless.evaluation.sentences import (
    about,
    favour_lines,
    grids,
    interval_words,
    rank_words,
    rater_sentences,
    system_sentences,
)
from refless.methods import METHODS, column_name, is_text_blind, label
from refless.statistics.measure import Measure
from refless.store.files import json_text, write_together

NOTE = (
    "Each estimate is of a text that the method has not seen. In brackets: 95% intervals, from the"
    " same draws for all methods. Lead: r less that of the best text-blind method, which does not"
    " look at what a text says, over the repeats that all of them have; its p is corrected for the"
    " number of methods. r of new systems is the mean of r within each system. Ranks are those that"
    " the tests of each two methods leave open (Holm, over all pairs). In the matrix: r of the row"
    " less r of the column, * where p is below 0.05 by Holm. Pairs of a context: the share of pairs"
    " of its texts that are ranked as ratings do, where the difference that ties is the best one."
    " Grey in the picture: text-blind methods. Errors are in the unit of the ratings, squared."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class ComparisonAnswer(Answer):
    """What `refless.compare` answers.

    table : `refless.evaluation.evaluate.COLUMNS`, a row a method, kernel and split
    pairs : each two methods of a split
    within : r within systems and within contexts, and pairwise accuracy within contexts,
        `refless.evaluation.within.WITHIN_COLUMNS`
    replacement : which methods may replace a rater
    bias : where scores are wrong, `refless.evaluation.bias.BIAS_COLUMNS`
    learning_curve : r of ridge regression by the number of ratings
    decisions : what is decided, as data
    next_step : the next command, or the next call of a table
    comparison, settings, epsilon, source, day : what the answer was made from, and when
    """

    comparison: Comparison
    settings: ComparisonSettings
    decisions: Decisions
    source: Source
    next_step: str
    learning_curve: pd.DataFrame
    within: pd.DataFrame = field(default_factory=pd.DataFrame)
    replacement: pd.DataFrame = field(default_factory=pd.DataFrame)
    bias: pd.DataFrame = field(default_factory=pd.DataFrame)
    epsilon: float = EPSILON
    day: date = field(default_factory=date.today)

    def to_html(self) -> str:
        """The answer as a page that stands alone."""
        return page(
            title="Which method predicts these ratings?",
            lines=[
                *about(self.comparison.rated),
                *favour_lines(self.bias),
                *system_sentences(self.decisions),
                *rater_sentences(self.decisions.raters),
            ],
            grids=[grid_html(grid) for grid in grids(self.decisions)],
            warnings=self.warnings,
            next_step=self.next_step,
            picture=self._picture(),
            views=self._views(),
            note=NOTE,
            facts={
                "signature": self.signature,
                "ratings:": ", ".join(self.source.files) or "a table",
                "made on": self.day.isoformat(),
            },
        )

    def _picture(self) -> str:
        """r of every method, as an address of an image."""
        from refless.report.figures import as_address, intervals_figure  # matplotlib takes a second

        table = self.comparison.table
        order = self.comparison.order
        rows = pd.concat([_decisive(table[table["split"] == split], split) for split in order])
        rows = rows.assign(method=list(map(label, rows["method"], rows["kernel"])))
        text_blind = [entry.label for name, entry in METHODS.items() if is_text_blind(name)]
        return as_address(intervals_figure(rows, order, text_blind))

    def _views(self) -> dict[str, str]:
        """All rows of each split, each two methods, and the learning curve, as HTML."""
        views = {}
        for split in self.comparison.order:
            rows = self.table[self.table["split"] == split]
            pairs = self.pairs[self.pairs["split"] == split]
            views[f"new {split}"] = _methods_html(_decisive(rows, split), ranks(pairs))
            views[f"new {split}: each two methods"] = _matrix_html(pairs)
            within = self.within[self.within["split"] == split]
            views[f"new {split}: within systems and contexts"] = _within_html(within)
        curve = pd.DataFrame(
            {"ratings": self.learning_curve["ratings"], "r": _intervals(self.learning_curve)}
        )
        views["r of ridge by the number of ratings"] = curve.to_html(index=False, border=0)
        if self.bias["favour"].notna().any():
            views["whom scores favour"] = self._bias_picture()
        return views

    def _bias_picture(self) -> str:
        """Favour and errors of each system, as an image."""
        from refless.report.figures import as_address
        from refless.report.figures_bias import bias_figure

        address = as_address(bias_figure(self.bias))
        return f'<img alt="favour and errors of each system" src="{address}">'

    def record(self) -> dict[str, Any]:
        """What ``comparison.json`` has: settings, and what is decided, as data."""
        comparison = self.comparison
        settings = self.settings
        rated = self.comparison.rated
        return {
            "refless": __version__,
            "signature": self.signature,
            "scale": list(rated.scale),
            "kernels": list(settings.kernels),
            "draws": settings.draws,
            "seed": settings.seed,
            "epsilon": self.epsilon,
            "repeats": {name: len(splits) for name, splits in comparison.splits.items()},
            "decisions": as_data(self.decisions),
            "no_pairwise_accuracy": rated.system_grid[1],
            "answer": self.answer.splitlines(),
            "warnings": self.warnings,
        }

    def write(self, folder: Path) -> None:
        """Write `refless.evaluation.FILES`, or none. Raises OutputError: a file cannot be
        written."""
        tables = (
            self.table,
            self.pairs,
            self.within,
            self.replacement,
            self.bias,
            self.comparison.predictions,
            self.learning_curve,
        )
        files = {"comparison.json": json_text(self.record()), "report.html": self.to_html()}
        digits = f"%.{DIGITS}g"
        for name, table in zip(TABLES, tables, strict=True):
            files[name] = table.to_csv(index=False, lineterminator="\n", float_format=digits)
        write_together({folder / name: text for name, text in files.items()})


def _decisive(table: pd.DataFrame, split: str) -> pd.DataFrame:
    """Rows whose ``pearson`` is the correlation that decides the split."""
    columns = zip(Measure("pearson").interval, Measure(criterion(split)).interval, strict=True)
    return table.assign(**{name: table[decisive] for name, decisive in columns})


def _methods_html(table: pd.DataFrame, rank_of: Mapping[str, tuple[int, int]]) -> str:
    """Rows as HTML, the best first; what covers few texts, or was not tried, is last."""
    keys = map(column_name, table["method"], table["kernel"])
    view = pd.DataFrame(
        {
            "method": list(map(label, table["method"], table["kernel"])),
            "r": _intervals(table),
            "rank": [rank_words(*rank_of.get(key, (None, None))) for key in keys],
            "lead over text-blind": _intervals(table, "difference"),
            **{name: table[name] for name in ("p", "mse", "mse_of_mean", "coverage")},
            "pairs of systems": _intervals(table, "pairwise_accuracy"),
            "saves at most": table["ratings_saved_limit"],
            "why not": table["reason"],
        }
    )
    few = table["coverage"].fillna(0) < LEAST_COVERAGE
    order = np.lexsort([-table["pearson"].fillna(-2), few])
    view = view.iloc[order].replace("", np.nan).dropna(axis=1, how="all")
    return view.to_html(index=False, border=0, na_rep="", float_format="{:.3g}".format)


def _within_html(table: pd.DataFrame) -> str:
    """Rows of ``within`` as HTML, the best first; a column is left out that has nothing."""
    if table.empty:
        return ""
    by = WITHIN_SYSTEMS if table["r_within_systems"].notna().any() else WITHIN_CONTEXTS
    table = table.sort_values(f"r_{by}", ascending=False, kind="stable")
    view = pd.DataFrame(
        {
            "method": list(map(label, table["method"], table["kernel"])),
            "r within systems": _intervals(table, "r_within_systems"),
            "r within contexts": _intervals(table, "r_within_contexts"),
            "pairs of a context": _intervals(table, "accuracy_within_contexts"),
        }
    )
    view = view.replace("", np.nan).dropna(axis=1, how="all")
    return view.to_html(index=False, border=0, na_rep="")


def _intervals(table: pd.DataFrame, name: str = "pearson") -> list[str]:
    return [interval_words(Measure(name).estimate(row)) for row in table.to_dict("records")]


def _matrix_html(pairs: pd.DataFrame) -> str:
    """Differences of r as HTML, the best method first."""
    if pairs.empty:
        return ""
    cells = [
        f"{gap:.2f}" + (" *" if differs else "")
        for gap, differs in zip(pairs["difference"], significant(pairs), strict=True)
    ]
    names = list(dict.fromkeys([*pairs["a"], *pairs["b"]]))
    table = pairs.assign(cell=cells).pivot_table("cell", "a", "b", aggfunc="first")
    table = table.reindex(index=names[:-1], columns=names[1:]).rename_axis(None, axis=1)
    return table.rename_axis(None).to_html(border=0, na_rep="")
