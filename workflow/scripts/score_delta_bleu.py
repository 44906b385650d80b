"""Follow ratings with BLEU, sBLEU and ΔBLEU, over random units (table 2, figure 2). Stage: cell."""

from pathlib import Path

from refless.data.normalize import read_gold
from refless.data.task import read_whole_task
from refless.experiments.delta_bleu.units import write_units
from refless.job import job

with job(snakemake):
    params = snakemake.params
    task = read_whole_task(Path(snakemake.input.ratings[0]).parent, ["context_id"])
    gold = None
    if params.settings["gold"]:
        gold = read_gold(params.loader, params.files)
    write_units(
        snakemake.output.units,
        snakemake.output.tests,
        task,
        gold,
        params.settings,
        snakemake.threads,
    )
