"""Bring shipped files to their place in results, each verified. Stage: none."""

from snakemake.script import snakemake

from refless.job import job
from refless.store.shipping import take

with job(snakemake):
    take(snakemake.params.sources, snakemake.output)
