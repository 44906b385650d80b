"""Numbers about the rated outputs, for RNN-QE's tables; no text is in them. Stage: prediction."""

from refless.data.obtain import verify_resources
from refless.experiments.rnn_qe.stored import write_outputs
from refless.job import job

with job(snakemake):
    params = snakemake.params
    verify_resources(params.options, "resources")
    write_outputs(
        snakemake.output.outputs,
        snakemake.output.curve,
        params.rated,
        params.references,
        params.settings,
        params.options,
        snakemake.threads,
    )
