"""What HUSE needs of each item of a batch: labels, log-probability, length. Stage: prediction."""

from pathlib import Path

from refless.data.task import read_whole_task
from refless.experiments.bleu_neighbors.huse import write_huse_items
from refless.job import job

with job(snakemake):
    write_huse_items(snakemake.output[0], read_whole_task(Path(snakemake.input[0]).parent))
