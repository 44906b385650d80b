"""The report, and where its numbers come from. Stage: report."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.report.catalogue import catalogue
    from refless.report.fill import filled, of_settings, read_numbers, section
    from refless.report.page import make_report

    files, params = snakemake.input, snakemake.params
    results = Path(snakemake.output.page).parent
    text = section(Path(files.readme).read_text("utf-8"), "What was found")
    findings = text if of_settings(text, params.digest) else ""
    make_report(
        results,
        catalogue().values(),
        files.get("texts", []),
        params.settings,
        filled(findings, read_numbers(files.numbers), results / "tables"),
    )
