"""A table of RNN-QE. Stage: table."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.experiments.rnn_qe.tables import ASIDE, gather, tabulate
    from refless.report.tables import publish

    files, params = snakemake.input, snakemake.params
    path, outputs = Path(snakemake.output[0]), next(iter(files.outputs), None)
    gathered = gather(outputs, params.predictions, params.untrained)
    table = tabulate(path.stem, params.experiment, gathered, files.published, params.bootstrap)
    publish(
        path.stem,
        table.drop(columns=ASIDE, errors="ignore"),
        path.parent,
        missing=params.missing,
        intervals=table.filter(ASIDE),
    )
