"""Training, validation and test data of RNN-QE, one signed CSV a fold. Stage: prediction."""

from refless.experiments.rnn_qe.stored import write_data
from refless.job import job

with job(snakemake):
    params = snakemake.params
    write_data(
        snakemake.output[0],
        snakemake.wildcards.name,
        params.rated,
        params.references,
        params.data,
        params.subsets,
    )
