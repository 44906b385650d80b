"""Check an encoder against the sums that were recorded when it was fetched. Stage: fetch.

What comes out are the sums that a kernel's signature states, so that a job that computes can tell
whether it reads the same files.
"""

import argparse
from pathlib import Path

from refless.data.encoders import verify_encoder
from refless.kernels.bertscore import resources
from refless.scripting import run
from refless.store.files import write_json


def main(arguments: argparse.Namespace) -> None:
    folder = arguments.data / "models" / arguments.model
    verify_encoder(folder)
    sums = resources(name=f"bertscore.{arguments.model}", model=folder)
    write_json({"model": arguments.model, "resources": sums}, arguments.out)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("model", help="e.g. roberta-large")
parser.add_argument("--data", type=Path, default=Path("resources/data"))
parser.add_argument("--out", type=Path, required=True, help="JSON with the sums of the model")

if __name__ == "__main__":
    run(main, parser)
