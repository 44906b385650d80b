"""Spearman's rho and coverage over the data size (figure 4 of BLEU Neighbors). Stage: figure."""

from refless.job import job

with job(snakemake):
    from refless.experiments.bleu_neighbors.curves import average_annotators, read_data_sizes
    from refless.report import figures
    from refless.report.tables import read_table

    given, params = snakemake.input, snakemake.params
    curves = read_data_sizes(given.get("sizes", []))
    table1 = read_table(given.table[0])
    published = {c: figures.published_points(table1, c) for c in ("spearman", "coverage")}
    figures.save(
        figures.data_size_figure(curves, params.looks, average_annotators(table1), published),
        snakemake.output[0],
        curves.drop(columns="subset").groupby(["task", "size"], sort=False).mean().reset_index(),
    )
