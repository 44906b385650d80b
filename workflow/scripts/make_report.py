"""The report, and where its numbers come from. Stage: report."""

from pathlib import Path

from refless.job import job
from refless.report.catalogue import catalogue
from refless.report.page import make_report

with job(snakemake):
    make_report(
        Path(snakemake.output.page).parent,
        catalogue().values(),
        snakemake.input.get("texts", []),
        snakemake.params.settings,
    )
