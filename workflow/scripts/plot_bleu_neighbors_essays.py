"""Rho for every test set and training set of essays, as a heat map. Stage: figure."""

from pathlib import Path

from refless.job import job
from refless.report import figures
from refless.report.tables import read_published

with job(snakemake):
    columns = ["essays", "test_set", "train_set", "spearman", "length_spearman", "n"]
    table = read_published(snakemake.input[0], columns)
    titles = {
        "whole": "all essays",
        "cut": "essays of {fewest} to {most} sentences".format(**snakemake.params.selection),
    }
    figures.save(figures.set_heat_maps(table, titles), Path(snakemake.output[0]).with_suffix(""))
