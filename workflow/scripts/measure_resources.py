"""Time and peak memory of each rule of the runs that made the results. Stage: report."""

import argparse
from pathlib import Path

from refless.data.ratings import write_table
from refless.report import figures
from refless.scripting import run
from refless.store.provenance import resources


def main(arguments: argparse.Namespace) -> None:
    table = resources(arguments.benchmarks)
    figures.save(figures.resource_figure(table), arguments.out.with_suffix(""))
    write_table(table, arguments.out)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("benchmarks", type=Path, help="directory of Snakemake's benchmark files")
parser.add_argument("--out", type=Path, required=True, help="CSV; the figure lies beside it")

if __name__ == "__main__":
    run(main, parser)
