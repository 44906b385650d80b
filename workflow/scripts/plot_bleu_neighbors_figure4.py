"""Spearman's rho and coverage over the data size (figure 4 of BLEU Neighbors). Stage: figure."""

from pathlib import Path

from refless.experiments.bleu_neighbors.curves import average_annotators, read_data_sizes
from refless.job import job
from refless.report import figures
from refless.report.tables import read_published

with job(snakemake):
    given, params = snakemake.input, snakemake.params
    curves = read_data_sizes(given.get("sizes", []))
    means = {
        task: curve.groupby("size", as_index=False)[["spearman", "coverage"]].mean()
        for task, curve in curves.items()
    }
    table1 = read_published(given.table[0])
    published = {c: figures.published_points(table1, c) for c in ("spearman", "coverage")}
    people = average_annotators(given.table[0])
    figures.save(
        figures.data_size_figure(curves, params.looks, people, published),
        Path(snakemake.output[0]).with_suffix(""),
        figures.drawn(means, ["size", "spearman", "coverage"]),
    )
