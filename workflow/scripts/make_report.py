"""Write the report, and the record of where its numbers come from. Stage: report."""

from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.report.catalogue import catalogue
    from refless.report.fill import filled, of_settings, read_numbers, section
    from refless.report.page import make_report
    from refless.report.why import paragraphs

    files = snakemake.input
    params = snakemake.params
    results = Path(snakemake.output.page).parent
    tables = results / "tables"
    numbers = read_numbers(files.numbers)
    text = section(Path(files.readme).read_text("utf-8"), "What we learned")
    current = of_settings(text, params.digest)
    papers = list(dict.fromkeys(entry.paper for entry in catalogue().values()))
    why = paragraphs(Path(files.findings).read_text("utf-8"), papers) if current else {}
    make_report(
        results,
        catalogue().values(),
        files.get("texts", []),
        params.settings,
        filled(text, numbers, tables) if current else "",
        {paper: filled(paragraph, numbers, tables) for paper, paragraph in why.items()},
    )
