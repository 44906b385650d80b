"""Draw a figure by the function that the catalogue names for it. Stage: figure."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.report.catalogue import catalogue, function_of
    from refless.report.figures import save
    from refless.report.tables import read_inputs

    path = Path(snakemake.output[0])
    files = read_inputs(snakemake.input.items())
    draw = function_of(catalogue()[path.stem].drawn_by)
    figure, table = draw(**files, **snakemake.params.get("arguments", {}))
    save(figure, output(path), table)
