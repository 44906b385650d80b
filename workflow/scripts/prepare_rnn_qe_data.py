"""Training, validation and test data of RNN-QE, one CSV a fold. Stage: prediction.

The columns are explained in workflow/refless/models/rnn_qe/data.py.
"""

import argparse
import logging
from pathlib import Path

from refless.models.rnn_qe.data import SYNTHESISE, read_texts, tables
from refless.ratings import write_table
from refless.scripting import run

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    texts = read_texts(arguments.ratings)
    data = tables(texts, arguments.name, arguments.seed, arguments.synthesise)
    for fold, table in enumerate(data):
        write_table(table, arguments.out / f"fold{fold}.csv")
        log.info("fold %d: %s", fold, table["part"].value_counts().to_dict())


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument(
    "--ratings", type=Path, required=True, help="directory with nem, bagel, sfrest and sfhot"
)
parser.add_argument("--name", required=True, help="setup1 ... setup6, cross_domain_1_setup1 ...")
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--synthesise", choices=SYNTHESISE, default="first_part")
parser.add_argument("--out", type=Path, required=True, help="directory of the folds' files")

if __name__ == "__main__":
    run(main, parser)
