"""Table 3, 4 or 5 of RNN-QE, with Williams' tests. Stage: table."""

from pathlib import Path

from refless.experiments.rnn_qe.stored import require_texts
from refless.experiments.rnn_qe.tables import write_tables
from refless.job import job

with job(snakemake):
    params = snakemake.params
    require_texts(snakemake.input.get("outputs", []), params.folders)
    write_tables(
        params.experiment,
        Path(snakemake.output[0]).with_suffix(""),
        next(iter(snakemake.input.get("outputs", [])), None),
        snakemake.input.get("predictions", []),
        snakemake.input.published,
        params.settings,
        params.kernels,
        params.bootstrap,
        params.missing,
        snakemake.input.ways,
    )
