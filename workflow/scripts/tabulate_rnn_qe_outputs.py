"""RNN-QE: tables 1 and 2, which count, and how the models were trained. Stage: table."""

from pathlib import Path

from refless.experiments.rnn_qe import counts, training
from refless.experiments.rnn_qe.stored import require_texts
from refless.job import job

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    require_texts(snakemake.input.get("outputs", []), params.folders)
    folder = Path(snakemake.output[0]).parent
    outputs = next(iter(files.get("outputs", [])), None)
    counts.write_tables(
        folder, outputs, files.published, params.datasets, params.settings, params.missing
    )
    training.write_table(
        folder,
        outputs,
        files.get("predictions", []),
        params.names,
        params.settings,
        [*params.missing, *params.untrained],
    )
