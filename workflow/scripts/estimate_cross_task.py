"""Estimate the texts of one data set from the rated texts of another. Stage: prediction."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.data.task import read_task
    from refless.experiments.bleu_neighbors.table2 import write_cross_estimates

    source, target = (
        read_task(Path(ratings[0]).parent, whole=True)
        for ratings in (snakemake.input.source, snakemake.input.target)
    )
    write_cross_estimates(
        output(snakemake.output[0]),
        source,
        target,
        snakemake.params.taus,
        snakemake.threads,
    )
