"""Tables 1 and 2 of RNN-QE: rated outputs, and training instances by set-up. Stage: table."""

import argparse
import json
from pathlib import Path

from refless.data.ratings import write_table
from refless.experiments.rnn_qe.counts import table1, table1_markdown, table2, table2_markdown
from refless.experiments.rnn_qe.outputs import read_outputs
from refless.report.published import read_published
from refless.scripting import run
from refless.store.provenance import write_signed_markdown

LEADS = {
    1: "Rated outputs by system and data set; the paper's number in square brackets.",
    2: "Training instances of a fold: the mean of the five folds, and from the fewest to the most."
    " `first_part`: errors and references are made from one of the three training parts, as in the"
    " authors' published code; `all_parts`: from all training outputs, as in the paper's text.",
}


def main(arguments: argparse.Namespace) -> None:
    counts, provenance = None, ""
    if arguments.outputs is not None:
        _, about = read_outputs(arguments.outputs, json.loads(arguments.settings))
        counts, provenance = about["counts"], about["provenance"]
    key = {1: "system", 2: "setup"}[arguments.table]
    published = read_published(arguments.published, [key])
    if arguments.table == 1:
        table = table1(counts, published, provenance, arguments.absent)
        body = table1_markdown(table, counts)
    else:
        table = table2(counts, published, provenance, arguments.absent)
        body = table2_markdown(table)
    write_table(table, arguments.out)
    write_signed_markdown(
        arguments.out.with_suffix(".md"),
        f"RNN quality estimation, table {arguments.table}",
        LEADS[arguments.table],
        body,
        [f"{provenance} from NEM, BAGEL, SFRest and SFHot"] if provenance else [],
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("table", type=int, choices=[1, 2])
parser.add_argument("--outputs", type=Path, help="CSV of score_rnn_qe_outputs.py; none if absent")
parser.add_argument("--absent", default="no numbers are given", help="why there is no CSV")
parser.add_argument("--settings", required=True, help="JSON: data, neighbors")
parser.add_argument("--published", type=Path, required=True, help="the paper's table")
parser.add_argument("--out", type=Path, required=True, help="CSV; a .md is put beside it")

if __name__ == "__main__":
    run(main, parser)
