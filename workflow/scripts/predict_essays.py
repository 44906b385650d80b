"""Estimate the test essays from each training set, under each recipe. Stage: prediction.

One job serves all recipes: they share the kernels, and an estimate is a matter of milliseconds.
"""

from pathlib import Path

from refless.data.normalize import read_raw
from refless.data.task import read_whole_task
from refless.experiments.bleu_neighbors.essays import COLUMNS, write_estimates
from refless.job import job

with job(snakemake):
    params = snakemake.params
    task = read_whole_task(Path(snakemake.input.ratings[0]).parent, COLUMNS)

    def read_again(quoting):
        options = {**params.options, "quoting": quoting}
        return read_raw(task.name, params.loader, params.files, options)[0].texts

    write_estimates(snakemake.output[0], task, read_again, dict(params.settings), snakemake.threads)
