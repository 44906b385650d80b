"""Table 1 and section 5.3 of BLEU Neighbors, from the same predictions. Stage: table."""

from pathlib import Path

from refless.experiments.bleu_neighbors.section53 import section53
from refless.experiments.bleu_neighbors.table1 import KEYS, Settings, read_tasks, table1
from refless.job import job
from refless.report.published import read_published
from refless.report.tables import publish

with job(snakemake):
    params = snakemake.params
    tasks, notes = read_tasks(params.folders, snakemake.input.get("predictions", []))
    for name, function, published in (
        ("bleu_neighbors_table1", table1, snakemake.input.published),
        ("bleu_neighbors_section53", section53, snakemake.input.section53),
    ):
        beside = read_published(published, KEYS)
        publish(
            name,
            function(params.looks, tasks, beside, Settings(**params.settings)),
            Path(snakemake.output[0]).parent,
            missing=params.missing,
            facts=params.settings,
            notes=notes,
        )
