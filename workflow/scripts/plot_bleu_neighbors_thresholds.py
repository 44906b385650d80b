"""Spearman's rho or coverage over a and b (figures 2 and 3 of BLEU Neighbors). Stage: figure."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.experiments.bleu_neighbors.curves import average_annotators, threshold_curves
    from refless.experiments.bleu_neighbors.neighbors import read_predicted
    from refless.report import figures
    from refless.report.tables import read_table

    given, params = snakemake.input, snakemake.params
    path, own = Path(snakemake.output[0]), params.thresholds
    folders = dict.fromkeys(Path(path).parent for path in given.ratings)
    tasks = read_predicted(folders, given.get("predictions", []), **own)
    curves = threshold_curves(tasks, params.kernel, **own)
    table1 = read_table(given.table[0])
    column = "spearman" if path.stem.endswith("2") else "coverage"
    people = average_annotators(table1) if column == "spearman" else {}
    published = figures.published_points(table1, column)
    figures.save(
        figures.threshold_figure(curves, params.looks, column, own, people, published),
        path,
        curves[["task", "threshold", "value", column]],
    )
