"""RNN-QE: one way of training beside another. Stage: table."""

from pathlib import Path

from refless.experiments.rnn_qe.ways import write_table
from refless.job import job

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    write_table(
        Path(snakemake.output[0]).parent,
        next(iter(files.get("outputs", [])), None),
        files.get("predictions", []),
        dict(zip(params.experiments, files.published, strict=True)),
        params.settings,
        params.bootstrap,
        params.missing,
    )
