"""The report, and where its numbers come from. Stage: report."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.report.catalogue import catalogue
    from refless.report.fill import filled, read_numbers, section
    from refless.report.page import make_report

    results = Path(snakemake.output.page).parent
    found = section(Path(snakemake.input.readme).read_text("utf-8"), "What was found")
    make_report(
        results,
        catalogue().values(),
        snakemake.input.get("texts", []),
        snakemake.params.settings,
        filled(found, read_numbers(snakemake.input.numbers), results / "tables"),
    )
