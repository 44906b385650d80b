"""The columns of a measure in tables: value, 95% interval, bootstrap draws, published value.

Stage: cell, table. In: estimates. Out: cells of a row, and back.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from refless.statistics.bootstrap import Estimate, packed, unpacked

PUBLISHED = "paper_"
"""What the name of a column of published values begins with."""


@dataclass(frozen=True)
class Measure:
    """A measure and its columns, such as ``mse``, ``mse_low``, ``mse_high``, ``mse_draws`` and
    ``paper_mse``.

    >>> Measure("mse").columns
    ['mse', 'mse_low', 'mse_high', 'paper_mse']
    >>> Measure("mse").cells(Estimate(0.5, 0.4, 0.6))
    {'mse': 0.5, 'mse_low': 0.4, 'mse_high': 0.6}
    """

    name: str

    @property
    def low(self) -> str:
        return f"{self.name}_low"

    @property
    def high(self) -> str:
        return f"{self.name}_high"

    @property
    def draws(self) -> str:
        return f"{self.name}_draws"

    @property
    def published(self) -> str:
        return f"{PUBLISHED}{self.name}"

    @property
    def interval(self) -> list[str]:
        """The columns of the value and of the ends of its interval."""
        return [self.name, self.low, self.high]

    @property
    def columns(self) -> list[str]:
        """Those of `interval`, and of the published value."""
        return [*self.interval, self.published]

    def cells(self, estimate: Estimate) -> dict[str, Any]:
        """An estimate as cells of a row: value, interval and, where they are kept, its draws, as
        by `packed`."""
        ends = estimate.value, estimate.low, estimate.high
        cells: dict[str, Any] = dict(zip(self.interval, ends, strict=True))
        return cells if estimate.draws is None else cells | {self.draws: packed(estimate.draws)}

    def estimate(self, row: Mapping[Any, Any]) -> Estimate:
        """The estimate of a row; NaN where a cell is empty or not there."""
        value, low, high = (_number(row.get(column)) for column in self.interval)
        draws = row.get(self.draws)
        return Estimate(value, low, high, unpacked(draws) if draws else None)


def _number(cell: Any) -> float:
    return float("nan") if cell in (None, "") else float(cell)


def measure_columns(*names: str) -> list[str]:
    """The columns of several measures, as `Measure.columns`."""
    return list(chain.from_iterable(Measure(name).columns for name in names))


def measure_cells(**estimates: Estimate) -> dict[str, Any]:
    """The cells of several estimates, by the names of their measures.

    >>> measure_cells(mse=Estimate(0.5, 0.4, 0.6))
    {'mse': 0.5, 'mse_low': 0.4, 'mse_high': 0.6}
    """
    pairs = (Measure(name).cells(estimate) for name, estimate in estimates.items())
    return {column: cell for cells in pairs for column, cell in cells.items()}


def published_measures(columns: Iterable[str]) -> list[Measure]:
    """The measures that have a column of published values, in order."""
    return [Measure(c.removeprefix(PUBLISHED)) for c in columns if c.startswith(PUBLISHED)]
