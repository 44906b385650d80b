"""Compute a kernel of a data set's texts, or one shard of it, or put its shards together. Stage: kernel."""

from pathlib import Path

from snakemake.script import snakemake

from refless.data.task import read_task
from refless.experiments.bleu_neighbors.kernel_files import gather, write_kernel
from refless.job import job

with job(snakemake):
    shards = snakemake.input.get("shards")
    shards = Path(shards).read_text(encoding="utf-8").split("\n")[:-1] if shards else []
    if shards:
        gather(shards, snakemake.output[0])
    else:
        write_kernel(
            snakemake.output[0],
            read_task(Path(snakemake.input.ratings[0]).parent),
            snakemake.wildcards.kernel,
            snakemake.params.decided_by["options"],
            tau=snakemake.params.decided_by["tau"],
            shard=snakemake.wildcards.get("scatteritem"),
            threads=snakemake.threads,
        )
