"""Train RNN-QE on the folds of one set-up, all folds and seeds together. Stage: prediction."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    # Only here, so that a missing torch is one clear line.
    from refless.experiments.rnn_qe.trainer import write_training
    from refless.models.rnn_qe.training import Run

    how = snakemake.params.training
    name = snakemake.wildcards.name
    write_training(
        snakemake.output.predictions,
        snakemake.output.models,
        snakemake.input[0],
        how["schedule"],
        how["seeds"],
        Run(
            device=snakemake.params.device,
            workers=snakemake.threads,
            checkpoints=Path("results/rnn_qe/checkpoints", name),
            keep=how["long"],
        ),
    )
