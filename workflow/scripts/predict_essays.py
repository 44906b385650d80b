"""Compute mean and number of each test essay's neighbors by training set. Stage: prediction."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.data.task import read_task
    from refless.errors import SettingError
    from refless.experiments.bleu_neighbors.essays import ESSAY_COLUMNS, essay_estimates
    from refless.store import sealed

    if not snakemake.input.ratings:
        raise SettingError("no data set is used for essays", remedy="name it in its `experiments`")
    dataset = read_task(Path(snakemake.input.ratings[0]).parent, ESSAY_COLUMNS, whole=True)
    sealed.write(output(snakemake.output[0]), essay_estimates(dataset.texts, snakemake.threads))
