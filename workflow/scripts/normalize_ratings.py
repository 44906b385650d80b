"""Turn a data set's raw files into the tidy tables of rated texts and ratings. Stage: ratings."""

from pathlib import Path

from refless.data.normalize import normalize
from refless.job import job

with job(snakemake):
    normalize(
        snakemake.wildcards.task,
        snakemake.params.loader,
        dict(zip(snakemake.params.files, snakemake.input, strict=True)),
        snakemake.params.files,
        snakemake.params.options,
        Path(snakemake.output.texts).parent,
        rated_for=snakemake.params.rated_for,
    )
