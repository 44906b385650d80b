"""RNN-QE: all its tables, from one reading of outputs and predictions. Stage: table."""

from pathlib import Path

from refless.experiments.rnn_qe.runs import gather, require_texts
from refless.experiments.rnn_qe.tables import write_tables
from refless.job import job

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    require_texts(files.get("outputs", []), params.folders, params.tasks)
    given = gather(
        next(iter(files.get("outputs", [])), None),
        files.get("predictions", []),
        params.data,
        params.missing,
        params.untrained,
    )
    folder = Path(snakemake.output[0]).parent
    write_tables(folder, given, files.published, params.datasets, params.bootstrap, params.seeds)
