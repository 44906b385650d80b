"""Count the published cells of BLEU Neighbors by how far ours agree. Stage: table."""

from pathlib import Path

from refless.experiments.bleu_neighbors.agreement import (
    agreement_cells,
    agreement_counts,
    read_tables,
)
from refless.job import job
from refless.report.tables import publish

with job(snakemake):
    ours, published = read_tables(snakemake.input.tables, snakemake.input.published)
    cells = agreement_cells(ours, published, snakemake.params.looks)
    folder = Path(snakemake.output[0]).parent
    notes = [f"from `{Path(path).name}`" for path in snakemake.input.tables]
    publish("bleu_neighbors_agreement", agreement_counts(cells), folder, notes=notes)
    publish("bleu_neighbors_agreement_cells", cells, folder, notes=notes)
