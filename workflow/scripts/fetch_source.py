"""Bring one raw file into the data directory, verified. Stage: fetch."""

import argparse
from pathlib import Path

from refless.data.fetch import fetch
from refless.data.places import Places
from refless.data.raw_files import read_source
from refless.scripting import run


def main(arguments: argparse.Namespace) -> None:
    source = read_source(arguments.path, arguments.sources, arguments.members)
    fetch(source, Places.told(arguments.data, arguments.manual))


parser = argparse.ArgumentParser(
    description=__doc__,
    epilog="The environment variable REFLESS_MIRROR names a directory or base URL to try first;"
    " REFLESS_NETWORK=off keeps from asking public URLs.",
)
parser.add_argument("path", help="the file's path in the table of sources")
parser.add_argument("--sources", type=Path, default=Path("resources/sources.csv"))
parser.add_argument("--members", type=Path, default=Path("resources/sources_members.csv"))
parser.add_argument("--data", type=Path, default=Path("resources/data"))
parser.add_argument("--manual", type=Path, default=Path("resources/manual"))

if __name__ == "__main__":
    run(main, parser)
