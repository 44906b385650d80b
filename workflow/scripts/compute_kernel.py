"""Compute a kernel of a data set's texts, or a block of its rows. Stage: kernel."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.data.fetch import verified
    from refless.data.places import WORDNET
    from refless.data.task import read_task
    from refless.experiments.bleu_neighbors.matrices import write_kernel

    name, options = snakemake.wildcards.kernel, dict(snakemake.params.options)
    if "wordnet" in options:
        verified({WORDNET: options["wordnet"]})
    write_kernel(
        snakemake.output[0],
        read_task(Path(snakemake.input.ratings[0]).parent, whole=True),
        name,
        options,
        snakemake.threads,
    )
