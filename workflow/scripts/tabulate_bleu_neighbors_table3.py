"""Table 3 of BLEU Neighbors (essays), with Williams' test and the sensitivity. Stage: table."""

from pathlib import Path

from refless.data.task import text_sums
from refless.experiments.bleu_neighbors.table1 import Settings
from refless.experiments.bleu_neighbors.table3 import (
    KEYS,
    read_estimates,
    sensitivity_table,
    table3,
    williams_table,
)
from refless.job import job
from refless.report.published import read_published
from refless.report.tables import publish

with job(snakemake):
    params = snakemake.params
    numbers, notes = read_estimates(
        next(iter(snakemake.input.estimates), None), params.settings, text_sums(params.folders)
    )
    published = read_published(snakemake.input.published, KEYS)
    settings, changes = Settings(**params.thresholds), params.settings["changes"]
    for name, table in {
        "bleu_neighbors_table3": table3(numbers, published, settings),
        "bleu_neighbors_table3_williams": williams_table(numbers, published, settings),
        "bleu_neighbors_table3_sensitivity": sensitivity_table(
            numbers, changes, published, settings
        ),
    }.items():
        publish(
            name,
            table,
            Path(snakemake.output[0]).parent,
            missing=params.missing,
            facts={**params.thresholds, **params.settings["selection"]},
            notes=notes,
        )
