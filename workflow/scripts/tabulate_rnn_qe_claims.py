"""RNN-QE: claims about significance, and where text and code differ. Stage: table."""

from pathlib import Path

from refless.experiments.rnn_qe.claims import write_tables
from refless.job import job

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    write_tables(
        Path(snakemake.output[0]).parent,
        files.tests,
        files.published,
        files.table,
        files.differences,
        files.ways,
        params.missing,
    )
