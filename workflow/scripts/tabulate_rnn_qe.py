"""RNN-QE: all its tables, from one reading of outputs and predictions. Stage: table."""

from pathlib import Path

from refless.experiments.rnn_qe.tables import gather, write_tables
from refless.job import job

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    outputs = next(iter(files.outputs), None)
    given = gather(outputs, params.predictions, params.untrained)
    folder = Path(snakemake.output[0]).parent
    write_tables(folder, given, files.published, params.bootstrap, params.missing)
