"""Spearman's rho or coverage over a and b (figures 2 and 3 of BLEU Neighbors). Stage: figure."""

from pathlib import Path

from refless.experiments.bleu_neighbors.curves import average_annotators, threshold_curves
from refless.experiments.bleu_neighbors.neighbors import read_predicted
from refless.job import job
from refless.report import figures
from refless.report.tables import read_published

with job(snakemake):
    given, params = snakemake.input, snakemake.params
    stem, own, kernel = Path(snakemake.output[0]).with_suffix(""), params.settings, params.kernel
    tasks = read_predicted(params.folders, given.get("predictions", []))
    curves = {
        task: threshold_curves(data, kernel, **own)
        for task, data in tasks.items()
        if kernel in data.means
    }
    if stem.name.endswith("2"):
        column, label, people = "spearman", "Spearman's $\\rho$", average_annotators(given.table[0])
    else:
        column, label, people = "coverage", "coverage", {}
    published = figures.published_points(read_published(given.table[0]), column)
    figures.save(
        figures.threshold_figure(curves, params.looks, column, label, own, people, published),
        stem,
        figures.drawn(curves, ["threshold", "value", column]),
    )
