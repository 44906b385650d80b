"""Table 3 of BLEU Neighbors (essays). Stage: table."""

from pathlib import Path

from refless.experiments.bleu_neighbors.essays import KEYS, table3
from refless.job import job
from refless.report.published import read_published
from refless.report.tables import publish
from refless.store import sealed

with job(snakemake):
    params = snakemake.params
    path = next(iter(snakemake.input.estimates), None)
    file = None if path is None else sealed.read(path)
    publish(
        "bleu_neighbors_table3",
        table3(file, read_published(snakemake.input.published, KEYS), **params.settings),
        Path(snakemake.output[0]).parent,
        missing=params.missing,
    )
