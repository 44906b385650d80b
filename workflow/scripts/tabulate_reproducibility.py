"""How far published numbers come out, over all tables. Stage: table."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    import pandas as pd

    from refless.experiments.reproducibility.cells import CELLS, by_measure, published_cells
    from refless.report.catalogue import catalogue
    from refless.report.tables import publish, read_table

    parts = []
    for path in map(Path, snakemake.input.tables):
        entry = catalogue()[path.stem]
        part = published_cells(read_table(path), entry.paper_row, entry.repeats)
        parts.append(part.assign(paper=entry.paper, table=entry.name)[CELLS])
    cells = pd.concat(parts, ignore_index=True)
    for name, table in (("reproducibility", by_measure(cells)), ("reproducibility_cells", cells)):
        publish(name, table, Path(snakemake.output[0]).parent)
