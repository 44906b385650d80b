"""Predict with one part of the variants of BLEU Neighbors. Stage: prediction.

One job serves all variants that need texts alone: they share texts and neighbors.
"""

from pathlib import Path

from refless.data.obtain import verify_resources
from refless.data.task import read_whole_task
from refless.experiments.bleu_neighbors.ablation import Settings, write_ablation
from refless.job import job

with job(snakemake):
    verify_resources(snakemake.params.kernels)
    write_ablation(
        snakemake.output[0],
        read_whole_task(Path(snakemake.input.ratings[0]).parent),
        snakemake.params.kernels,
        Settings(**snakemake.params.settings),
        snakemake.threads,
    )
