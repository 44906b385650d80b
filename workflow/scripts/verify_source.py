"""Check one raw file against the table of sources and note its sum. Stage: fetch.

A step of its own that every reader of raw data waits for: a file that was put into the data
directory by hand is checked like any other.
"""

import argparse
from pathlib import Path

from refless.fetch import read_sources, verify
from refless.files import write_json
from refless.scripting import run


def main(arguments: argparse.Namespace) -> None:
    source = read_sources(arguments.sources, arguments.members)[arguments.path]
    found = verify(arguments.data / arguments.path, source)
    write_json({"path": source.path, "sha256": found}, arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("path", help="the file's path in the table of sources")
parser.add_argument("--sources", type=Path, default=Path("resources/sources.csv"))
parser.add_argument("--members", type=Path, default=Path("resources/sources_members.csv"))
parser.add_argument("--data", type=Path, default=Path("resources/data"))
parser.add_argument("--out", type=Path, required=True, help="JSON with the file's path and sum")

if __name__ == "__main__":
    run(main, parser)
