"""Coverage against Spearman over the thresholds, tuned and honest, drawn. Stage: figure."""

from pathlib import Path

from refless.experiments.bleu_neighbors.pareto import COLUMNS, LEAST_SHOWN, read_fronts
from refless.job import job
from refless.report import figures
from refless.report.figures_neighbors import front_figure
from refless.report.tables import read_published

with job(snakemake):
    table = read_published(snakemake.input.table, COLUMNS)
    fronts = read_fronts(snakemake.input.fronts, snakemake.input.table)
    drawn = front_figure(table, fronts, LEAST_SHOWN, snakemake.params.looks)
    figures.save(drawn, Path(snakemake.output[0]).with_suffix(""))
