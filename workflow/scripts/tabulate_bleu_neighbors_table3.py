"""Table 3 of BLEU Neighbors (essays). Stage: table."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.experiments.bleu_neighbors.essays import table3
    from refless.experiments.published import read_published
    from refless.report.tables import publish
    from refless.store import sealed

    params, given = snakemake.params, snakemake.input
    files = [sealed.read(path) for path in given.estimates]
    published = read_published(given.published)
    publish(
        "bleu_neighbors_table3",
        table3(files[0] if files else None, published, **params.bootstrap),
        Path(snakemake.output[0]).parent,
        missing=params.missing,
    )
