"""Estimate the texts of one data set from the rated texts of another. Stage: prediction."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.data.task import read_task
    from refless.experiments.bleu_neighbors.table2 import write_cross_estimates

    write_cross_estimates(
        output(snakemake.output[0]),
        read_task(Path(snakemake.input.source[0]).parent, whole=True),
        read_task(Path(snakemake.input.target[0]).parent, whole=True),
        snakemake.params.taus,
        snakemake.threads,
    )
