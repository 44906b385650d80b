"""RNN-QE: tables 1 and 2, which count, and how the models were trained. Stage: table."""

from pathlib import Path

from refless.experiments.rnn_qe.counts import count_notes, table1, table2
from refless.experiments.rnn_qe.stored import predictions_note, read_outputs, read_predictions
from refless.experiments.rnn_qe.training import training_table
from refless.job import job
from refless.report.published import read_published
from refless.report.tables import publish

with job(snakemake):
    params = snakemake.params
    folder = Path(snakemake.output[0]).parent
    counts, provenance, notes, made, refused = None, "", [], {}, []
    if snakemake.input.get("outputs"):
        about = read_outputs(snakemake.input.outputs[0], params.settings).about
        counts, provenance = about["facts"]["counts"], about["provenance"]
        notes = about["facts"]["notes"]
        made, refused = read_predictions(
            snakemake.input.get("predictions", []),
            params.settings["data"],
            about["made_from"]["texts"],
        )
    published = [
        read_published(path, [key])
        for path, key in zip(snakemake.input.published, ("system", "setup"), strict=True)
    ]
    first = table1(counts, published[0], params.datasets, provenance)
    found = count_notes(counts) if counts else []
    publish("rnn_qe_table1", first, folder, missing=params.missing, notes=notes + found)
    second = table2(counts, published[1], provenance)
    publish("rnn_qe_table2", second, folder, missing=params.missing, notes=notes)
    publish(
        "rnn_qe_training",
        training_table({name: file.about for name, file in made.items()}, params.names),
        folder,
        missing=[*params.missing, *params.untrained, *refused],
        notes=[predictions_note(file.about) for file in made.values()],
    )
