"""Copy computed numbers to resources/shipped: no text is in them. Stage: none."""

from refless.job import job
from refless.store.shipping import ship

with job(snakemake):
    ship(snakemake.input, "results", "resources/shipped")
