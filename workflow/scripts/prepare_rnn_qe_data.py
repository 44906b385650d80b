"""Training, validation and test data of RNN-QE, one CSV a fold. Stage: prediction.

The columns are explained in workflow/refless/models/rnn_qe/data.py. about.json beside them says
what they were made of.
"""

import argparse
import logging
from pathlib import Path

from refless.data.ratings import write_table
from refless.models.rnn_qe.data import SYNTHESISE, read_texts, share, tables
from refless.scripting import run
from refless.store.files import write_json

log = logging.getLogger(__name__)


def main(arguments: argparse.Namespace) -> None:
    texts = read_texts(arguments.ratings)
    own = (arguments.seed, arguments.synthesise)
    folds = []
    for table in tables(texts, arguments.name, *own, arguments.subsets):
        write_table(table, arguments.out / f"fold{len(folds)}.csv")
        folds.append({str(part): int(n) for part, n in table["part"].value_counts().items()})
        log.info("fold %d: %s", len(folds) - 1, folds[-1])
    write_json(
        {
            "name": arguments.name,
            "settings": dict(zip(("seed", "synthesise"), own, strict=True)),
            "texts": texts.digest(),
            "share": share(texts.rated, arguments.name, *own),
            "folds": folds,
        },
        arguments.out / "about.json",
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument(
    "--ratings", type=Path, required=True, help="directory with nem, bagel, sfrest and sfhot"
)
parser.add_argument(
    "--name",
    required=True,
    help="setup1, apart_setup1, curve_100_setup1, cross_domain_1_setup1 ...",
)
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--synthesise", choices=SYNTHESISE, default="first_part")
parser.add_argument("--subsets", type=int, default=1, help="of curve_*; default: %(default)s")
parser.add_argument("--out", type=Path, required=True, help="directory of the folds' files")

if __name__ == "__main__":
    run(main, parser)
