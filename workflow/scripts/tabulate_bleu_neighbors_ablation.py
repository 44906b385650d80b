"""What each variant changes against plain BLEU Neighbors, on each data set. Stage: table."""

from pathlib import Path

from refless.experiments.bleu_neighbors.ablation import Settings, ablation_table, read_ablations
from refless.job import job
from refless.report.tables import publish

with job(snakemake):
    given, params = snakemake.input, snakemake.params
    numbers, notes = read_ablations(
        params.folders,
        given.get("numbers", []),
        params.kernels,
        Settings(**params.settings),
        given.get("baselines", []),
        params.baselines,
    )
    publish(
        "bleu_neighbors_ablation",
        ablation_table(params.looks, numbers, params.draws, params.settings["seed"]),
        Path(snakemake.output[0]).parent,
        missing=params.missing,
        facts={**params.settings, "draws": params.draws},
        notes=notes,
    )
