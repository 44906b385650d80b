"""Check one raw file against the table of sources and note its sum. Stage: fetch.

A step of its own that every reader of raw data waits for: a file that was put into the data
directory by hand is checked like any other.
"""

import argparse
from pathlib import Path

from refless.data.fetch import file_sum, read_sources, verify
from refless.errors import SourceError
from refless.scripting import run
from refless.store.files import write_json


def main(arguments: argparse.Namespace) -> None:
    source = read_sources(arguments.sources, arguments.members)[arguments.path]
    here = arguments.data / arguments.path
    found = verify(here, source)
    for path in arguments.by_hand:
        if file_sum(path) != found:
            raise SourceError(
                f"is not the file that was placed by hand at {path}",
                path=here,
                remedy=f"delete {here} and run again to take the one placed by hand",
            )
    write_json({"path": source.path, "sha256": found}, arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("path", help="the file's path in the table of sources")
parser.add_argument("--sources", type=Path, default=Path("resources/sources.csv"))
parser.add_argument("--members", type=Path, default=Path("resources/sources_members.csv"))
parser.add_argument("--data", type=Path, default=Path("resources/data"))
parser.add_argument(
    "--by-hand", type=Path, nargs="*", default=[], help="file placed by hand that it must equal"
)
parser.add_argument("--out", type=Path, required=True, help="JSON with the file's path and sum")

if __name__ == "__main__":
    run(main, parser)
