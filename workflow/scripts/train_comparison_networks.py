"""Train RNN-QE on one data set, and write its estimates for the comparison. Stage: prediction."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.data.task import read_task
    from refless.experiments.comparison import write_networks

    dataset = read_task(Path(snakemake.input[0]).parent, whole=True)
    write_networks(output(snakemake.output[0]), dataset, snakemake.params.seed, snakemake.threads)
