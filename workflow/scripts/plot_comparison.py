"""Pearson's r of every method on every data set, by split. Stage: figure."""

from refless.job import job

with job(snakemake):
    from refless.experiments.comparison import MACHINE
    from refless.report import figures
    from refless.report.figures_comparison import COLUMNS, comparison_figure
    from refless.report.tables import read_table

    table = read_table(snakemake.input[0])[COLUMNS]
    dots = table[table["pearson"].notna() & ~table["split"].str.endswith(MACHINE)]
    figure = comparison_figure(dots, snakemake.params.styles)
    figures.save(figure, snakemake.output[0], dots)
