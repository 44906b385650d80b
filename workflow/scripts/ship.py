"""Copy computed numbers to resources/shipped, no text among them, and into pages. Stage: none."""

import logging
from pathlib import Path

from refless.job import job
from refless.report.fill import filled, read_numbers
from refless.shipping import ship
from refless.store.files import write_text

with job(snakemake):
    for path in ship(snakemake.params.digests, snakemake.params.out):
        logging.getLogger(__name__).info("%s", path)
    numbers = read_numbers(snakemake.params.numbers)
    for page in map(Path, snakemake.params.pages):
        write_text(filled(page.read_text("utf-8"), numbers, Path("results/tables")), page)
