"""Figures 2 to 4 of BLEU Neighbors, over the thresholds and over the data size. Stage: figure."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.experiments.bleu_neighbors import curves
    from refless.experiments.bleu_neighbors.neighbors import read_predicted
    from refless.report import figures

    files, params, path = snakemake.input, snakemake.params, Path(snakemake.output[0])
    limits, styles = params.thresholds, params.styles
    folders = dict.fromkeys(Path(text).parent for text in files.ratings)
    tasks = read_predicted(folders, files.get("predictions", []), **limits)
    points = curves.published_points(files.published, styles)
    if path.stem.endswith("4"):
        curve, keys = curves.read_data_sizes(files.get("sizes", [])), ["dataset", "size"]
        people = curves.average_annotators(tasks)
        figure = figures.data_size_figure(curve, styles, people, points)
        drawn = curve.drop(columns="subset").groupby(keys, sort=False).mean().reset_index()
    else:
        column = "spearman" if path.stem.endswith("2") else "coverage"
        curve = curves.threshold_curves(tasks, params.kernel, **limits)
        people = curves.average_annotators(tasks) if column == "spearman" else {}
        figure = figures.threshold_figure(curve, styles, column, limits, people, points[column])
        drawn = curve[["dataset", "threshold", "value", column]]
    figures.save(figure, path, drawn)
