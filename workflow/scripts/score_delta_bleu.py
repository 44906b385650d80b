"""Follow ratings with BLEU, sBLEU and ΔBLEU, over random units. Stage: cell."""

import argparse
import json
import logging
import time
from pathlib import Path

import pandas as pd

from refless.data.ratings import RATING_COLUMNS, TEXT_COLUMNS, read_table, separate_items
from refless.data.sources import dstc7
from refless.experiments.delta_bleu.dialogues import Cell, Counted, read_dialogues
from refless.experiments.delta_bleu.units import (
    MODULES,
    NUMBER_COLUMNS,
    TEST_COLUMNS,
    Settings,
    figure_numbers,
    table_numbers,
)
from refless.kernels import code_signature, text_sum
from refless.scripting import run
from refless.store.files import read_json
from refless.store.signed_tables import write_numbers

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    about = read_json(arguments.ratings / "about.json")
    texts = read_table(arguments.ratings / "texts.csv", [*TEXT_COLUMNS, "context_id"])
    # a system's outputs are its own, also where another says the same
    texts = separate_items(texts, read_table(arguments.ratings / "ratings.csv", RATING_COLUMNS))
    gold = dstc7.gold(arguments.gold) if arguments.gold else None
    asked = json.loads(arguments.settings)
    settings = Settings(**{k: tuple(v) if isinstance(v, list) else v for k, v in asked.items()})
    dialogues = read_dialogues(texts, gold)
    begin = time.perf_counter()
    counted = Counted(dialogues, Cell("bleu").order)
    table, tests = table_numbers(counted, settings, arguments.threads)
    log.info("table: %d rows in %.1f s", len(table), time.perf_counter() - begin)
    begin = time.perf_counter()
    figure = figure_numbers(counted, settings, arguments.threads)
    log.info("figure: %d points in %.1f s", len(figure), time.perf_counter() - begin)
    numbers = pd.concat([table, figure], ignore_index=True)
    signed = code_signature(MODULES, text_sum([about["text_sum"], *dialogues.texts]))
    signed |= {"task": about["task"], "provenance": "computed"}
    notes = {
        "provenance": "computed",
        "settings": asked,
        "systems": dialogues.systems,
        "contexts": len(dialogues.output),
        "lacking": int(counted.lacking().sum()),
        "gold": dialogues.gold.shape[1],
        "signatures": [signed],
    }
    first = [*NUMBER_COLUMNS, *(c for c in numbers.columns if c not in NUMBER_COLUMNS)]
    write_numbers(numbers[first], notes, arguments.out)
    write_numbers(tests[TEST_COLUMNS], notes, arguments.tests)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--ratings", type=Path, required=True, help="directory of the task's tables")
parser.add_argument("--gold", type=Path, help="DSTC7's archive, for its unrated gold references")
parser.add_argument(
    "--settings", required=True, help="JSON, see refless.experiments.delta_bleu.dialogues"
)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--out", type=Path, required=True, help="CSV; a JSON is put beside it")
parser.add_argument("--tests", type=Path, required=True, help="CSV; a JSON is put beside it")

if __name__ == "__main__":
    run(main, parser)
