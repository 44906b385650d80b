"""Bring one raw file into the data directory, verified. Stage: fetch."""

from pathlib import Path

from refless.data.fetch import fetch
from refless.data.places import Places
from refless.data.raw_files import read_source
from refless.job import job

with job(snakemake):
    # The mirror comes with the environment: as a parameter, another mirror would be a reason to
    # fetch again what is there.
    resources = Path("resources")
    source = read_source(
        snakemake.wildcards.path, resources / "sources.csv", resources / "sources_members.csv"
    )
    fetch(source, Places.told(resources / "data", resources / "manual"))
