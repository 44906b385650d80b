"""The recorded benchmarks: peers beside ours, and growth with the texts. Stage: table."""

from pathlib import Path

from refless.job import job
from refless.report.benchmarks import beside_peers, growth
from refless.report.tables import publish
from refless.store.files import read_json, require_listed

with job(snakemake):
    for path in snakemake.input:
        require_listed(path)
    records = {Path(path).stem: read_json(path) for path in snakemake.input}
    folder = Path(snakemake.output[0]).parent
    publish("benchmark_peers", beside_peers(records), folder)
    publish("benchmark_growth", growth(records["kernels"]), folder)
