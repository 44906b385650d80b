"""How far published numbers and findings come out, over all tables. Stage: table."""

from pathlib import Path

import pandas as pd

from refless.experiments.reproducibility.cells import (
    agreement_measures,
    published_cells,
    read_conditions,
    read_tables,
)
from refless.experiments.reproducibility.claims import findings, shares
from refless.job import job
from refless.report.tables import publish

with job(snakemake):
    tables = read_tables(snakemake.input.tables)
    cells, found = published_cells(tables), findings(tables)
    measures = pd.concat([pd.DataFrame(shares(found)), agreement_measures(cells)])
    for name, table in (
        ("reproducibility", measures),
        ("reproducibility_findings", found),
        ("reproducibility_conditions", read_conditions(snakemake.input.conditions)),
        ("reproducibility_cells", cells),
    ):
        publish(name, table, Path(snakemake.output[0]).parent)
