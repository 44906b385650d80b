"""Correlate metrics with ratings over random units (ΔBLEU's table 2, figure 2). Stage: cell."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.data.task import read_task
    from refless.experiments.delta_bleu.units import write_units

    dataset = read_task(Path(snakemake.input[0]).parent, ["context_id"], whole=True)
    settings = {**snakemake.params.settings, **snakemake.params.own}
    write_units(output(snakemake.output[0]), dataset, settings)
