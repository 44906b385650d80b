"""Table 2 of BLEU Neighbors: trained on one data set, scored on another. Stage: table."""

from pathlib import Path

from refless.experiments.bleu_neighbors.neighbors import read_predicted
from refless.experiments.bleu_neighbors.table2 import read_pairs, table2
from refless.job import job
from refless.report.published import read_published
from refless.report.tables import publish

with job(snakemake):
    given, params = snakemake.input, snakemake.params
    own = params.settings
    predicted = read_predicted(params.folders, given.get("predictions", []))
    pairs = read_pairs(given.get("estimates", []), own["a"], own["b"])
    published = read_published(given.published, ["source_task", "target_task"])
    publish(
        "bleu_neighbors_table2",
        table2(params.looks, predicted, pairs, published, params.kernels, **own),
        Path(snakemake.output[0]).parent,
        missing=params.missing,
        facts=own,
    )
