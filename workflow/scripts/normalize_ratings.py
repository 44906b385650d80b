"""Turn a data set's raw files into the tidy tables of rated texts and ratings. Stage: ratings."""

from pathlib import Path

from refless.data.normalize import normalize
from refless.job import job

with job(snakemake):
    entry = snakemake.params.entry
    normalize(
        snakemake.wildcards.task,
        entry["loader"],
        dict(zip(entry["files"], snakemake.input, strict=True)),
        entry["files"],
        entry["options"],
        Path(snakemake.output.texts).parent,
        rated_for=snakemake.params.rated_for,
    )
