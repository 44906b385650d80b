"""The record of a run as a page. Stage: report."""

import argparse
from pathlib import Path

from refless.store.files import read_json
from refless.scripting import run
from refless.report.webpage import record_page, write_page


def main(arguments: argparse.Namespace) -> None:
    write_page(
        record_page(read_json(arguments.record), "Where the numbers come from"), arguments.out
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("record", type=Path, help="JSON by record_provenance.py")
parser.add_argument("--out", type=Path, required=True, help="HTML")

if __name__ == "__main__":
    run(main, parser)
