"""A table as a page that sorts and filters, coloured by agreement. Stage: report."""

import argparse
from pathlib import Path

from refless.scripting import run
from refless.report.webpage import table_page, write_page


def main(arguments: argparse.Namespace) -> None:
    # captions are reStructuredText, of which they use no more than ``this``
    lead = " ".join(arguments.caption.read_text(encoding="utf-8").replace("``", "").split())
    write_page(table_page(arguments.table, arguments.title, lead), arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("table", type=Path, help="a table of results/tables, CSV")
parser.add_argument("--title", required=True)
parser.add_argument("--caption", type=Path, required=True, help="stands above the table")
parser.add_argument("--out", type=Path, required=True, help="HTML")

if __name__ == "__main__":
    run(main, parser)
