"""Every method on every data set, as a table and as dots. Stage: table, figure."""

from pathlib import Path

from refless.experiments.comparison import comparison_table, read_comparisons
from refless.job import job
from refless.report import figures
from refless.report.figures_comparison import COLUMNS, comparison_figure
from refless.report.tables import publish

with job(snakemake):
    params, folder = snakemake.params, Path(snakemake.output[0]).parent
    table = comparison_table(params.tasks, read_comparisons(snakemake.input, params.settings))
    publish("comparison", table, folder, missing=params.missing)
    dots = table.loc[table["pearson"].notna(), COLUMNS]
    figures.save(comparison_figure(dots, params.looks), folder.parent / "figures/comparison", dots)
