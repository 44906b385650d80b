"""Rho or coverage over the thresholds (figures 2 and 3 of BLEU Neighbors). Stage: figure."""

from pathlib import Path

from refless.experiments.bleu_neighbors.curves import (
    average_annotators,
    published_points,
    threshold_curves,
)
from refless.experiments.bleu_neighbors.neighbors import read_predicted
from refless.job import job
from refless.report import figures

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    path, limits = Path(snakemake.output[0]), params.thresholds
    folders = dict.fromkeys(Path(path).parent for path in files.ratings)
    tasks = read_predicted(folders, files.predictions, **limits)
    curves = threshold_curves(tasks, params.kernel, **limits)
    column = "spearman" if path.stem.endswith("2") else "coverage"
    people = average_annotators(tasks) if column == "spearman" else {}
    points = published_points(files.published, params.looks)[column]
    figures.save(
        figures.threshold_figure(curves, params.looks, column, limits, people, points),
        path,
        curves[["task", "threshold", "value", column]],
    )
