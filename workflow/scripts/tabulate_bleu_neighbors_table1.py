"""Table 1 of BLEU Neighbors, or its section 5.3. Stage: table."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.experiments.bleu_neighbors.neighbors import read_predicted
    from refless.experiments.bleu_neighbors.table1 import section53, table1
    from refless.experiments.published import read_published
    from refless.report.tables import publish

    given, params = snakemake.input, snakemake.params
    path = Path(snakemake.output[0])
    tabulate = table1 if path.stem.endswith("table1") else section53
    limits = params.thresholds
    folders = dict.fromkeys(Path(path).parent for path in given.ratings)
    tasks = read_predicted(folders, given.get("predictions", []), **limits)
    published = read_published(given.published)
    publish(
        path.stem,
        tabulate(params.styles, tasks, published, params.models, **params.bootstrap),
        path.parent,
        missing=params.missing,
        facts={**limits, "tau": params.tau},
    )
