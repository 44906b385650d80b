"""Copy computed numbers to resources/shipped, no text among them, and into pages. Stage: none."""

import logging
from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.report.fill import filled, read_numbers, with_settings
    from refless.shipping import ship
    from refless.store.files import write_text

    root = Path(snakemake.params.workflow)
    for path in ship(snakemake.params.digests, root / "resources/shipped"):
        logging.getLogger(__name__).info("%s", path)
    numbers = read_numbers(root / "resources/numbers.yaml")
    for page in (root / "README.md", root / "docs/findings.md"):
        text = filled(page.read_text("utf-8"), numbers, Path("results/tables"))
        write_text(with_settings(text, snakemake.params.findings), page)
