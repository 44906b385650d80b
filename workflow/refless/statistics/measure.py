"""The columns of a measure in tables: value, 95% interval, bootstrap draws, published value.

Stage: cell, table. In: estimates. Out: cells of a row, and back.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from refless.statistics.bootstrap import IntervalEstimate, packed, unpacked

TRAINING_FACTOR = "training_factor"
"""A column: how much further the draws of a row spread than with predictions held fixed, for what
other training texts would have done."""
PUBLISHED = "paper_"
"""What the name of a column of published values begins with."""


def number(cell: Any) -> float:
    """The number of a cell, NaN of one that is empty or not there.

    >>> number("0.5"), number("")
    (0.5, nan)
    """
    return float("nan") if cell in (None, "") else float(cell)


class Measure:
    """A measure and the names of its columns.

    Attributes
    ----------
    name, low, high : of the value, and of the ends of its interval
    interval : these three
    draws, published : of its bootstrap draws, and of what a paper prints
    deals : of what random divisions into parts give: the median, and ends of 95% of them
    over_seeds : of its standard deviation over seeds
    columns : those of ``interval``, and ``published``

    >>> Measure("mse").columns
    ['mse', 'mse_low', 'mse_high', 'paper_mse']
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.low = f"{name}_low"
        self.high = f"{name}_high"
        self.draws = f"{name}_draws"
        self.published = f"{PUBLISHED}{name}"
        self.interval = [self.name, self.low, self.high]
        self.deals = [f"{name}_deals", f"{name}_deals_low", f"{name}_deals_high"]
        self.over_seeds = f"{name}_sd"
        self.columns = [*self.interval, self.published]

    def cells(self, estimate: IntervalEstimate) -> dict[str, Any]:
        """An estimate as cells of a row, with its draws, by `packed`, where they are kept."""
        cells = {self.name: estimate.value, self.low: estimate.low, self.high: estimate.high}
        return cells if estimate.draws is None else cells | {self.draws: packed(estimate.draws)}

    def estimate(self, row: Mapping[Any, Any]) -> IntervalEstimate:
        """The estimate of a row; NaN where a cell is empty or not there."""
        value, low, high = (number(row.get(column)) for column in self.interval)
        draws = row.get(self.draws)
        return IntervalEstimate(value, low, high, unpacked(draws) if draws else None)


def measure_columns(*names: str) -> list[str]:
    """The columns of several measures.

    >>> measure_columns("mse", "coverage")[2:5]
    ['mse_high', 'paper_mse', 'coverage']
    """
    return [column for name in names for column in Measure(name).columns]


def measure_cells(**estimates: IntervalEstimate) -> dict[str, Any]:
    """The cells of several estimates, by the names of their measures.

    >>> measure_cells(mse=IntervalEstimate(0.5, 0.4, 0.6))
    {'mse': 0.5, 'mse_low': 0.4, 'mse_high': 0.6}
    """
    cells: dict[str, Any] = {}
    for name, estimate in estimates.items():
        cells |= Measure(name).cells(estimate)
    return cells


def published_measures(columns: Iterable[str]) -> list[Measure]:
    """The measures that have a column of published values, in order.

    >>> [measure.name for measure in published_measures(["mse", "n", "paper_mse"])]
    ['mse']
    """
    return [Measure(c.removeprefix(PUBLISHED)) for c in columns if c.startswith(PUBLISHED)]
