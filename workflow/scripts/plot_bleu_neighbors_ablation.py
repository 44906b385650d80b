"""What each variant changes against plain BLEU Neighbors, drawn. Stage: figure."""

from pathlib import Path

from refless.experiments.bleu_neighbors.ablation import BASELINES
from refless.job import job
from refless.report import figures
from refless.report.figures_neighbors import change_figure
from refless.report.tables import read_published

with job(snakemake):
    table = read_published(snakemake.input[0], ["task", "variant", "label"])
    # how far baselines are away would hide the changes
    drawn = change_figure(table[~table["variant"].isin(BASELINES)], snakemake.params.looks)
    figures.save(drawn, Path(snakemake.output[0]).with_suffix(""))
