"""Copy a task's computed numbers to resources/shipped: ratings and kernels, no text. Stage: none.

For the maintainers, after a kernel or a loader has changed. What is shipped is what was computed,
with every text and context blanked and the provenance set to `shipped`.
"""

import argparse
from pathlib import Path

from refless.errors import StaleError
from refless.store.files import read_json, write_json
from refless.data.ratings import RATING_COLUMNS, TEXT_COLUMNS, read_table, write_table
from refless.scripting import run
from refless.store.kernel_files import read_arrays, write_arrays


def main(arguments: argparse.Namespace) -> None:
    about = read_json(arguments.ratings / "about.json")
    if about["provenance"] != "computed":
        raise StaleError("these ratings were not computed here", path=arguments.ratings)
    out = arguments.out / about["task"]
    texts = read_table(arguments.ratings / "texts.csv", TEXT_COLUMNS)
    numeric = [c for c in texts.select_dtypes("number").columns if c not in TEXT_COLUMNS]
    texts = texts[TEXT_COLUMNS + numeric].assign(context="", text="")
    write_table(texts, out / "ratings" / "texts.csv")
    ratings = read_table(arguments.ratings / "ratings.csv", RATING_COLUMNS)
    write_table(ratings, out / "ratings" / "ratings.csv")
    write_json({**about, "provenance": "shipped"}, out / "ratings" / "about.json")
    for path in arguments.kernels:
        arrays, signature = read_arrays(path, data_sum=about["text_sum"])
        signature["provenance"] = "shipped"
        write_arrays(arrays, signature, out / path.parents[1].name / path.name)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument("--kernels", type=Path, nargs="*", default=[], help="kernel files")
parser.add_argument("--out", type=Path, default=Path("resources/shipped"))

if __name__ == "__main__":
    run(main, parser)
