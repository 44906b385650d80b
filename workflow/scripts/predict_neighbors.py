"""Mean and number of each text's neighbors, leave-one-out. Stage: prediction."""

from pathlib import Path

from refless.data.task import read_task
from refless.experiments.bleu_neighbors.neighbors import write_predictions
from refless.job import job

with job(snakemake):
    write_predictions(
        snakemake.output[0],
        read_task(Path(snakemake.input.ratings[0]).parent),
        snakemake.input.get("kernels", []),
        snakemake.params.taus,
        snakemake.params.options,
    )
