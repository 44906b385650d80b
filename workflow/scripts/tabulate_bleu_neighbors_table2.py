"""Table 2 of BLEU Neighbors: trained on one data set, scored on another. Stage: table."""

from pathlib import Path

from refless.experiments.bleu_neighbors.table1 import Settings
from refless.experiments.bleu_neighbors.table2 import KEYS, read_pairs, table2
from refless.job import job
from refless.report.published import read_published
from refless.report.tables import publish

with job(snakemake):
    params = snakemake.params
    settings = Settings(**params.settings)
    estimates = snakemake.input.get("estimates", [])
    pairs, notes = read_pairs(estimates, params.folders, params.taus)
    published = read_published(snakemake.input.published, KEYS)
    publish(
        "bleu_neighbors_table2",
        table2(params.looks, pairs, published, settings),
        Path(snakemake.output[0]).parent,
        missing=params.missing,
        facts=params.settings,
        notes=notes,
    )
