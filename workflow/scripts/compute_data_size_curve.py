"""Compute rho and coverage on random subsets of a data set (figure 4). Stage: cell."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.data.task import read_task
    from refless.experiments.bleu_neighbors.curves import write_data_size_curve

    write_data_size_curve(
        output(snakemake.output[0]),
        read_task(Path(snakemake.input.ratings[0]).parent),
        snakemake.input.kernels,
        dict(snakemake.params.settings),
    )
