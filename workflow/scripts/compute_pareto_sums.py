"""Neighbors of a data set's texts at many taus, in each fold's texts. Stage: prediction."""

from pathlib import Path

from snakemake.script import snakemake

from refless.data.task import read_task
from refless.experiments.bleu_neighbors.pareto import write_pareto_sums
from refless.job import job

with job(snakemake):
    write_pareto_sums(
        snakemake.output[0],
        read_task(Path(snakemake.input.ratings[0]).parent),
        snakemake.wildcards.kernel,
        snakemake.params.options,
        snakemake.params.settings,
        snakemake.threads,
    )
