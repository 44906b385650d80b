"""Every set of essays as the test set, from every set's training essays. Stage: table."""

from pathlib import Path

from refless.data.task import text_sums
from refless.experiments.bleu_neighbors.table1 import Settings
from refless.experiments.bleu_neighbors.table3 import essays_table, read_set_sums
from refless.job import job
from refless.report.tables import publish

with job(snakemake):
    params = snakemake.params
    sums, notes = read_set_sums(
        next(iter(snakemake.input.sums), None), params.settings, text_sums(params.folders)
    )
    publish(
        "bleu_neighbors_essays",
        essays_table(sums, Settings(**params.thresholds)),
        Path(snakemake.output[0]).parent,
        missing=params.missing,
        facts={**params.thresholds, **params.settings["selection"]},
        notes=notes,
    )
