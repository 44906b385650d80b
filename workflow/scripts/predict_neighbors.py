"""Compute mean and number of each text's neighbors, leave-one-out. Stage: prediction."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.data.task import read_task
    from refless.experiments.bleu_neighbors.neighbors import write_neighbors

    write_neighbors(
        output(snakemake.output[0]),
        read_task(Path(snakemake.input.ratings[0]).parent),
        snakemake.wildcards.kernel,
        snakemake.input.kernels,
        snakemake.params.tau,
        dict(snakemake.params.options),
    )
