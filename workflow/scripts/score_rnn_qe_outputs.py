"""Write numbers about the rated outputs, for RNN-QE's tables, without text. Stage: prediction."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.experiments.rnn_qe.baselines import write_outputs

    params = snakemake.params
    folders = Path("results/ratings")
    write_outputs(
        output(snakemake.output.outputs),
        output(snakemake.output.curve),
        folders / params.rated[0],
        [folders / dataset for dataset in params.references],
        params.data,
        snakemake.threads,
    )
