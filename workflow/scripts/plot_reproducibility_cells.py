"""Published numbers against ours, drawn. Stage: figure."""

from refless.job import job

with job(snakemake):
    from refless.report import figures
    from refless.report.figures_reproducibility import cells_figure
    from refless.report.tables import read_table

    cells = read_table(snakemake.input[0])
    figures.save(cells_figure(cells), snakemake.output[0], cells)
