"""Training, validation and test data of RNN-QE, one signed CSV a fold. Stage: prediction."""

from pathlib import Path

from refless.experiments.rnn_qe.runs import write_data
from refless.job import job

with job(snakemake):
    params, folders = snakemake.params, Path("results/ratings")
    write_data(
        snakemake.output[0],
        snakemake.wildcards.name,
        folders / params.rated[0],
        [folders / task for task in params.references],
        params.data,
    )
