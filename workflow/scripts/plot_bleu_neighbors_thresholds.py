"""Spearman's rho and coverage over a and b (figures 2 and 3 of BLEU Neighbors). Stage: figure."""

from pathlib import Path

from refless.experiments.bleu_neighbors.curves import average_annotators, read_curves
from refless.job import job
from refless.report import figures

with job(snakemake):
    params = snakemake.params
    settings = dict.fromkeys(params.looks, params.settings)
    curves = read_curves(
        snakemake.input.get("curves", []), "threshold curves", settings, params.folders
    )
    human = average_annotators(curves)
    for column, label, shaded in (
        ("spearman", "Spearman's $\\rho$", human),
        ("coverage", "coverage", None),
    ):
        drawn = figures.threshold_figure(
            curves, params.looks, column, label, params.settings, human=shaded
        )
        figures.save(drawn, Path(snakemake.output[column][0]).with_suffix(""))
