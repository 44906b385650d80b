"""Compute a kernel of a data set's texts, or a block of its rows. Stage: kernel."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.data.task import read_task
    from refless.experiments.bleu_neighbors.matrices import write_kernel
    from refless.fetch.raw_files import verify_kernel

    name = snakemake.wildcards.kernel
    options = dict(snakemake.params.options)
    verify_kernel(name, options)
    write_kernel(
        output(snakemake.output[0]),
        read_task(Path(snakemake.input.ratings[0]).parent, whole=True),
        name,
        options,
        snakemake.threads,
    )
