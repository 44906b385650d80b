"""Correlation over the number of rated outputs: BLEU Neighbors, ΔBLEU, RNN-QE. Stage: figure."""

from pathlib import Path

from refless.experiments.rnn_qe.data_size import draw
from refless.experiments.rnn_qe.stored import require_texts
from refless.job import job
from refless.report import figures

with job(snakemake):
    params = snakemake.params
    made = [*snakemake.input.get("outputs", []), *snakemake.input.get("curve", [])]
    require_texts(made, params.folders)
    drawn = draw(
        next(iter(snakemake.input.get("curve", [])), None),
        next(iter(snakemake.input.get("outputs", [])), None),
        snakemake.input.get("predictions", []),
        snakemake.input.table,
        params.settings,
        params.missing,
    )
    figures.save(drawn, Path(snakemake.output[0]).with_suffix(""))
