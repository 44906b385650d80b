"""Renew the README's tables from results/tables and resources/benchmarks. Stage: table.

What stands between `<!-- name:begin -->` and `<!-- name:end -->` is replaced; `make readme` builds
the tables first. How fast the kernels are is as `make benchmark BENCHMARK=--record` found it.
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from refless.benchmark import tables
from refless.errors import FormatError
from refless.experiments.bleu_neighbors_table1 import KEYS
from refless.files import read_json, whole_file
from refless.published import markdown, number, with_interval
from refless.scripting import run

KERNEL_CHOICES = "bleu.word", "bleu.char.unclipped", "rouge_l.plain", "meteor.nltk39"


def table1(directory: Path) -> str:
    table = pd.read_csv(directory / "bleu_neighbors_table1.csv", dtype={"p_below_0.01": "Int64"})
    table = table[table["task"] == "huse_summarization"]
    first = ~table.duplicated(KEYS)
    others = table["kernel"].isin(KERNEL_CHOICES) & (table["reading"] == "published")
    exact = (table["reading"] == "exact") & table["kernel"].isin(["bleu.char"])
    rows = []
    for record in table[first | others | exact].to_dict("records"):
        row = {str(key): value for key, value in record.items()}
        name = str(row["model"]) + (f" `{row['kernel']}`" if isinstance(row["kernel"], str) else "")
        cells = [
            f"{with_interval(row, column, digits)} / {row[f'paper_{column}']:.{printed}f}"
            for column, digits, printed in (("mse", 4, 4), ("spearman", 3, 3), ("coverage", 3, 2))
        ]
        reading = row["reading"] if isinstance(row["reading"], str) else number(None)
        rows.append([name, reading, *cells, str(row["agreement"])])
    header = ["model", "reading"]
    header += [f"{name}: ours / paper" for name in ("MSE", "Spearman", "coverage")]
    return markdown([*header, "agreement"], rows)


def main(arguments: argparse.Namespace) -> None:
    text = arguments.readme.read_text(encoding="utf-8")
    contents = {
        "table1": table1(arguments.tables),
        "benchmark": tables(read_json(arguments.benchmark)),
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
    run(main, parser)
