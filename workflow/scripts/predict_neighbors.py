"""Estimate each text's quality from its neighbors, leave-one-out. Stage: prediction."""

from pathlib import Path

from refless.data.task import read_task
from refless.experiments.bleu_neighbors.stored import write_predictions
from refless.job import job

with job(snakemake):
    task = read_task(Path(snakemake.input.ratings[0]).parent)
    write_predictions(
        snakemake.output[0],
        task,
        snakemake.input.get("kernels", []),
        snakemake.params.taus,
        snakemake.params.options,
    )
