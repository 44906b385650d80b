"""Make tables by the functions that the catalogue names for them. Stage: table."""

from pathlib import Path

from refless.job import job

with job(snakemake) as output:
    from refless.report.catalogue import catalogue, function_of
    from refless.report.tables import publish, read_inputs

    params = snakemake.params
    files = read_inputs(snakemake.input.items())
    for path in map(Path, snakemake.output):
        if path.suffix == ".csv":
            tabulate = function_of(catalogue()[path.stem].tabulated_by)
            publish(
                path.stem,
                tabulate(**files, **params.get("arguments", {})),
                path.parent,
                missing=params.get("missing", ()),
                facts=params.get("facts", {}),
                datasets=params.get("datasets", {}),
                inputs=output(path).inputs,
            )
