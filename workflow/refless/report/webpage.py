"""Tables as web pages: sortable, ours against the paper's, coloured by agreement.

Stage: table -> report. In: a table of ``results/tables`` (any CSV by the contract: ``x``,
``x_low``, ``x_high`` and ``paper_x`` side by side). Out: one page that hangs on no other file.
"""

from __future__ import annotations

import csv
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refless.errors import FormatError
from refless.report.published import EQUAL, INSIDE, MISSING, OUTSIDE, compare
from refless.store.files import whole_file

VERDICTS = {
    EQUAL: "equal once rounded to the digits that were printed",
    INSIDE: "the published value lies in our 95% interval",
    OUTSIDE: "it differs, and lies outside our 95% interval or there is none",
    MISSING: "no value of ours",
}
# Columns of prose: they may wrap, and go last.
_PROSE = ("note",)

_STYLE = """
:root { --line: #d8dde3; --soft: #5b6570; --blue: #cfe3f5; --green: #d9ecd9;
  --orange: #fbe0c3; --grey: #e6e8eb; }
* { box-sizing: border-box; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0; padding: 1rem; color: #1b2127;
  background: #fff; overflow-wrap: anywhere; }
h1 { font-size: 1.25rem; margin: 0 0 .5rem; }
p { max-width: 60rem; margin: .25rem 0 .75rem; }
.key span { padding: 0 .5rem; white-space: nowrap; }
input { font: inherit; padding: .35rem .6rem; width: min(24rem, 100%); margin-bottom: .6rem;
  border: 1px solid #8a949e; border-radius: 4px; }
.frame { overflow: auto; max-height: 80vh; border: 1px solid var(--line); }
table { border-collapse: collapse; font-size: .87rem; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; white-space: nowrap; }
th { position: sticky; top: 0; background: #f3f5f7; padding: 0; }
th:first-child, td:first-child { position: sticky; left: 0; background: #fff; }
th:first-child { z-index: 1; background: #f3f5f7; }
th[data-number] { text-align: right; }
th button { all: unset; cursor: pointer; padding: .4rem .6rem; font-weight: 600; }
th button:focus-visible { outline: 2px solid #0b62a8; }
th[aria-sort=ascending] button::after { content: " ▲"; }
th[aria-sort=descending] button::after { content: " ▼"; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.prose { white-space: normal; min-width: 26rem; }
td.prose div { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 1;
  overflow: hidden; cursor: pointer; }
td.prose div:hover, td.prose div:focus { -webkit-line-clamp: none; }
.inner { margin-left: 1.2rem; }
summary { cursor: pointer; font-weight: 600; }
small { color: var(--soft); }
.equal { background: var(--blue); } .inside { background: var(--green); }
.outside { background: var(--orange); } .missing { background: var(--grey); }
"""

# Sorting is stable, keeps empty cells last and goes by value, not by what is shown.
_SCRIPT = """
const table = document.querySelector("table"), body = table.tBodies[0];
const rows = [...body.rows];
const value = (row, i) => row.cells[i].dataset.value ?? row.cells[i].textContent;
table.querySelectorAll("th").forEach((head, i) => head.firstChild.addEventListener("click", () => {
  const down = head.getAttribute("aria-sort") === "ascending";
  table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const compare = (x, y) => {
    const a = value(x, i), b = value(y, i);
    if (a === "" || b === "") return (a === "") - (b === "");
    const order = head.dataset.number ? a - b : a.localeCompare(b);
    return down ? -order : order;
  };
  body.append(...rows.slice().sort(compare));
}));
document.querySelector("input").addEventListener("input", event => {
  const words = event.target.value.toLowerCase().split(/\\s+/).filter(Boolean);
  rows.forEach(row => {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every(word => text.includes(word));
  });
});
"""


@dataclass(frozen=True)
class _Column:
    """One column of the page: the table's own and those that belong to it."""

    name: str
    low: str | None
    high: str | None
    paper: str | None
    number: bool

    @property
    def compared(self) -> bool:
        """Whether it agrees with the paper is to be shown: the end of an interval is no value."""
        return self.paper is not None and not self.name.endswith(("_low", "_high"))


def table_page(path: str | Path, title: str, lead: str = "") -> str:
    """The page of a table.

    Parameters
    ----------
    path : the CSV file
    title, lead : plain text; what stands above the table

    Raises
    ------
    FormatError : the file cannot be read, is empty, or a row is not as wide as the header.
    """
    header, rows = _read(path)
    columns = _columns(header, rows)
    head = "".join(
        f'<th scope="col"{" data-number=1" if column.number else ""}><button>'
        f"{html.escape(column.name.replace('_', ' '))}</button></th>"
        for column in columns
    )
    body = "\n".join(
        "<tr>" + "".join(_cell(column, row) for column in columns) + "</tr>" for row in rows
    )
    key = ""
    if any(column.compared for column in columns):
        spans = "; ".join(
            f'<span class="{_class(verdict)}">{verdict}</span> {html.escape(meaning)}'
            for verdict, meaning in VERDICTS.items()
        )
        key = (
            '<p class="key">In a cell: ours, in brackets its 95% interval, the paper’s value.'
            f" {spans}.</p>"
        )
    parts = "".join(f"<p>{html.escape(part)}</p>" for part in lead.split("\n\n") if part)
    return _page(
        title,
        f'{parts}{key}<input type="search" placeholder="show rows with these words"'
        ' aria-label="show rows with these words">'
        f'<div class="frame" tabindex="0"><table><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div><script>{_SCRIPT}</script>",
    )


def record_page(record: Any, title: str) -> str:
    """A page of nested names and values, such as JSON gives; long lists fold."""
    return _page(title, f"<div>{_tree(record)}</div>")


def write_page(page: str, out: str | Path) -> None:
    """Write a page, whole or not at all."""
    with whole_file(out) as partial:
        partial.write_text(page, encoding="utf-8")


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{html.escape(title)}</h1>{body}</body></html>\n"
    )


def _tree(value: Any) -> str:
    if isinstance(value, dict):
        return "".join(_branch(str(name), inner) for name, inner in value.items())
    return html.escape(
        json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)
    )


def _branch(name: str, value: Any) -> str:
    if isinstance(value, dict) and value:
        fold = "" if len(value) > 12 else " open"
        return (
            f"<details{fold}><summary>{html.escape(name)}</summary>"
            f'<div class="inner">{_tree(value)}</div></details>'
        )
    return f"<div><b>{html.escape(name)}</b> {_tree(value)}</div>"


def _read(path: str | Path) -> tuple[list[str], list[dict[str, str]]]:
    try:
        with open(path, newline="", encoding="utf-8") as handle:
            header, *body = csv.reader(handle)
    except (OSError, ValueError, csv.Error) as error:
        raise FormatError(f"cannot be read as a table: {error}", path=path) from error
    for number, fields in enumerate(body, 2):
        if len(fields) != len(header):
            raise FormatError(
                f"{len(fields)} fields, but the header has {len(header)}", path=path, line=number
            )
    return header, [dict(zip(header, fields, strict=True)) for fields in body]


def _columns(header: Sequence[str], rows: Sequence[dict[str, str]]) -> list[_Column]:
    """The columns of the page: intervals and published values go into their column's cell."""
    there = set(header)
    taken = {
        name
        for base in header
        for name in (f"{base}_low", f"{base}_high", f"paper_{base}")
        if name in there
    }
    columns = [
        _Column(
            name,
            f"{name}_low" if f"{name}_low" in there else None,
            f"{name}_high" if f"{name}_high" in there else None,
            f"paper_{name}" if f"paper_{name}" in there else None,
            all(_number(row[name]) is not None for row in rows if row[name] != ""),
        )
        for name in header
        if name not in taken
    ]
    # a column in which no row says anything would only be in the way
    said = [c for c in columns if any(row[n] for row in rows for n in (c.name, c.paper) if n)]
    return sorted(said, key=lambda column: column.name in _PROSE)


def _cell(column: _Column, row: dict[str, str]) -> str:
    raw = row[column.name]
    paper = row[column.paper] if column.paper else ""
    if not column.number:
        if column.name in _PROSE:
            return f'<td class="prose"><div tabindex="0">{html.escape(raw)}</div></td>'
        kind = ""
        if column.name == "agreement" and raw in VERDICTS:
            kind = f' class="{_class(raw)}"'
        return f"<td{kind}>{html.escape(raw)}</td>"
    low = row[column.low] if column.low else ""
    high = row[column.high] if column.high else ""
    # what a paper printed keeps its digits
    text = html.escape(raw) if column.name.startswith("paper") else _short(raw) if raw else ""
    text = text or ("–" if paper else "")
    if raw and low and high and low != high:
        text += f" <small>({_short(low)}, {_short(high)})</small>"
    verdict = ""
    if paper:
        text += f" <small>paper</small> {html.escape(paper)}"
        if column.compared:
            verdict = _class(compare(_float(raw), paper, _float(low), _float(high)))
    return f'<td class="{f"number {verdict}".strip()}" data-value="{html.escape(raw)}">{text}</td>'


def _class(verdict: str) -> str:
    return "missing" if verdict == MISSING else verdict


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _float(text: str) -> float:
    number = _number(text)
    return float("nan") if number is None else number


def _short(text: str) -> str:
    """Whole numbers as they are, others to four digits after the point."""
    value = _float(text)
    if value.is_integer() and "." not in text and "e" not in text.lower():
        return html.escape(text)
    return f"{value:.2e}" if 0 < abs(value) < 0.0005 else f"{value:.4f}".rstrip("0").rstrip(".")
