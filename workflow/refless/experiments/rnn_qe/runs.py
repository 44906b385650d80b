"""The signed files of RNN-QE: training data, numbers about the outputs, predictions.

Stage: prediction. In: the tidy tables of the rated outputs and of their human references, later the
predictions of trained models. Out: ``results/rnn_qe``; texts stand in the training data alone.

Predictions are signed without the code that trained them: hours of work would be refused for every
change of a line. What they were trained on is in their records, and is compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from refless.data.task import Task, read_task, text_sums
from refless.errors import FormatError, StaleError
from refless.experiments.rnn_qe.baselines import (
    COLUMNS,
    CURVE_COLUMNS,
    KERNEL,
    METRICS,
    Rated,
    learning_curve,
    outputs,
)
from refless.kernels import signature
from refless.kernels.signatures import sign
from refless.models.rnn_qe import batches
from refless.models.rnn_qe.data import (
    RATED_COLUMNS,
    REFERENCE_COLUMNS,
    DataSettings,
    Texts,
    experiments,
    share,
    size,
    tables,
)
from refless.models.rnn_qe.names import CURVE_SIZES, CURVE_SUBSETS, SETUPS, training_command
from refless.store import signed

DATA, OUTPUTS, CURVE, PREDICTIONS = (
    f"rnn_qe {kind}" for kind in ("data", "outputs", "curve", "predictions")
)
PREDICTION_COLUMNS = ["experiment", "setup", "fold", "seed", "part", "id", "raw", "prediction"]


def read_rated(rated: str | Path, references: Sequence[str | Path]) -> tuple[Task, Texts]:
    """The data set of the rated outputs, and all texts delexicalised.

    Parameters
    ----------
    rated, references : folders of ratings; a data set of references has the name that stands in
        the column ``dataset`` of the rated outputs

    Raises
    ------
    FormatError, StaleError : as `refless.data.task.read_task`; an MR that cannot be read.
    """
    task = read_task(rated, RATED_COLUMNS)
    found = [read_task(folder, REFERENCE_COLUMNS).texts for folder in references]
    # a data set need not have parts
    found = [table if "part" in table else table.assign(part="") for table in found]
    human = pd.concat(found, ignore_index=True)[[*REFERENCE_COLUMNS, "part"]]
    return task, Texts.of(task.texts, human)


# ---- training data -------------------------------------------------------------------------------


def write_data(
    folder: str | Path,
    name: str,
    rated: str | Path,
    references: Sequence[str | Path],
    settings: Mapping[str, Any],
) -> None:
    """Training, validation and test data under one name, a file a fold: ``fold0.csv``, ...

    Parameters
    ----------
    name : see `refless.models.rnn_qe.names`
    rated, references : see `read_rated`
    settings : see `DataSettings`

    Raises
    ------
    SettingError : an unknown name, or more rows than there are.
    """
    _, texts = read_rated(rated, references)
    made = DataSettings(**settings)
    folds = list(tables(texts, name, made, CURVE_SUBSETS))
    about = {
        "kind": DATA,
        "settings": {"data": asdict(made)},
        "made_from": {"texts": texts.digest()},
        "signatures": [sign(["models/rnn_qe/data.py"], texts.digest())],
        "facts": {"folds": len(folds), "share": share(texts.rated, name, made)},
    }
    for fold, table in enumerate(folds):
        of = {"of": {"name": name, "fold": fold}}
        signed.write(Path(folder) / f"fold{fold}.csv", table, about | of)


def read_fold(
    path: str | Path, name: str | None = None
) -> tuple[batches.Instances, dict[str, Any]]:
    """The instances of one fold, and the record of its file.

    ``name`` is that of the training data; None for any.

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`; an unknown part, a rating outside
        1..6, nothing to train on.
    """
    of = {} if name is None else {"name": name}
    file = signed.read(path, DATA, of=of, columns=batches.COLUMNS)
    try:
        return batches.Instances.of(file.content), file.about
    except FormatError as error:
        raise FormatError(error.message, path=path, remedy=error.remedy) from error


# ---- numbers about the outputs -------------------------------------------------------------------


def write_outputs(
    path: str | Path,
    curve: str | Path,
    rated: str | Path,
    references: Sequence[str | Path],
    settings: Mapping[str, Any],
    threads: int | None = None,
) -> None:
    """Metrics, parts and predictions of the rated outputs; the learning curve.

    In the record's facts, ``instances`` has the training instances of each fold, by set-up.

    Parameters
    ----------
    path, curve : the two files
    rated, references : see `read_rated`
    settings : ``data``: see `DataSettings`
    """
    task, texts = read_rated(rated, references)
    if lacking := [name for name in METRICS.values() if name not in task.texts]:
        raise FormatError(
            f"columns {', '.join(lacking)} are missing: metrics of each output",
            path=Path(rated) / "texts.csv",
        )
    made, seen = DataSettings(**settings["data"]), Rated.of(texts, threads)
    splits = experiments(texts.rated, made)
    folds = splits["cross_validation"]
    instances = {str(k): [size(texts, split, k) for split in folds] for k in SETUPS}
    sums = text_sums([rated, *references])
    about = {
        "kind": OUTPUTS,
        "settings": {"data": asdict(made)},
        "made_from": {"texts": texts.digest()} | _by_data_set(sums),
        "signatures": [
            signature(KERNEL, task.text_sum),
            sign(["experiments/rnn_qe/baselines.py"], texts.digest()),
        ],
    }
    found = outputs(texts, task.texts, seen, splits)
    signed.write(path, found, about | {"facts": {"instances": instances}})
    drawn = learning_curve(seen, folds, CURVE_SIZES, CURVE_SUBSETS, seed=made.seed)
    signed.write(curve, drawn, about | {"kind": CURVE, "settings": dict(settings)})


def _by_data_set(sums: Mapping[str, str]) -> dict[str, str]:
    return {f"texts {name}": value for name, value in sums.items()}


def require_texts(
    paths: Iterable[str | Path], folders: Iterable[str | Path], tasks: Collection[str]
) -> None:
    """Make sure that outputs or a curve are of the texts in these folders of ratings, and of those
    of the data sets ``tasks``, whose folders need not be there.

    Raises
    ------
    FormatError : a file is missing or broken.
    StaleError : they are of others.
    """
    asked = _by_data_set(text_sums(folders))
    for path in paths:
        about = signed.record_of(path)
        signed.require(about, "made_from", asked, Path(path))
        made = {key.partition(" ")[2] for key in about["made_from"]} - {""}
        if made != set(tasks):
            message = f"was made from {', '.join(sorted(made))}, not {', '.join(sorted(tasks))}"
            raise StaleError(message, path=path, remedy=signed.AGAIN)


def read_curve(path: str | Path, settings: Mapping[str, Any]) -> pd.DataFrame:
    """The learning curve: see `write_outputs`.

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`.
    """
    file = signed.read(path, CURVE, settings=settings, columns=CURVE_COLUMNS)
    return pd.DataFrame(file.content)


# ---- what the tables are made of -----------------------------------------------------------------


@dataclass(frozen=True)
class Gathered:
    """What all tables of RNN-QE are made from.

    outputs : by `write_outputs`; None if they cannot be had
    predictions : by name; none without outputs, since nothing says that they are of these texts
    missing : why there are no outputs, see `refless.report.tables.publish`
    untrained : why there are no predictions, by name
    """

    outputs: signed.Signed | None
    predictions: Mapping[str, signed.Signed]
    missing: Sequence[Mapping[str, Any]]
    untrained: Mapping[str, Mapping[str, Any]]


def gather(
    outputs: str | Path | None,
    predictions: Iterable[str | Path],
    data: Mapping[str, Any],
    missing: Sequence[Mapping[str, Any]] = (),
    untrained: Iterable[Mapping[str, Any]] = (),
) -> Gathered:
    """Read the signed files, those that there are.

    Parameters
    ----------
    predictions : ``<name>.csv.gz``. What came with refless and was trained on other data is left
        out, with a reason; what somebody trained here is refused.
    data : the settings of the training data, see `DataSettings`

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`.
    """
    why = {one["of"]["name"]: one for one in untrained}
    if outputs is None:
        return Gathered(None, {}, missing, why)
    file = signed.read(outputs, OUTPUTS, settings={"data": data}, columns=COLUMNS)
    texts, usable = file.about["made_from"]["texts"], {}
    for path in map(Path, predictions):
        name = path.name.removesuffix(".csv.gz")
        try:
            usable[name] = _read_predictions(path, name, data, texts)
        except StaleError as error:
            if signed.record_of(path)["provenance"] != "shipped":
                raise StaleError(
                    error.message,
                    path=path,
                    remedy=f"delete resources/trained/rnn_qe/predictions/{name}.csv.gz and train"
                    " again, or take back the change of rnn_qe.seed or of the raw files",
                ) from error
            why[name] = {
                "code": "other_data",
                "sentence": "the shipped predictions are of other data or folds than these",
                "remedy": f"{training_command(name)} trains it, then run again",
            }
    return Gathered(file, usable, missing, why)


def _read_predictions(path: Path, name: str, data: Mapping[str, Any], texts: str) -> signed.Signed:
    made_from, of = {"texts": texts}, {"name": name}
    file = signed.read(path, PREDICTIONS, of=of, made_from=made_from, columns=PREDICTION_COLUMNS)
    made = file.about["settings"]["data"]
    for setting, value in data.items():  # shipped records have settings that are none any more
        if made.get(setting) != value:
            raise StaleError(f"was made with {setting} {made.get(setting)}, not {value}", path=path)
    return file
