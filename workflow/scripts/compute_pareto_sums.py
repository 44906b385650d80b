"""Neighbors of a data set's texts at many taus, in each fold's texts. Stage: prediction."""

from pathlib import Path

from refless.data.obtain import verify_resources
from refless.data.task import read_whole_task
from refless.experiments.bleu_neighbors.pareto import write_pareto_sums
from refless.job import job

with job(snakemake):
    kernel, options = snakemake.wildcards.kernel, snakemake.params.options
    verify_resources({kernel: options})
    write_pareto_sums(
        snakemake.output[0],
        read_whole_task(Path(snakemake.input.ratings[0]).parent),
        kernel,
        options,
        snakemake.params.settings,
        snakemake.threads,
    )
