"""The model that comes with refless, and its card. Stage: prediction."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    # Only here, so that a missing torch is one clear line.
    from refless.experiments.rnn_qe.trainer import write_shipped_model
    from refless.models.rnn_qe.training import Run

    write_shipped_model(
        snakemake.output.model,
        snakemake.output.card,
        Path("results/ratings", snakemake.params.rated[0]),
        Run(together=3, workers=snakemake.threads),
    )
