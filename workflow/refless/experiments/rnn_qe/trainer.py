"""Train RNN-QE on all folds of a set-up, and write what comes out. Needs torch (`make torch`).

Stage: prediction. In: the training data of all folds. Out: a signed table of predictions, and the
first seed's models, for ``refless qe``. A run that was killed goes on from its checkpoints; one of
the long schedules keeps them, and trains only the new ones when it is asked for more seeds.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from refless.data.task import read_task
from refless.errors import FormatError, SettingError, StaleError
from refless.experiments.rnn_qe.runs import PREDICTIONS, read_fold
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.names import parse
from refless.models.rnn_qe.network import Architecture
from refless.models.rnn_qe.own import How, Rated, fit
from refless.models.rnn_qe.saved import Model, load_model, save_model
from refless.models.rnn_qe.training import SCHEDULES, Run, Schedule, train
from refless.store import signed
from refless.store.files import whole_file
from refless.store.machine import load_average, processor, versions


def write_training(
    path: str | Path,
    models: str | Path,
    data: str | Path,
    schedule: Mapping[str, Any],
    seeds: Sequence[int],
    run: Run,
) -> None:
    """Train a model for each fold and seed; write predictions and models.

    Parameters
    ----------
    path : ``<name>.csv.gz``, the predictions
    models : folder of the first seed's models
    data : folder of the training data, by `refless.experiments.rnn_qe.runs.write_data`
    schedule : ``name`` (of `SCHEDULES`), and what is otherwise than there: ``pretrain``, ``train``,
        ``rate``, ``batch``, ``plateau``
    run : its checkpoints are removed when all is done, unless it says ``keep``

    Raises
    ------
    SettingError : no such schedule.
    FormatError, StaleError : as `read_fold`.
    """
    folds, about = _read_folds(Path(data))
    chosen = _schedule(schedule, about["facts"]["share"])
    built = Architecture()
    done = train(folds, seeds, chosen, built, run)
    name = Path(path).name.removesuffix(".csv.gz")
    found = parse(about["of"]["name"])
    number = f"_{found.number}" if found.number else ""
    table = done.predictions
    table.insert(0, "experiment", f"{found.experiment}{number}")
    table.insert(1, "setup", found.setup)
    # The models first: Snakemake takes a training for done when its predictions are there.
    for facts, parameters in zip(done.models, done.parameters, strict=True):
        fold, seed = facts["fold"], facts["seed"]
        if seed == seeds[0]:
            one = {"name": name, "fold": fold, "seed": seed, "best": facts["best"]}
            model = Model.of(built, [parameters], [folds[fold]], {"trained": one})
            save_model(model, Path(models) / f"fold{fold}.npz")
    signed.write(
        path,
        table,
        {
            "kind": PREDICTIONS,
            "of": {"name": name},
            "settings": {
                "data": about["settings"]["data"],
                "schedule": {"name": schedule["name"], **asdict(chosen)},
                "architecture": asdict(built),
            },
            "made_from": about["made_from"],
            "facts": {
                "data": {str(number): fold.digest for number, fold in folds.items()},
                "rows": {str(number): _rows(fold) for number, fold in folds.items()},
                "machine": f"{processor()}, {run.device}, {run.workers} at a time",
                "load_average": load_average(),
                "versions": versions(["refless", "torch", "numpy"]),
                "seconds": round(done.seconds, 1),
                "models": done.models,
            },
        },
    )
    if run.checkpoints is not None and not run.keep:
        shutil.rmtree(run.checkpoints, ignore_errors=True)


def _rows(fold: Encoded) -> dict[str, int]:
    """Instances of a pass, by phase."""
    rated, synthetic = (len(fold.instances.rows(part)) for part in ("train", "pretrain"))
    return {"pretrain": rated + synthetic, "train": rated}


def write_shipped_model(path: str | Path, card: str | Path, rated: str | Path, run: Run) -> None:
    """Train the model that comes with refless, as `refless train-qe` does, and write its card.

    Parameters
    ----------
    path, card : the model, and a page that says what it is
    rated : folder of ratings, of outputs with MRs and ``median_quality``
    """
    task = read_task(rated, ["context", "text", "median_quality", "dataset", "system"])
    texts = task.texts
    quality = texts["median_quality"].to_numpy(float)
    given = Rated.of(texts["text"].tolist(), texts["context"].tolist(), quality)
    # Chosen on validation parts: Pearson plus Spearman 0.668 with errors, 0.621 without.
    made = fit(given, How(errors=True), run)
    groups = {name: texts[name].value_counts().to_dict() for name in ("dataset", "system")}
    data = {"name": Path(rated).name, "texts": task.text_sum, **groups}
    where = {"processor": processor(), "threads": run.workers}
    model = replace(made, about={**made.about, "data": data, "machine": where})
    save_model(model, path, half=True)
    with whole_file(card) as partial:
        partial.write_text(card_page(load_model(path)), encoding="utf-8")


def card_page(model: Model) -> str:
    """The card of a model as Markdown."""
    about, scale = model.about, model.scale
    data, trained, worth = about["data"], about["trained"], about["worth"]
    systems, sets = (
        ", ".join(
            f"{name} ({count:,})"
            for name, count in sorted(data[kind].items(), key=lambda one: (-one[1], one[0]))
        )
        for kind in ("system", "dataset")
    )
    errors = "the training texts also with errors put in, " if trained["errors"] else ""
    lines = [
        "# The model that comes with refless",
        "",
        "`refless qe --outputs mine.tsv` rates with it; `refless qe --card` has all of this as",
        "JSON. The run that trains it writes this page: `snakemake --cores 2 train_qe_model`.",
        "",
        f"- **Trained on** {trained['texts']:,} rated outputs of the data set `{data['name']}`, by"
        f" system: {systems}; by domain: {sets}.",
        f"- **Reads** a text and its MR, written as {model.meanings}; slot values are"
        " delexicalised.",
        f"- **Rates** from {scale.low:g} to {scale.high:g}, rounded to {scale.step:g}, as people"
        " rated the quality of the text.",
        f"- **Is** {len(model.words['text'])} networks of width {model.architecture.hidden},"
        f" schedule `{trained['schedule']}`, {errors}seed {trained['seed']}; their mean rates. The"
        " file holds numbers: parameters in half precision, and sums of words.",
        f"- **Made on** {about['machine']['processor']}, with"
        f" {', '.join(f'{name} {version}' for name, version in about['versions'].items())}.",
        "",
        "## What it is worth",
        "",
        "Each output was rated by the one network that neither learned from its part of the data",
        f"nor chose its pass by it. They are tested as {about['tested']}.",
        "What outputs of other systems, or in other domains, get was not measured. Correlations",
        "are within the five parts; the error is of ratings that are not rounded. In brackets: 95%",
        "intervals, which draw MRs, values as slots, with all of their outputs; where equal",
        "outputs stand under several MRs, both are drawn.",
        "",
        "| outputs | Spearman | Pearson | MSE | MSE of the mean rating |",
        "| --- | --- | --- | --- | --- |",
        f"| {worth['n']:,.0f} | {_cell(worth, 'spearman')} | {worth['pearson']:.3f}"
        f" | {_cell(worth, 'mse')} | {worth['mse_of_the_mean']:.3f} |",
        "",
    ]
    if worth["mse_low"] > worth["mse_of_the_mean"]:
        lines += ["The interval of its error lies above the error of the mean rating.", ""]
    elif worth["mse_high"] > worth["mse_of_the_mean"]:
        lines += ["Its error is not shown to be below that of the mean rating.", ""]
    return "\n".join(lines)


def _cell(found: Mapping[str, Any], name: str) -> str:
    return f"{found[name]:.3f} ({found[f'{name}_low']:.3f} to {found[f'{name}_high']:.3f})"


def _read_folds(data: Path) -> tuple[dict[int, Encoded], dict[str, Any]]:
    """The folds of one set of training data, and the record of the first."""
    folds: dict[int, Encoded] = {}
    first: dict[str, Any] = {}
    try:
        while not first or len(folds) < first["facts"]["folds"]:
            path = data / f"fold{len(folds)}.csv"
            instances, about = read_fold(path, data.name)
            first = first or about
            same = all(about[role] == first[role] for role in ("settings", "made_from", "facts"))
            if about["of"]["fold"] != len(folds) or not same:
                raise StaleError(f"is not fold {len(folds)} of the same data", path=path)
            folds[len(folds)] = Encoded(instances)
    except (FormatError, StaleError) as error:
        # Snakemake knows the folder and not its files
        remedy = f"delete {data} and run again"
        raise type(error)(error.message, path=error.path, remedy=remedy) from error
    return folds, first


def _schedule(asked: Mapping[str, Any], share: float) -> Schedule:
    """``share`` makes batches smaller, so that a pass over fewer rows has as many steps."""
    if asked["name"] not in SCHEDULES:
        raise SettingError(
            f"no schedule is called {asked['name']!r}", remedy=" or ".join(SCHEDULES)
        )
    others = {name: value for name, value in asked.items() if name != "name"}
    schedule = replace(SCHEDULES[asked["name"]], **others)
    return replace(schedule, batch=max(1, round(schedule.batch * share)))
