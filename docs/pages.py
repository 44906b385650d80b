"""Pages whose figures come from the tables of a run: README.md and docs/findings.md. Stage: page.

In: `docs/pages/*.j2`, results/tables, resources/benchmarks. Out: the pages. No figure in them is
typed by hand: a template names the table, the row and the column. What a sentence concludes is
bound to its table by `require`: where the tables say otherwise, there is no page. `make docs` makes
the pages anew; with ``--check`` it says which of them the tables would change.
"""

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from refless.errors import FormatError, ReflessError
from refless.report.benchmarks import peer_table
from refless.report.benchmarks import readme as benchmark_tables
from refless.report.published import with_interval
from refless.report.tables import grid, read_published
from refless.store.files import read_json, whole_file

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "README.md",
    "docs/index.md": "README.md",
    "docs/findings.md": "findings.md",
    "docs/speed.md": "speed.md",
}
"""Page -> its template, without the ending. The handbook opens with the README."""
NOT_KEPT = {"docs/index.md"}
"""Made for the handbook alone: a fresh clone has none."""


class Tables:
    """What a template asks for: rows of the tables of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, pd.DataFrame] = {}

    def rows(self, table: str, /, **where: Any) -> list[dict[str, Any]]:
        """The rows with these values; an empty cell is ``""``.

        Raises
        ------
        FormatError : the table is not the one that was written, or has no such column.
        """
        if table not in self._read:
            path = self.folder / f"{table}.csv"
            read = read_published(path)
            self._read[table] = read.astype(object).where(read.notna(), "")
            for name in (name for name in read if str(name).startswith("paper_")):
                # with the digits that were printed
                printed = pd.read_csv(path, dtype=str, keep_default_na=False, usecols=[name])
                self._read[table][name] = printed[name].astype(object)
        found = self._read[table]
        for column, value in where.items():
            if column not in found:
                raise FormatError(f"{table} has no column {column}", path=self.folder)
            found = found[found[column].astype(str) == str(value)]
        records = found.to_dict("records")
        return [{str(name): value for name, value in record.items()} for record in records]

    def row(self, table: str, /, **where: Any) -> dict[str, Any]:
        """The first row with these values; the published variant of a model comes first.

        Raises
        ------
        FormatError : there is none.
        """
        rows = self.rows(table, **where)
        if not rows:
            raise FormatError(f"{table} has no row with {where}", path=self.folder)
        return rows[0]


def number(value: Any, digits: int = 2) -> str:
    """A number in a sentence.

    Raises
    ------
    FormatError : there is none, so there can be no sentence about it.
    """
    if value == "" or value != value:
        raise FormatError("a sentence asks for a number that its table has not")
    return f"{float(value):,.{digits}f}"


def rough(value: Any) -> str:
    """A large number in two digits, as it stands in a sentence that is about its size alone.

    Raises
    ------
    FormatError : there is none.
    """
    number(value)
    return f"{float(f'{float(value):.1e}'):,.0f}"


def interval(row: dict[str, Any], column: str, digits: int = 2, ends_of: str = "") -> str:
    """``0.32 (0.19 to 0.44)``; ``ends_of`` names the interval, if it has another name."""
    ends = (number(row[f"{ends_of or column}_{end}"], digits) for end in ("low", "high"))
    return f"{number(row[column], digits)} ({' to '.join(ends)})"


def require(holds: object, sentence: str) -> str:
    """Nothing, if the tables bear out what a sentence says.

    Raises
    ------
    FormatError : they do not, so the sentence has to be written anew.
    """
    if not holds:
        raise FormatError(f"the tables do not bear out that {sentence}", remedy="write it anew")
    return ""


def level(row: dict[str, Any], column: str) -> bool:
    """Whether a difference's interval includes 0."""
    return bool(row[f"{column}_low"] <= 0 <= row[f"{column}_high"])


def share(value: Any, digits: int = 0) -> str:
    """A share as percent."""
    return f"{number(100 * float(value), digits)}%"


def cell(row: dict[str, Any], column: str, digits: int = 3) -> str:
    """A cell of a table in a page: ours with its interval, then the paper's."""
    ours = with_interval({k: None if v == "" else v for k, v in row.items()}, column, digits)
    paper = row.get(f"paper_{column}", "")
    return f"{ours} / {paper}" if paper != "" else ours


def render(folder: Path, benchmarks: Path) -> dict[str, str]:
    """Page -> its text.

    Raises
    ------
    FormatError : a template asks for what no table has.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT / "docs/pages"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # Markdown
    )
    tables = Tables(folder)
    environment.globals.update(row=tables.row, rows=tables.rows, grid=grid)
    environment.filters.update(n=number, share=share, rough=rough)
    environment.globals.update(interval=interval, cell=cell, require=require, level=level)
    environment.globals["benchmark"] = lambda: benchmark_tables(read_json(benchmarks))
    environment.globals["peers"] = lambda name: peer_table(
        {name: read_json(benchmarks.with_name(f"{name}.json"))}
    )
    environment.globals["stacked"] = lambda: read_json(benchmarks.with_name("rnn_qe.json"))[
        "stacked"
    ]["core"]
    pages = {}
    for page, template in PAGES.items():
        inside = page.startswith("docs/")
        try:
            pages[page] = environment.get_template(f"{template}.j2").render(
                docs="" if inside else "docs/",
                # files beside the README are no pages of the handbook
                beside=lambda name, inside=inside: f"`{name}`" if inside else f"[{name}]({name})",
            )
        except (FormatError, jinja2.TemplateError) as error:
            where = error.message if isinstance(error, ReflessError) else str(error)
            raise FormatError(where, path=f"docs/pages/{template}.j2") from error
    return pages


def main(arguments: argparse.Namespace) -> int:
    pages = render(arguments.tables, arguments.benchmarks)
    other = [page for page, text in pages.items() if _now(page) != text]
    if arguments.check:
        stale = [page for page in other if page not in NOT_KEPT]
        for page in stale:
            print(f"{page} does not say what the tables say: make docs", file=sys.stderr)
        return 1 if stale else 0
    for page in other:
        with whole_file(ROOT / page) as partial:
            partial.write_text(pages[page], encoding="utf-8")
    picture = arguments.tables.parent / "figures/reproducibility_cells.png"
    with whole_file(ROOT / "docs/images/agreement.png") as partial:
        shutil.copyfile(picture, partial)
    return 0


def _now(page: str) -> str:
    path = ROOT / page
    return path.read_text(encoding="utf-8") if path.exists() else ""


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--tables", type=Path, default=ROOT / "results/tables")
parser.add_argument("--benchmarks", type=Path, default=ROOT / "resources/benchmarks/kernels.json")
parser.add_argument("--check", action="store_true", help="write nothing; 1 if a page would change")

if __name__ == "__main__":
    try:
        sys.exit(main(parser.parse_args()))
    except ReflessError as error:
        sys.exit(f"error: {error}")
