"""Tables of an answer for a terminal of 100 columns, and the same for a page."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 100
"""Columns of a terminal that a line may take."""
FEWEST_OF_A_NAME = 6
"""Columns below which a name is not cut."""
_GAP = "  "
_ELLIPSIS = "…"


@dataclass(frozen=True)
class Grid:
    """A table of words.

    header, rows : a cell for each column; a column without any cell is not printed
    names : numbers of the columns whose cells may be cut in the middle
    below : a line below each row, or none
    rest : what is not listed
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: Sequence[int] = (0,)
    below: Sequence[str] = ()
    rest: str = ""

    @property
    def columns(self) -> list[int]:
        """Numbers of the columns that have a cell, and of the first one."""
        return [n for n in range(len(self.header)) if n == 0 or any(row[n] for row in self.rows)]


def grid_lines(grid: Grid, width: int = WIDTH) -> list[str]:
    """The table as lines; names are cut as far as it takes.

    >>> for line in grid_lines(Grid(["score", "r"], [["score_of_a_judge", "0.5"]]), width=16):
    ...     print(line)
    score        r
    score…judge  0.5
    """
    widths = _widths(grid, width)
    cut = {n: cut_apart([row[n] for row in grid.rows], space) for n, space in widths.items()}

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell + " " * (space - columns(cell))
            for cell, space in zip(cells, widths.values(), strict=True)
        ]
        return _GAP.join(padded).rstrip()

    indent = " " * (widths[0] + len(_GAP))
    lines = [line([cut_middle(grid.header[n], space) for n, space in widths.items()])]
    for number in range(len(grid.rows)):
        lines.append(line([cells[number] for cells in cut.values()]))
        if grid.below:
            lines.append(indent + grid.below[number])
    return [*lines, grid.rest] if grid.rest else lines


def _widths(grid: Grid, width: int) -> dict[int, int]:
    """The width of each column by its number: the widest name gives way first."""
    widths = {n: max(columns(row[n]) for row in (grid.header, *grid.rows)) for n in grid.columns}
    while sum(widths.values()) + len(_GAP) * (len(widths) - 1) > width:
        widest = max((n for n in grid.names if n in widths), key=widths.__getitem__)
        if widths[widest] <= FEWEST_OF_A_NAME:
            break
        widths[widest] -= 1
    return widths


def cut_middle(text: str, width: int) -> str:
    """A name of so many columns at most, without what does not print.

    >>> cut_middle("score_of_a_judge", 9), cut_middle("score_a", 9)
    ('scor…udge', 'score_a')
    """
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    if columns(text) <= width:
        return text
    end = _first_columns(text[::-1], (width - 1) // 2)[::-1]
    return _first_columns(text, width - 1 - columns(end)) + _ELLIPSIS + end


def cut_apart(names: Sequence[str], width: int) -> list[str]:
    """Names of so many columns at most, such that different ones stay different: what would look
    like an earlier one has a number where it is cut.

    >>> cut_apart(["score_of_a_judge", "score_if_a_judge", "score_a"], 9)
    ['scor…udge', 'scor…2dge', 'score_a']
    """
    cut: dict[str, str] = {}
    for name in names:
        shown = cut_middle(name, width)
        number = 1
        while name not in cut and shown in cut.values():
            number += 1
            mark = f"{_ELLIPSIS}{number}"
            start, _, end = cut_middle(name, width - len(mark) + 1).partition(_ELLIPSIS)
            shown = start + mark + end
        cut.setdefault(name, shown)
    return [cut[name] for name in names]


def _first_columns(text: str, width: int) -> str:
    """Return as many of a text's first letters as fit into ``width`` columns."""
    taken = 0
    while taken < len(text) and columns(text[: taken + 1]) <= width:
        taken += 1
    return text[:taken]


def columns(text: str) -> int:
    """How many columns of a terminal a text takes.

    >>> columns("a"), columns("字"), columns("e\\u0301")
    (1, 2, 1)
    """
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )


def grid_html(grid: Grid) -> str:
    """The table for a page, in which each cell knows its column's name for a narrow screen."""

    def cells(row: Sequence[str]) -> str:
        return "".join(
            f'<td data-column="{escape(grid.header[n])}">{escape(row[n])}</td>'
            for n in grid.columns
        )

    head = "".join(f"<th>{escape(grid.header[n])}</th>" for n in grid.columns)
    lines = [f"<thead><tr>{head}</tr></thead>", "<tbody>"]
    for number, row in enumerate(grid.rows):
        lines.append(f"<tr>{cells(row)}</tr>")
        if grid.below:
            below = f'<td colspan="{len(grid.columns) - 1}">{escape(grid.below[number])}</td>'
            lines.append(f'<tr class="below"><td></td>{below}</tr>')
    lines.append("</tbody>")
    rest = f"<p>{escape(grid.rest)}</p>" if grid.rest else ""
    return f'<table class="grid">{"".join(lines)}</table>{rest}'
