"""What the run came from: data, code, packages, settings, machine. Stage: report."""

import argparse
import json
from pathlib import Path

from refless.scripting import run
from refless.store.files import read_json, write_json
from refless.store.provenance import record


def main(arguments: argparse.Namespace) -> None:
    verified = map(read_json, sorted(arguments.verified.rglob("*.json")))
    sums = {file["path"]: file["sha256"] for file in verified}
    settings = json.loads(arguments.settings)
    found = record(settings, arguments.numbers, sums, arguments.tables, arguments.command)
    write_json(found, arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("tables", nargs="+", type=Path, help="CSV files")
parser.add_argument("--verified", type=Path, required=True, help="directory of the raw files' sums")
parser.add_argument("--settings", required=True, help="the configuration, JSON")
parser.add_argument("--numbers", required=True, choices=["computed", "auto", "shipped"])
parser.add_argument("--command", required=True, help="what builds everything again")
parser.add_argument("--out", type=Path, required=True, help="JSON")

if __name__ == "__main__":
    run(main, parser)
