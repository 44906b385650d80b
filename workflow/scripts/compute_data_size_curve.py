"""Spearman and coverage on random subsets of the data (figure 4). Stage: cell."""

from pathlib import Path

from refless.data.task import read_task
from refless.experiments.bleu_neighbors.curves import write_data_size_curve
from refless.job import job

with job(snakemake):
    task = read_task(Path(snakemake.input.ratings[0]).parent)
    write_data_size_curve(
        snakemake.output[0],
        task,
        snakemake.input.kernel,
        dict(snakemake.params.settings),
        snakemake.threads,
    )
