"""Correlation over the number of rated outputs: BLEU Neighbors, RNN-QE. Stage: figure."""

from pathlib import Path

from refless.experiments.rnn_qe.curve import TABLE_COLUMNS, draw, read_curve
from refless.experiments.rnn_qe.tables import gather
from refless.job import job
from refless.report import figures
from refless.report.tables import read_published

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    outputs, curve = (next(iter(found), None) for found in (files.outputs, files.curve))
    given = gather(outputs, params.predictions, params.data, params.missing)
    own = read_curve(curve, params.data) if curve else None
    figure, drawn = draw(own, given, read_published(files.table, TABLE_COLUMNS))
    figures.save(figure, Path(snakemake.output[0]).with_suffix(""), drawn)
