"""Table 1 and section 5.3 of BLEU Neighbors. Stage: table."""

from pathlib import Path

from refless.experiments.bleu_neighbors.neighbors import read_predicted
from refless.experiments.bleu_neighbors.table1 import section53, table1
from refless.job import job
from refless.report.published import read_published
from refless.report.tables import publish

with job(snakemake):
    given, params = snakemake.input, snakemake.params
    tasks = read_predicted(params.folders, given.get("predictions", []), params.taus)
    for name, tabulate, printed in (
        ("bleu_neighbors_table1", table1, given.published),
        ("bleu_neighbors_section53", section53, given.section53),
    ):
        published = read_published(printed, ["model", "task"])
        publish(
            name,
            tabulate(params.looks, tasks, published, params.models, **params.settings),
            Path(snakemake.output[0]).parent,
            missing=params.missing,
            facts={**params.settings, "tau": params.taus[params.models["bleu"][0]]},
        )
