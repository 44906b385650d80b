"""Table 2 of ΔBLEU. Stage: table."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.experiments.delta_bleu.table2 import read_units, table2
    from refless.experiments.published import read_published
    from refless.report.tables import publish

    params, given = snakemake.params, snakemake.input
    units = read_units(given.get("units", []))
    published = read_published(given.published)
    publish(
        "delta_bleu_table2",
        table2(params.tasks, units, published),
        Path(snakemake.output[0]).parent,
        missing=params.missing,
        facts=params.facts,
    )
