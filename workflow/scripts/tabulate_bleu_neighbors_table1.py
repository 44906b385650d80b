"""Table 1 and section 5.3 of BLEU Neighbors, and the annotators' reliability. Stage: table."""

from pathlib import Path

from refless.experiments.bleu_neighbors.section53 import section53
from refless.experiments.bleu_neighbors.table1 import (
    KEYS,
    Settings,
    read_tasks,
    reliability_table,
    table1,
)
from refless.job import job
from refless.report.published import read_published
from refless.report.tables import publish

with job(snakemake):
    given, params = snakemake.input, snakemake.params
    settings = Settings(**params.settings)
    tasks, notes = read_tasks(
        params.folders,
        given.get("predictions", []),
        params.taus,
        baselines=given.get("baselines", []),
        baseline_settings=params.baselines,
    )
    published = read_published(given.published, KEYS)
    section = read_published(given.section53, KEYS)
    for name, made in (
        ("bleu_neighbors_table1", table1(params.looks, tasks, published, settings)),
        ("bleu_neighbors_section53", section53(params.looks, tasks, section, settings)),
        ("bleu_neighbors_reliability", reliability_table(params.looks, tasks, settings)),
    ):
        publish(
            name,
            made,
            Path(snakemake.output[0]).parent,
            missing=params.missing,
            facts=params.settings | {"quarter": max(1, settings.draws // 4)},
            notes=notes,
        )
