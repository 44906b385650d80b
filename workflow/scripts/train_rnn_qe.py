"""Train RNN-QE on all folds of one set-up, with one seed. Stage: prediction."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.experiments.rnn_qe.runs import write_predictions

    params, folders = snakemake.params, Path("results/ratings")
    write_predictions(
        output(snakemake.output[0]),
        snakemake.wildcards.name,
        int(snakemake.wildcards.seed),
        folders / params.rated[0],
        [folders / dataset for dataset in params.references],
        params.data,
        params.device,
    )
