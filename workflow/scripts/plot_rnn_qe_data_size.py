"""Correlation over the number of rated outputs: BLEU Neighbors, RNN-QE. Stage: figure."""

from refless.job import job

with job(snakemake):
    from refless.experiments.rnn_qe.tables import data_size, gather
    from refless.report import figures
    from refless.report.tables import read_table
    from refless.store import sealed

    files, params = snakemake.input, snakemake.params
    outputs, curve = (next(iter(found), None) for found in (files.outputs, files.curve))
    given, table = gather(outputs, params.predictions), read_table(files.table)
    drawn = data_size(sealed.read(curve).content if curve else None, given, table)
    figure = figures.learning_curve_figure(drawn, table)
    figures.save(figure, snakemake.output[0], drawn)
