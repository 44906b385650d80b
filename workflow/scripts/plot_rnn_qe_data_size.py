"""Correlation over the number of rated outputs: BLEU Neighbors, ΔBLEU, RNN-QE. Stage: figure."""

from pathlib import Path

from refless.experiments.rnn_qe.data_size import draw
from refless.experiments.rnn_qe.stored import gather, require_texts
from refless.job import job
from refless.report import figures

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    require_texts(
        [*files.get("outputs", []), *files.get("curve", [])], params.folders, params.tasks
    )
    given = gather(
        next(iter(files.get("outputs", [])), None),
        files.get("predictions", []),
        params.settings,
        params.missing,
    )
    drawn = draw(next(iter(files.get("curve", [])), None), given, files.table)
    figures.save(drawn, Path(snakemake.output[0]).with_suffix(""))
