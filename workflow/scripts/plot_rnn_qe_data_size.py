"""Correlation over the number of rated outputs: BLEU Neighbors, RNN-QE. Stage: figure."""

from pathlib import Path

from refless.experiments.rnn_qe.curve import draw
from refless.experiments.rnn_qe.tables import gather
from refless.job import job
from refless.report import figures
from refless.report.tables import read_table
from refless.store import sealed

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    outputs, curve = (next(iter(found), None) for found in (files.outputs, files.curve))
    given = gather(outputs, params.predictions, params.missing)
    own = sealed.read(curve).content if curve else None
    figure, drawn = draw(own, given, read_table(files.table))
    figures.save(figure, Path(snakemake.output[0]).with_suffix(""), drawn)
