"""Spearman's rho and coverage over the data size (figure 4 of BLEU Neighbors). Stage: figure."""

from pathlib import Path

from refless.experiments.bleu_neighbors.curves import read_curves
from refless.job import job
from refless.report import figures

with job(snakemake):
    curves = read_curves(snakemake.input, "data size curve", snakemake.params.settings)
    drawn = figures.data_size_figure(curves, snakemake.params.looks)
    figures.save(drawn, Path(snakemake.output[0]).with_suffix(""))
