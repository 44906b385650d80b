"""Correlation over the number of rated outputs: BLEU Neighbors, RNN-QE. Stage: figure."""

from pathlib import Path

from refless.experiments.rnn_qe.curve import TABLE_COLUMNS, draw
from refless.experiments.rnn_qe.runs import gather, read_curve, require_texts
from refless.job import job
from refless.report import figures
from refless.report.tables import read_published

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    outputs, curve = (next(iter(files.get(name, [])), None) for name in ("outputs", "curve"))
    require_texts(filter(None, [outputs, curve]), params.folders, params.tasks)
    given = gather(outputs, files.get("predictions", []), params.settings["data"], params.missing)
    drawn = draw(
        read_curve(curve, params.settings) if curve else None,
        given,
        read_published(files.table, TABLE_COLUMNS),
    )
    figures.save(drawn[0], Path(snakemake.output[0]).with_suffix(""), drawn[1])
