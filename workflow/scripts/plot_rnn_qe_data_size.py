"""Correlation over the number of rated outputs: BLEU Neighbors, RNN-QE. Stage: figure."""

from refless.job import job

with job(snakemake):
    from refless.experiments.published import read_published
    from refless.experiments.rnn_qe.tables import data_size, gather
    from refless.report import figures
    from refless.store import sealed

    files = snakemake.input
    outputs, curve = (next(iter(paths), None) for paths in (files.outputs, files.curve))
    gathered = gather(outputs, snakemake.params.predictions)
    drawn = data_size(sealed.read(curve).content if curve else None, gathered)
    figure = figures.learning_curve_figure(drawn, read_published(files.published))
    figures.save(figure, snakemake.output[0], drawn)
