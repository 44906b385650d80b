"""The model that comes with refless. Stage: prediction."""

from dataclasses import replace
from pathlib import Path

from refless.job import job

with job(snakemake):
    from refless.data.task import read_task
    from refless.evaluation.predict import trained_networks
    from refless.evaluation.read import rated_of
    from refless.machine import processor
    from refless.models.rnn_qe.saved import save_model

    folder = Path(snakemake.input[0]).parent
    task = read_task(folder, ["context", "text", "dataset", "system"])
    texts, threads = task.texts, snakemake.threads
    # chosen on validation parts: Pearson plus Spearman 0.668 with errors, 0.621 without
    model = trained_networks(rated_of(texts, (1.0, 6.0)), seed=0, errors=True, threads=threads)
    groups = {name: texts[name].value_counts().to_dict() for name in ("dataset", "system")}
    data = {"name": task.name, "texts": task.about["content"], **groups}
    about = {**model.about, "data": data, "machine": {"processor": processor()}}
    save_model(replace(model, about=about), snakemake.output[0])
