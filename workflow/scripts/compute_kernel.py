"""Compute a kernel of a data set's texts, or a shard of it, or gather its shards. Stage: kernel."""

from pathlib import Path

from refless.data.fetch import verify_resources
from refless.data.task import read_whole_task
from refless.experiments.bleu_neighbors.neighbors import gather, write_kernel
from refless.job import job

with job(snakemake):
    shards = snakemake.input.get("shards", [])
    if shards:
        gather(shards, snakemake.output[0])
    else:
        options = snakemake.params.decided_by["options"]
        verify_resources({snakemake.wildcards.kernel: options})
        write_kernel(
            snakemake.output[0],
            read_whole_task(Path(snakemake.input.ratings[0]).parent),
            snakemake.wildcards.kernel,
            options,
            tau=snakemake.params.decided_by["tau"],
            shard=snakemake.wildcards.get("scatteritem"),
            threads=snakemake.threads,
        )
