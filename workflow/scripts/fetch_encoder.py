"""Bring one encoder of BERTScore into the data directory, with its sums. Stage: fetch."""

import argparse
from pathlib import Path

from refless.data.encoders import fetch_encoder
from refless.data.places import Places
from refless.scripting import run


def main(arguments: argparse.Namespace) -> None:
    fetch_encoder(arguments.model, Places.told(arguments.data, arguments.manual))


parser = argparse.ArgumentParser(
    description=__doc__,
    epilog="The environment variables REFLESS_MIRROR (a directory or base URL with models/MODEL)"
    " and REFLESS_MODELS (the folder around the model's) name places to try before the hub.",
)
parser.add_argument("model", help="e.g. roberta-large")
parser.add_argument("--data", type=Path, default=Path("resources/data"))
parser.add_argument("--manual", type=Path, default=Path("resources/manual"))

if __name__ == "__main__":
    run(main, parser)
