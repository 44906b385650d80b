"""RNN-QE: all its tables, from one reading of outputs and predictions. Stage: table."""

from pathlib import Path

from refless.experiments.rnn_qe import claims, counts, tables, training, ways
from refless.experiments.rnn_qe.stored import gather, require_texts
from refless.job import job

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    require_texts(files.get("outputs", []), params.folders, params.tasks)
    given = gather(
        next(iter(files.get("outputs", [])), None),
        files.get("predictions", []),
        params.settings,
        params.missing,
        params.untrained,
    )
    folder = Path(snakemake.output[0]).parent
    results = dict(zip(params.experiments, files.published[2:], strict=True))
    counts.write_tables(folder, given, files.published[:2], params.datasets)
    training.write_table(folder, given, params.names)
    ways.write_table(folder, given, results, params.bootstrap)
    for experiment, published in results.items():
        tables.write_tables(
            folder, given, experiment, published, params.kernels, params.bootstrap, params.lacking
        )
    claims.write_tables(folder, files.published[2:], files.differences, params.missing)
