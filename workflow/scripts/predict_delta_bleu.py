"""Estimate quality by ΔBLEU, kernels and BLEU Neighbors from the same context. Stage: cell."""

from pathlib import Path

from refless.data.obtain import verify_resources
from refless.data.task import read_whole_task
from refless.experiments.delta_bleu.predictor import write_predictor
from refless.job import job

with job(snakemake):
    options = snakemake.params.options
    verify_resources(options)
    write_predictor(
        snakemake.output[0],
        read_whole_task(Path(snakemake.input.ratings[0]).parent),
        [read_whole_task(folder) for folder in snakemake.params.references],
        snakemake.params.settings,
        options,
    )
