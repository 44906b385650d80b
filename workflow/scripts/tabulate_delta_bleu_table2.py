"""Table 2 of ΔBLEU, with the tests of metrics against each other. Stage: table."""

from pathlib import Path

from refless.data.task import rated_sums
from refless.experiments.delta_bleu.table2 import (
    KEYS,
    NOT_PUBLIC,
    comparison_table,
    finding,
    read_units,
    table2,
)
from refless.job import job
from refless.report.published import read_published
from refless.report.tables import publish

with job(snakemake):
    params, given = snakemake.params, snakemake.input
    units = read_units(
        given.get("units", []),
        given.get("tests", []),
        params.settings,
        rated_sums(params.folders),
    )
    published = read_published(given.published, KEYS)
    tests = comparison_table(params.looks, units)
    for name, table in (
        ("delta_bleu_table2", table2(params.looks, units, published)),
        ("delta_bleu_table2_tests", tests),
    ):
        publish(
            name,
            table,
            Path(snakemake.output[0]).parent,
            missing=[*params.missing, NOT_PUBLIC],
            facts={**params.facts, "finding": finding(params.looks, tests)},
            notes=[note for own in units.values() for note in own.notes],
        )
