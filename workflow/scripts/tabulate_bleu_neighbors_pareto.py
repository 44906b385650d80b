"""Thresholds chosen for a floor of coverage, tuned and honest. Stage: table."""

from pathlib import Path

from refless.experiments.bleu_neighbors.pareto import Settings, pareto_table, write_fronts
from refless.job import job
from refless.report.tables import publish

with job(snakemake):
    params = snakemake.params
    table, fronts, notes = pareto_table(
        params.looks,
        params.folders,
        snakemake.input.get("numbers", []),
        params.models,
        Settings(**params.settings),
        params.deals,
    )
    publish(
        "bleu_neighbors_pareto",
        table,
        Path(snakemake.output.table[0]).parent,
        missing=params.missing,
        facts={**params.settings, "folds": params.folds},
        notes=notes,
    )
    write_fronts(snakemake.output.fronts, fronts, table, snakemake.output.table[0])
