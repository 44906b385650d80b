"""How far published numbers come out, over all tables. Stage: table."""

from pathlib import Path

from refless.experiments.reproducibility.cells import by_table, published_cells
from refless.job import job
from refless.report.tables import publish, read_published

with job(snakemake):
    paths = map(Path, snakemake.input.tables)
    cells = published_cells({path.stem: read_published(path) for path in paths})
    for name, table in (("reproducibility", by_table(cells)), ("reproducibility_cells", cells)):
        publish(name, table, Path(snakemake.output[0]).parent)
