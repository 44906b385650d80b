"""Spearman and coverage as the thresholds a and b move (figures 2 and 3). Stage: cell."""

from pathlib import Path

from refless.data.task import read_task
from refless.experiments.bleu_neighbors.curves import write_threshold_curves
from refless.job import job

with job(snakemake):
    task = read_task(Path(snakemake.input.ratings[0]).parent)
    write_threshold_curves(
        snakemake.output[0], task, snakemake.input.kernel, **snakemake.params.settings
    )
