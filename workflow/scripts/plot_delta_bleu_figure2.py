"""Figure 2 of ΔBLEU: threshold on w, size of the unit, order of the n-grams. Stage: figure."""

from refless.job import job

with job(snakemake):
    from refless.experiments.delta_bleu.table2 import figure2, read_units
    from refless.report import figures
    from refless.report.figures_delta_bleu import delta_bleu_figure

    points = figure2(read_units(snakemake.input.get("units", [])))
    figure = delta_bleu_figure(points, snakemake.params.styles)
    figures.save(figure, snakemake.output[0], points)
