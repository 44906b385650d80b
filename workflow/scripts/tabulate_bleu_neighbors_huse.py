"""HUSE of each batch, with human and with predicted quality. Stage: table."""

from pathlib import Path

from refless.experiments.bleu_neighbors.huse import huse_table, read_batches
from refless.experiments.bleu_neighbors.table1 import Settings
from refless.job import job
from refless.report.tables import publish

with job(snakemake):
    params = snakemake.params
    batches, notes = read_batches(
        params.folders,
        snakemake.input.get("batches", []),
        snakemake.input.get("predictions", []),
        params.kernel,
        params.taus,
    )
    publish(
        "bleu_neighbors_huse",
        huse_table(params.looks, batches, Settings(**params.settings), params.neighbors),
        Path(snakemake.output[0]).parent,
        missing=params.missing,
        facts={**params.settings, "neighbors": params.neighbors},
        notes=notes,
    )
