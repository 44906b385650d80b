"""``refless train-qe`` and ``refless qe``."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from refless.api import rated_texts
from refless.cli import files, options
from refless.data.rows import File
from refless.errors import FormatError, OutputError

if TYPE_CHECKING:
    import pandas as pd

    from refless.models.rnn_qe.saved import QEModel


def add_train_arguments(command: ArgumentParser) -> None:
    options.add_ratings(command)
    options.add_reading(command, scale="the lowest and the highest rating in the files")
    options.add_seed(command)
    options.add_threads(command, default="1")
    options.add_model_out(command)


def add_qe_arguments(command: ArgumentParser) -> None:
    options.add_outputs(command)
    options.add_column(command)
    about = "The model, by refless train-qe. (Default: a shipped one.)"
    command.add_argument("--model", help=about, metavar="FILE")
    options.add_written(command)


def train_qe(arguments: Namespace) -> None:
    """Train RNN-QE (Dusek et al. 2017) on ratings of your own; needs torch.

    --ratings has the columns text, quality (any scale) and, if there is one, mr or context; --out
    is the model, a file that ends in .npz.

    example:
      refless train-qe --ratings rated.tsv --out mine.npz
      refless qe --model mine.npz --outputs new.tsv --out predicted.tsv
    """
    out = files.check_out(arguments.out, *arguments.ratings, arguments.join)
    if out is None or out.suffix != ".npz":
        raise OutputError("a model's file ends in .npz", path=arguments.out, remedy="name it so")
    own = files.ratings_of(arguments)

    from refless.evaluation.networks import trained_networks
    from refless.evaluation.rate import measures_line
    from refless.evaluation.read import of_user
    from refless.methods.table import prompts_of
    from refless.models.rnn_qe.saved import save_model

    rated = of_user(own)
    with files.progress("training networks"):
        model = trained_networks(rated, arguments.seed, arguments.threads)
    column, _ = prompts_of(rated_texts(own))
    save_model(replace(model, metadata={**model.metadata, "column": column}), out)
    low, high = model.scale
    read = f"{column} read as {model.meanings}" if model.reads_meanings else "no mr or context"
    files.tell(f"{len(rated)} rated texts, scale {low:g} to {high:g}, {read}")
    measures = measures_line(model.cross_validation)
    files.tell(f"tested on new {model.metadata['tested']}: {measures}")


def qe(arguments: Namespace) -> None:
    """Rate texts beside their MR or context, without references, with a trained network.

    --outputs has the columns text and mr, such as inform(name=x), or context. --model is of refless
    train-qe (default: a network for dialogue systems, whose ratings go from 1 to 6; on its own data
    its squared error, 1.730, is larger than that of the mean rating, 1.514).

    example:
      refless qe --outputs mine.tsv --out predicted.tsv
    """
    arguments.out = files.check_out(arguments.out, arguments.outputs, arguments.model)
    outputs = files.outputs_of(arguments, ["mr", "context", "quality"], added=["prediction"])

    from refless.evaluation.rate import measures_line
    from refless.models.rnn_qe.saved import SHIPPED_MODEL, load_model
    from refless.statistics import agreement

    model = load_model(arguments.model or SHIPPED_MODEL)
    rated = _rated(model, outputs)
    _warn(model, rated)
    facts = {}
    quality = np.array(outputs.columns.get("quality", []), float)
    if not np.isnan(quality).all():
        facts = agreement(rated["prediction"].to_numpy(), quality, np.nanmean(quality))
    files.finish(arguments, outputs, rated[["prediction"]].round(6), facts)
    if facts:
        files.tell(f"where there is a prediction: {measures_line(facts)}")


def _rated(model: "QEModel", outputs: File) -> "pd.DataFrame":
    """Return what `QEModel.rate` says of each output. Raises FormatError: a column is missing, or
    the model cannot read a meaning; the error has its line in the user's file."""
    meanings = _meanings(model, outputs)
    try:
        return model.rate(meanings, outputs.columns["text"])
    except FormatError as error:
        line = outputs.lines[(error.line or 1) - 1]
        remedy = f"mend it: the model reads {model.meanings}; or train one of your own (train-qe)"
        raise FormatError(error.message, path=outputs.path, line=line, remedy=remedy) from error


def _meanings(model: "QEModel", outputs: File) -> Sequence[str]:
    """Return what each output should express, empty where the model reads no meanings. Raises
    FormatError: it reads them, and the outputs have none."""
    given = outputs.columns
    if not model.reads_meanings:
        return [""] * len(given["text"])
    for name in (model.metadata.get("column"), "mr", "context"):
        if name in given:
            return given[name]
    message = "has no column mr or context, which the model was trained with"
    raise FormatError(message, path=outputs.path, remedy="add it")


def _warn(model: "QEModel", rated: "pd.DataFrame") -> None:
    """Say where a model's ratings are not to be trusted: if it is worse than the mean rating, and
    if it was trained on the same texts."""
    mse = model.cross_validation["mse"] or 0.0
    of_mean = model.cross_validation["mse_of_mean"] or 0.0
    if mse > of_mean:
        squared = f"squared error {mse:.3f}, of the mean rating {of_mean:.3f}"
        files.tell(f"warning: on its own data this model is worse than the mean rating: {squared}")
    in_training = rated["in_training"].sum()
    if in_training:
        files.tell(
            f"warning: {in_training} of {len(rated)} texts are among those that it was trained on"
        )
