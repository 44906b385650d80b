"""Table 2 of ΔBLEU. Stage: table."""

from pathlib import Path

from refless.experiments.delta_bleu.table2 import NOT_PUBLIC, read_rows, table2
from refless.job import job
from refless.report.published import read_published
from refless.report.tables import publish

with job(snakemake):
    params, given = snakemake.params, snakemake.input
    units = read_rows(given.get("units", []))
    publish(
        "delta_bleu_table2",
        table2(params.tasks, units, read_published(given.published, ["metric", "references"])),
        Path(snakemake.output[0]).parent,
        missing=[*params.missing, NOT_PUBLIC],
        facts=params.facts,
    )
