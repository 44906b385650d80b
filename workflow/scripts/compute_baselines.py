"""Estimate the texts of a data set by baselines without a kernel. Stage: prediction."""

from pathlib import Path

from refless.data.task import read_whole_task
from refless.experiments.bleu_neighbors.baselines import Settings, write_baselines
from refless.job import job

with job(snakemake):
    write_baselines(
        snakemake.output[0],
        read_whole_task(Path(snakemake.input.ratings[0]).parent),
        Settings(**snakemake.params.settings),
    )
