"""Compare every method on one data set. Stage: cell."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.data.task import read_task
    from refless.experiments.comparison import compare_task
    from refless.fetch.raw_files import verify_kernel

    params = snakemake.params
    for kernel, options in params.options.items():
        verify_kernel(kernel, options)
    compare_task(
        output(snakemake.output[0]),
        read_task(Path(snakemake.input.ratings[0]).parent, whole=True),
        params.settings,
        params.options,
        next(iter(snakemake.input.get("networks", [])), None),
        snakemake.threads,
        params.human_systems,
    )
