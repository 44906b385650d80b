"""Spearman's rho and coverage over the data size (figure 4 of BLEU Neighbors). Stage: figure."""

from pathlib import Path

from refless.experiments.bleu_neighbors.curves import average_annotators, read_curves
from refless.job import job
from refless.report import figures

with job(snakemake):
    given, params = snakemake.input, snakemake.params
    sizes, thresholds = given.get("sizes", []), given.get("thresholds", [])
    curves = read_curves(sizes, "data size curve", params.settings, params.folders)
    sweep = dict.fromkeys(params.looks, params.sweep)
    thresholds = read_curves(thresholds, "threshold curves", sweep, params.folders)
    human = {k: v for k, v in average_annotators(thresholds).items() if k in curves}
    drawn = figures.data_size_figure(curves, params.looks, human)
    figures.save(drawn, Path(snakemake.output[0]).with_suffix(""))
