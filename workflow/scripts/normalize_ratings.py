"""Turn a data set's raw files into the tidy tables of rated texts and ratings. Stage: ratings."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.data import sources
    from refless.data.task import write_task
    from refless.fetch.raw_files import verified

    params, raw = snakemake.params, list(snakemake.input)
    files = params.entry["files"]
    sums = verified(dict(zip(files.values(), raw, strict=True)))
    data = sources.load(
        params.entry["loader"],
        snakemake.wildcards.dataset,
        dict(zip(files, raw, strict=True)),
        params.entry["options"],
        params.rated_for,
    )
    write_task(data, Path(snakemake.output.texts).parent, sums)
