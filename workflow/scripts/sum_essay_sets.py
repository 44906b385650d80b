"""Neighbors of every test essay in every set's training essays. Stage: prediction."""

from pathlib import Path

from refless.data.task import read_whole_task
from refless.experiments.bleu_neighbors.essays import COLUMNS, write_set_sums
from refless.job import job

with job(snakemake):
    task = read_whole_task(Path(snakemake.input.ratings[0]).parent, COLUMNS)
    write_set_sums(snakemake.output[0], task, dict(snakemake.params.settings), snakemake.threads)
