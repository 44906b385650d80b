"""Figure 2 of ΔBLEU: threshold on w, size of the unit, order of the n-grams. Stage: figure."""

from pathlib import Path

from refless.experiments.delta_bleu.table2 import read_rows
from refless.job import job
from refless.report import figures
from refless.report.figures_delta_bleu import delta_bleu_figure

with job(snakemake):
    found = [read_rows(path, snakemake.params.settings) for path in snakemake.input]
    rows = {task: file.content for file, task in found}
    figures.save(
        delta_bleu_figure(rows, snakemake.params.looks),
        Path(snakemake.output[0]).with_suffix(""),
    )
