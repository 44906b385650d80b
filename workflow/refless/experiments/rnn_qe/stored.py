"""The signed files of RNN-QE: training data, numbers about the outputs, predictions.

Stage: prediction. In: the tidy tables of the rated outputs and of their human references, later the
predictions of trained models. Out: ``results/rnn_qe``; texts stand in the training data alone.

Predictions are signed without the code that trained them: hours of work would be refused for every
change of a line. What they were trained on and how is in their records, and is compared.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from refless.data.task import Task, read_task, text_sums
from refless.errors import FormatError, StaleError
from refless.experiments.rnn_qe.outputs import (
    CURVE_COLUMNS,
    METRICS,
    OUTPUT_COLUMNS,
    Context,
    Neighbors,
    counts,
    learning_curve,
    outputs,
)
from refless.kernels import signature
from refless.models.rnn_qe.batches import COLUMNS, Instances
from refless.models.rnn_qe.data import (
    RATED_COLUMNS,
    REFERENCE_COLUMNS,
    DataSettings,
    Texts,
    experiments,
    share,
    tables,
)
from refless.models.rnn_qe.names import APART, training_command
from refless.store import signed
from refless.store.signatures import sign

log = logging.getLogger(__name__)

DATA, OUTPUTS, CURVE, PREDICTIONS = (
    f"rnn_qe {kind}" for kind in ("data", "outputs", "curve", "predictions")
)
PREDICTION_COLUMNS = ["experiment", "setup", "fold", "seed", "part", "id", "raw", "prediction"]

# What the paper says of training (section 3.4; the batch from the authors' configuration).
PAPER: dict[str, dict[str, Any]] = {
    "schedule": {"pretrain": 20, "train": 500, "plateau": 0, "rate": 1e-4, "batch": 50},
    "architecture": {"embedding": 300, "hidden": 300, "layers": 2, "dropout": 0.5}
    | {"precision": "float32"},
}
UNSAID = ("precision",)
"""What the paper does not say: the usual choice stands for it."""


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
    columns = [*REFERENCE_COLUMNS, "part"]
    found = [read_task(folder, REFERENCE_COLUMNS).texts for folder in references]
    # a data set need not have parts
    found = [table if "part" in table else table.assign(part="") for table in found]
    human = pd.concat([table[columns] for table in found], ignore_index=True)
    return task, Texts.of(task.texts, human)


# ---- training data -------------------------------------------------------------------------------


def write_data(
    folder: str | Path,
    name: str,
    rated: str | Path,
    references: Sequence[str | Path],
    settings: Mapping[str, Any],
    subsets: int,
) -> None:
    """Training, validation and test data under one name, a file a fold: ``fold0.csv``, ...

    Parameters
    ----------
    name : see `refless.models.rnn_qe.names`
    rated, references : see `read_rated`
    settings : see `DataSettings`
    subsets : random ones, of a learning curve

    Raises
    ------
    SettingError : an unknown name, or more rows than there are.
    """
    _, texts = read_rated(rated, references)
    made = DataSettings(**settings)
    folds = list(tables(texts, name, made, subsets))
    for fold, table in enumerate(folds):
        log.info("fold %d: %s", fold, table["part"].value_counts().to_dict())
        signed.write(
            Path(folder) / f"fold{fold}.csv",
            table,
            {
                "kind": DATA,
                "of": {"name": name, "fold": fold},
                "settings": {"data": asdict(made)},
                "made_from": {"texts": texts.digest()},
                "signatures": [sign(["models/rnn_qe/data.py"], texts.digest())],
                "facts": {"folds": len(folds), "share": share(texts.rated, name, made)},
            },
        )


def read_fold(path: str | Path, name: str | None = None) -> tuple[Instances, dict[str, Any]]:
    """The instances of one fold, and the record of its file.

    ``name`` is that of the training data; None for any.

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`; an unknown part, a rating outside
        1..6, nothing to train on.
    """
    of = {} if name is None else {"name": name}
    file = signed.read(path, DATA, of=of, columns=COLUMNS)
    try:
        return Instances.of(file.content), file.about
    except FormatError as error:
        raise FormatError(error.message, path=path, remedy=error.remedy) from error


# ---- numbers about the outputs -------------------------------------------------------------------


def write_outputs(
    path: str | Path,
    curve: str | Path,
    rated: str | Path,
    references: Sequence[str | Path],
    settings: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
    threads: int | None = None,
) -> None:
    """Metrics, parts, own predictions and counts of the rated outputs, and the learning curve.

    Parameters
    ----------
    path, curve : the two files
    rated, references : see `read_rated`
    settings : ``data`` (`DataSettings`), ``neighbors`` (`Neighbors`) and ``curve`` (``sizes``,
        ``subsets``)
    options : of the kernels, by kernel
    """
    task, texts = read_rated(rated, references)
    made, sizes = DataSettings(**settings["data"]), settings["curve"]
    neighbors = Neighbors(**settings["neighbors"])
    lacking = [name for name in METRICS.values() if name not in task.texts]
    if lacking:
        raise FormatError(
            f"columns {', '.join(lacking)} are missing: metrics of each output",
            path=Path(rated) / "texts.csv",
        )
    context = Context.of(texts, neighbors, threads, options)
    kernels = [kernel for kernel, _ in neighbors.kernels.values()]
    about: dict[str, Any] = {
        "kind": OUTPUTS,
        "settings": _decisive(settings),
        "made_from": {"texts": texts.digest()} | _each(text_sums([rated, *references])),
        "signatures": [
            *(signature(kernel, task.text_sum, **options.get(kernel, {})) for kernel in kernels),
            sign(["experiments/rnn_qe/outputs.py"], texts.digest()),
        ],
    }
    splits = experiments(texts.rated, made)
    table = outputs(texts, task.texts, context, splits)
    log.info("%d outputs, %d columns", *table.shape)
    tests = {
        experiment: _parts(texts.rated["id"].iloc[split.test] for split in own)
        for experiment, own in splits.items()
    }
    counted = counts(texts, made.seed, splits)
    facts = {"counts": counted, "notes": task.notes, "tests": tests}
    signed.write(path, table, {**about, "facts": facts})
    folds = {"dev": splits["cross_validation"], "dev_apart": splits[APART]}
    found = learning_curve(context, folds, sizes["sizes"], sizes["subsets"], made.seed)
    about |= {"kind": CURVE, "settings": {**about["settings"], "curve": sizes}}
    signed.write(curve, found, about)


def _parts(tests: Iterable[Iterable[str]]) -> str:
    """Sum of which outputs are tested together, in any order."""
    each = {"\n".join(sorted(set(ids))) for ids in tests}
    return hashlib.sha256("\n\n".join(sorted(each)).encode()).hexdigest()


def _decisive(settings: Mapping[str, Any]) -> dict[str, Any]:
    """How errors are made (``synthesise``) moves predictions of RNN-QE alone."""
    data = {name: value for name, value in settings["data"].items() if name != "synthesise"}
    return {**data, "neighbors": dict(settings["neighbors"])}


def _each(texts: Mapping[str, str]) -> dict[str, str]:
    return {f"texts {name}": value for name, value in texts.items()}


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
    asked = _each(text_sums(folders))
    for path in paths:
        about = signed.record_of(path)
        signed.require_made_from(about, asked, path)
        made = {key.partition(" ")[2] for key in about["made_from"]} - {""}
        if made != set(tasks):
            message = f"was made from {', '.join(sorted(made))}, not {', '.join(sorted(tasks))}"
            raise StaleError(message, path=path, remedy=signed.AGAIN)


def read_outputs(path: str | Path, settings: Mapping[str, Any]) -> signed.Signed:
    """The table of `refless.experiments.rnn_qe.outputs.outputs`; the record's facts hold
    ``counts`` and ``notes``.

    Parameters
    ----------
    settings : ``data`` and ``neighbors``, as of `write_outputs`

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`.
    """
    return signed.read(path, OUTPUTS, settings=_decisive(settings), columns=OUTPUT_COLUMNS)


def read_curve(path: str | Path, settings: Mapping[str, Any]) -> pd.DataFrame:
    """The learning curve, if it was made under these settings: see `write_outputs`.

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`.
    """
    asked = {**_decisive(settings), "curve": settings["curve"]}
    columns = [*CURVE_COLUMNS, "pearson", "spearman"]
    return pd.DataFrame(signed.read(path, CURVE, settings=asked, columns=columns).content)


# ---- predictions ---------------------------------------------------------------------------------


def read_predictions(
    paths: Sequence[str | Path],
    data: Mapping[str, Any],
    texts: str,
    tests: Mapping[str, str] | None = None,
) -> tuple[dict[str, signed.Signed], list[dict[str, Any]]]:
    """Predictions by name, and, as `refless.report.publish` wants it, why others are of no use.

    What came with refless and was trained on other data is left out, with a reason; what somebody
    trained here is refused.

    Parameters
    ----------
    paths : ``<name>.csv.gz``
    data : the settings of the training data that are asked for
    texts : sum of the texts and ratings that are asked for (`Texts.digest`)
    tests : experiment -> which outputs are tested together, as `write_outputs` keeps it; None does
        not ask. A learning curve has the tests of cross-validation.

    Raises
    ------
    FormatError : a file is missing or broken.
    StaleError : predictions that were computed here are of other data.
    """
    found, refused = {}, []
    for path in paths:
        name = Path(path).name.removesuffix(".csv.gz")
        try:
            found[name] = signed.read(
                path,
                PREDICTIONS,
                of={"name": name},
                settings={"data": data},
                made_from={"texts": texts},
                columns=PREDICTION_COLUMNS,
            )
            if tests is not None:
                _require_tests(found[name].content, tests)
        except StaleError as error:
            if signed.record_of(path)["provenance"] != "shipped":
                raise StaleError(
                    error.message,
                    path=path,
                    remedy=f"delete resources/trained/rnn_qe/predictions/{name}.csv.gz and train"
                    " again, or take back the change under rnn_qe.data or of the raw files",
                ) from error
            found.pop(name, None)
            refused.append(
                {
                    "of": {"name": name},
                    "code": "other_data",
                    "sentence": "the shipped predictions are of other data or folds than these",
                    "remedy": f"{training_command(name)} trains it, then run again",
                }
            )
    return found, refused


def _require_tests(predictions: pd.DataFrame, tests: Mapping[str, str]) -> None:
    """Make sure that networks were tested on the parts that metrics and look-up are."""
    tested = predictions[predictions["part"] == "test"]
    for experiment, own in tested.groupby("experiment", sort=False):
        asked = tests.get(str(experiment), tests["cross_validation"])
        if _parts(part["id"] for _, part in own.groupby("fold")) != asked:
            raise StaleError("was made on other folds than the other rows of its table")


def training_notes(about: Mapping[str, Any]) -> list[str]:
    """How these predictions were trained otherwise than the paper's, if they were."""
    settings = about["settings"]
    differ = [
        f"{name} {settings[part][name]} for {paper}{' (not said there)' * (name in UNSAID)}"
        for part, values in PAPER.items()
        for name, paper in values.items()
        if name in settings.get(part, {}) and settings[part][name] != paper
    ]
    return [f"trained otherwise than in the paper: {', '.join(differ)}"] if differ else []


def predictions_note(about: Mapping[str, Any]) -> str:
    """One line of a footer: whose predictions, where from, on what machine and how long."""
    facts = about["facts"]
    # of the last part, where a run was interrupted
    took = f"at least {facts['seconds']:,.0f} s"
    said = [about["provenance"], facts["machine"], took]
    return f"predictions of {about['of']['name']}: {', '.join(said)}"


# ---- what the tables are made of -----------------------------------------------------------------


@dataclass(frozen=True)
class Gathered:
    """What all tables of RNN-QE are made from.

    outputs : by `read_outputs`; None if they cannot be had
    predictions : by name; none without outputs, since nothing says that they are of these texts
    settings : see `write_outputs`
    missing : why there are no outputs, see `refless.report.tables.publish`
    untrained : why there are no other predictions
    """

    outputs: signed.Signed | None
    predictions: dict[str, signed.Signed]
    settings: Mapping[str, Any]
    missing: list[Mapping[str, Any]]
    untrained: list[Mapping[str, Any]]

    def notes(self, names: Iterable[str]) -> list[str]:
        """The lines of a footer about those predictions of these names that there are."""
        return [
            predictions_note(self.predictions[name].about)
            for name in dict.fromkeys(names)
            if name in self.predictions
        ]


def gather(
    outputs: str | Path | None,
    predictions: Sequence[str | Path],
    settings: Mapping[str, Any],
    missing: Iterable[Mapping[str, Any]] = (),
    untrained: Iterable[Mapping[str, Any]] = (),
) -> Gathered:
    """Read the signed files, those that there are.

    Raises
    ------
    FormatError, StaleError : as `refless.store.signed.read`.
    """
    if outputs is None:
        return Gathered(None, {}, settings, [*missing], [*untrained])
    file = read_outputs(outputs, settings)
    texts = file.about["made_from"]["texts"]
    tests = file.about["facts"]["tests"]
    usable, refused = read_predictions(predictions, settings["data"], texts, tests)
    return Gathered(file, usable, settings, [*missing], [*untrained, *refused])
