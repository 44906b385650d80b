"""Table 1 of BLEU Neighbors: models and annotators on each data set. Stage: table."""

from pathlib import Path


from refless.experiments.bleu_neighbors.table1 import KEYS, Settings, read_tasks, table1
from refless.job import job
from refless.report.published import read_published
from refless.report.tables import publish

with job(snakemake):
    params = snakemake.params
    tasks, notes = read_tasks(params.folders, snakemake.input.get("predictions", []))
    published = read_published(snakemake.input.published, KEYS)
    publish(
        "bleu_neighbors_table1",
        table1(params.looks, tasks, published, Settings(**params.settings)),
        Path(snakemake.output[0]).parent,
        missing=params.missing,
        facts=params.settings,
        notes=notes,
    )
