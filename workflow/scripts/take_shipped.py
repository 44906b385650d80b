"""Bring shipped files to their place in results, each verified. Stage: none."""

from refless.job import job
from refless.store.shipping import take

with job(snakemake):
    take(snakemake.params.sources, snakemake.output)
