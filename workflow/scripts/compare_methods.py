"""Compare every method on one data set. Stage: cell."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.data.fetch import verified
    from refless.data.places import WORDNET
    from refless.data.task import read_task
    from refless.experiments.comparison import compare_task

    params = snakemake.params
    for options in params.options.values():
        if "wordnet" in options:
            verified({WORDNET: options["wordnet"]})
    compare_task(
        snakemake.output[0],
        read_task(Path(snakemake.input.ratings[0]).parent, whole=True),
        params.settings,
        params.options,
        next(iter(snakemake.input.get("networks", [])), None),
        snakemake.threads,
        params.human_systems,
    )
