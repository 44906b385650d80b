"""ΔBLEU as an estimate of quality, beside kernels and BLEU Neighbors. Stage: table."""

from pathlib import Path

from refless.data.task import rated_sums
from refless.experiments.delta_bleu.predictor_table import predictor_table, read_predictors
from refless.job import job
from refless.report.tables import publish

with job(snakemake):
    params = snakemake.params
    found, notes = read_predictors(
        snakemake.input.get("rows", []), params.settings, rated_sums(params.folders)
    )
    publish(
        "delta_bleu_predictor",
        predictor_table(params.looks, found, params.kernels),
        Path(snakemake.output[0]).parent,
        missing=params.missing,
        facts=params.facts,
        notes=notes,
    )
