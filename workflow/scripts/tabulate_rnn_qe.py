"""RNN-QE: all its tables, from one reading of outputs and predictions. Stage: table."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.experiments.rnn_qe.tables import ASIDE, gather, tables
    from refless.report.tables import publish

    files, params = snakemake.input, snakemake.params
    outputs = next(iter(files.outputs), None)
    given = gather(outputs, params.predictions, params.untrained)
    for name, table in tables(given, files.published, params.bootstrap).items():
        publish(
            name,
            table.drop(columns=ASIDE, errors="ignore"),
            Path(snakemake.output[0]).parent,
            missing=params.missing,
            intervals=table.filter(ASIDE),
        )
