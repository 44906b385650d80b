"""Mean and number of each test essay's neighbors in each training set. Stage: prediction."""

from pathlib import Path

from refless.data.task import read_whole_task
from refless.experiments.bleu_neighbors.essays import TEXT_COLUMNS, write_estimates
from refless.job import job

with job(snakemake):
    task = read_whole_task(Path(snakemake.input.ratings[0]).parent, TEXT_COLUMNS)
    write_estimates(snakemake.output[0], task, snakemake.threads)
