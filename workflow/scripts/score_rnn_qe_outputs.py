"""Numbers about the rated outputs, for RNN-QE's tables; no text is in them. Stage: prediction."""

from pathlib import Path

from refless.data.obtain import verify_resources
from refless.experiments.rnn_qe.stored import write_outputs
from refless.job import job

with job(snakemake):
    params, folders = snakemake.params, Path("results/ratings")
    verify_resources(params.options)
    write_outputs(
        snakemake.output.outputs,
        snakemake.output.curve,
        folders / params.rated[0],
        [folders / task for task in params.references],
        params.settings,
        params.options,
        snakemake.threads,
    )
