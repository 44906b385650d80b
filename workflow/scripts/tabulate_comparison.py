"""Every method on every data set. Stage: table."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.experiments.comparison import comparison_table
    from refless.report.tables import publish

    params = snakemake.params
    publish(
        "comparison",
        comparison_table(params.tasks, snakemake.input),
        Path(snakemake.output[0]).parent,
        missing=params.missing,
    )
