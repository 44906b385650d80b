"""Bring one encoder into the data directory, with its sums. Stage: fetch."""

from pathlib import Path

from refless.data.encoders import fetch_encoder
from refless.data.places import Places
from refless.job import job

with job(snakemake):
    resources = Path("resources")
    places = Places.told(resources / "data", resources / "manual")
    fetch_encoder(snakemake.wildcards.model, places)
