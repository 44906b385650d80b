"""Spearman's rho and coverage over the data size (figure 4 of BLEU Neighbors). Stage: figure."""

from pathlib import Path

from refless.experiments.bleu_neighbors.curves import (
    average_annotators,
    published_points,
    read_data_sizes,
)
from refless.experiments.bleu_neighbors.neighbors import read_predicted
from refless.job import job
from refless.report import figures

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    folders = dict.fromkeys(Path(path).parent for path in files.ratings)
    people = average_annotators(read_predicted(folders, [], **params.thresholds))
    curves = read_data_sizes(files.sizes)
    points = published_points(files.published, params.looks)
    figures.save(
        figures.data_size_figure(curves, params.looks, people, points),
        snakemake.output[0],
        curves.drop(columns="subset").groupby(["task", "size"], sort=False).mean().reset_index(),
    )
