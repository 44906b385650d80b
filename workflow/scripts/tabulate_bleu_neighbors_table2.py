"""Table 2 of BLEU Neighbors: trained on one data set, scored on another. Stage: table."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.experiments.bleu_neighbors.neighbors import read_predicted
    from refless.experiments.bleu_neighbors.table2 import read_pairs, table2
    from refless.experiments.published import read_published
    from refless.report.tables import publish

    given, params = snakemake.input, snakemake.params
    limits = params.thresholds
    folders = dict.fromkeys(Path(path).parent for path in given.ratings)
    tasks = read_predicted(folders, given.get("predictions", []), **limits)
    pairs = read_pairs(given.get("estimates", []), tasks, **limits)
    published = read_published(given.published)
    publish(
        "bleu_neighbors_table2",
        table2(params.styles, tasks, pairs, published, params.kernels, **params.bootstrap),
        Path(snakemake.output[0]).parent,
        missing=params.missing,
        facts=limits,
    )
