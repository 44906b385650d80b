"""Count the published cells of BLEU Neighbors by how far ours agree. Stage: table."""

import argparse
from pathlib import Path

from refless.data.ratings import write_table
from refless.experiments.bleu_neighbors.agreement import (
    TABLES,
    agreement_cells,
    agreement_counts,
    agreement_markdown,
    lead_text,
)
from refless.report.published import read_published
from refless.scripting import run
from refless.store.provenance import write_signed_markdown


def main(arguments: argparse.Namespace) -> None:
    ours, published = (
        {path.stem: read_published(path, TABLES[path.stem].keys) for path in paths}
        for paths in (arguments.tables, arguments.published)
    )
    cells = agreement_cells(ours, published)
    counts = agreement_counts(cells)
    out = arguments.out
    write_table(counts, out)
    write_table(cells, out.with_name(f"{out.stem}_cells.csv"))
    write_signed_markdown(
        out.with_suffix(".md"),
        "BLEU Neighbors, published cells and ours",
        lead_text(),
        agreement_markdown(counts, cells),
        [f"from `{path.name}`" for path in arguments.tables],
    )


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tables", type=Path, nargs="+", required=True, help="our tables, CSV")
parser.add_argument("--published", type=Path, nargs="+", required=True, help="the paper's, CSV")
parser.add_argument("--out", type=Path, required=True, help="CSV; the cells and a .md beside it")

if __name__ == "__main__":
    run(main, parser)
