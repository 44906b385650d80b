"""Numbers about the rated outputs, for RNN-QE's tables; no text is in them. Stage: prediction."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.experiments.rnn_qe.baselines import write_outputs

    params, folders = snakemake.params, Path("results/ratings")
    write_outputs(
        output(snakemake.output.outputs),
        output(snakemake.output.curve),
        folders / params.rated[0],
        [folders / dataset for dataset in params.references],
        params.data,
        snakemake.threads,
    )
