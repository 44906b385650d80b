"""Turn a task's raw files into the tidy tables of rated texts and ratings. Stage: ratings."""

import argparse
import json
import logging
from pathlib import Path

from refless.data import sources
from refless.data.fetch import file_sum
from refless.store.files import whole_file, write_json
from refless.kernels import text_sum
from refless.data.ratings import write_table
from refless.scripting import run

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    files = dict(item.split("=", 1) for item in arguments.file)
    data = sources.load(arguments.task, **files, **json.loads(arguments.options))
    if arguments.malformed == "error":
        data.require_clean()
    for problem in data.problems:
        log.warning("left out: %s", problem)
    out = arguments.out
    with whole_file(out / "malformed.txt") as partial:
        partial.write_text("".join(f"{p}\n" for p in data.problems), encoding="utf-8")
    write_table(data.texts, out / "texts.csv")
    write_table(data.ratings, out / "ratings.csv")
    write_json(
        {
            "task": arguments.task,
            "provenance": "computed",
            "texts": len(data.texts),
            "ratings": len(data.ratings),
            "malformed": len(data.problems),
            "scale": data.scale,
            "text_sum": text_sum(data.texts["text"].tolist()),
            "sources": {Path(path).name: file_sum(path) for path in files.values()},
        },
        out / "about.json",
    )
    log.info("%s: %d rated texts, %d ratings", arguments.task, len(data.texts), len(data.ratings))


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("task", help="name of the data set, e.g. huse_summarization")
parser.add_argument(
    "--file", action="append", default=[], metavar="NAME=PATH", help="a raw file of the loader"
)
parser.add_argument("--options", default="{}", help="further arguments of the loader, as JSON")
parser.add_argument("--malformed", choices=["error", "skip"], default="error")
parser.add_argument("--out", type=Path, required=True, help="directory for the tables")

if __name__ == "__main__":
    run(main, parser)
