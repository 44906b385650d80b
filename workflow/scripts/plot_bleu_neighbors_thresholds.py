"""Spearman's rho and coverage over a and b (figures 2 and 3 of BLEU Neighbors). Stage: figure."""

from pathlib import Path

from refless.experiments.bleu_neighbors.curves import average_annotators, threshold_curves
from refless.experiments.bleu_neighbors.neighbors import read_predicted
from refless.job import job
from refless.report import figures
from refless.report.tables import read_published

with job(snakemake):
    given, params = snakemake.input, snakemake.params
    own, kernel = params.settings, params.kernel
    tasks = read_predicted(params.folders, given.get("predictions", []), params.taus)
    curves = {
        task: threshold_curves(data, kernel, **own)
        for task, data in tasks.items()
        if kernel in data.means
    }
    human, table1 = average_annotators(given.table[0]), read_published(given.table[0])
    for column, label, people in (
        ("spearman", "Spearman's $\\rho$", human),
        ("coverage", "coverage", {}),
    ):
        figures.save(
            figures.threshold_figure(
                *(curves, params.looks, column, label, own, people),
                figures.published_points(table1, column),
            ),
            Path(snakemake.output[column][0]).with_suffix(""),
            figures.drawn(curves, ["threshold", "value", column]),
        )
