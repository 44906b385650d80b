"""Copy signed tables of numbers to resources/shipped: no text is in them. Stage: none.

For the maintainers, after a kernel, a loader or a recipe has changed.
"""

import argparse
import shutil
from pathlib import Path

from refless.errors import StaleError
from refless.store.files import whole_file, write_json
from refless.scripting import run
from refless.store.signed_tables import read_numbers


def main(arguments: argparse.Namespace) -> None:
    for path in arguments.numbers:
        _, about = read_numbers(path, [])
        if about["provenance"] != "computed":
            raise StaleError("these numbers were not computed here", path=path)
        about["provenance"] = "shipped"
        for signature in about["signatures"]:
            signature["provenance"] = "shipped"
        with whole_file(arguments.out / path.name) as partial:
            shutil.copyfile(path, partial)
        write_json(about, (arguments.out / path.name).with_suffix(".json"))


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("numbers", type=Path, nargs="+", help="CSV files, each with its JSON beside it")
parser.add_argument("--out", type=Path, required=True, help="directory under resources/shipped")

if __name__ == "__main__":
    run(main, parser)
