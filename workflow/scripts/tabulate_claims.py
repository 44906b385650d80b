"""The papers' claims, and whether they hold. Stage: table."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.experiments.reproducibility.claims import claims_table
    from refless.report.tables import publish, read_table

    params, paths = snakemake.params, map(Path, snakemake.input.tables)
    tables = {path.stem: read_table(path) for path in paths}
    table = claims_table(params.claims, tables, params.names)
    publish("claims", table, Path(snakemake.output[0]).parent)
