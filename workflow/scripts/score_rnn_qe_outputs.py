"""Numbers about the rated outputs, for RNN-QE's tables; no text is in them. Stage: prediction."""

from snakemake.script import snakemake

from refless.experiments.rnn_qe.stored import write_outputs
from refless.job import job

with job(snakemake):
    params = snakemake.params
    write_outputs(
        snakemake.output.outputs,
        snakemake.output.curve,
        params.rated,
        params.references,
        params.settings,
        params.options,
        snakemake.threads,
    )
