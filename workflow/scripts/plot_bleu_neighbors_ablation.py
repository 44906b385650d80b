"""What each variant changes against plain BLEU Neighbors, drawn. Stage: figure."""

from pathlib import Path

from refless.job import job
from refless.report import figures
from refless.report.figures_neighbors import change_figure
from refless.report.tables import read_published

with job(snakemake):
    table = read_published(snakemake.input[0], ["task", "variant", "label"])
    drawn = change_figure(table, snakemake.params.looks)
    figures.save(drawn, Path(snakemake.output[0]).with_suffix(""))
