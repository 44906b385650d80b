"""Predictions of RNN-QE between the trainer and the tables.

Stage: prediction. In: a trainer's CSV (packed or not) and the JSON beside it. Out: the table, if it
was made from the data that are asked for.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from refless.data.ratings import read_table
from refless.errors import FormatError, StaleError
from refless.store.files import read_json, whole_file, write_json

PREDICTION_COLUMNS = [
    *("experiment", "setup", "fold", "seed", "part", "id", "raw", "prediction"),
]


# What the paper says of training (section 3.4; the batch from the authors' configuration).
PAPER: dict[str, dict[str, Any]] = {
    "schedule": {"pretrain": 20, "train": 500, "rate": 1e-4, "batch": 50},
    "architecture": {"cell": "gru", "embedding": 300, "hidden": 300, "layers": 2, "dropout": 0.5}
    | {"bidirectional": False, "output": "linear", "precision": "float32"},
}


def training_note(about: Mapping[str, Any]) -> str:
    """How these predictions were trained otherwise than the paper's, or an empty string."""
    settings = about["settings"]
    differ = [
        f"{name} {settings[part][name]} for {paper}"
        for part, values in PAPER.items()
        for name, paper in values.items()
        if name in settings.get(part, {}) and settings[part][name] != paper
    ]
    differ += ["pretrained vectors of words"] if settings.get("vectors") else []
    return f"trained otherwise than in the paper: {', '.join(differ)}" if differ else ""


def training_command(name: str) -> str:
    """What trains a set-up, for a row that has no predictions."""
    return f"`snakemake --cores 8 results/rnn_qe/predictions/{name}.csv`"


def predictions_note(name: str, about: Mapping[str, Any]) -> str:
    """One line of a footer: whose predictions, by what command, where and how long."""
    facts = [str(about[key]) for key in ("provenance", "command", "machine") if about.get(key)]
    # of the last part, where a run was interrupted
    facts += [f"at least {about['seconds']:,.0f} s"] if about.get("seconds") else []
    return f"predictions of {name}: " + ", ".join(filter(None, facts))


def about_path(path: str | Path) -> Path:
    """The JSON that belongs to ``<name>.csv`` or ``<name>.csv.gz``."""
    path = Path(path)
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".csv") + ".json")


def read_predictions(
    path: str | Path, data: Mapping[str, Any], texts: str
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A trainer's predictions and what is said about them.

    Parameters
    ----------
    path : columns `PREDICTION_COLUMNS`; a JSON beside it has ``settings`` (with ``data``),
        ``texts``, ``sha256`` (of the unpacked CSV) and ``provenance``
    data : the settings of the training data that are asked for
    texts : sum of the texts and ratings that are asked for (`refless.models.rnn_qe.data.Texts`)

    Raises
    ------
    FormatError : a file is missing or broken.
    StaleError : the CSV is not the one that the JSON is about; the data were others.
    """
    about = read_json(about_path(path))
    try:
        made, wanted_sum, seen = about["settings"]["data"], about["sha256"], about["texts"]
    except (KeyError, TypeError) as error:
        raise FormatError("says nothing about predictions", path=about_path(path)) from error
    if _sum(path) != wanted_sum:
        raise StaleError(
            "is not the table that its JSON is about", path=path, remedy="delete both and run again"
        )
    if made != dict(data):
        raise StaleError(
            f"was trained on other data ({made}; asked for: {dict(data)})",
            path=path,
            remedy="train again with rnn_qe.train: run, or take back the change under rnn_qe.data",
        )
    if seen != texts:
        raise StaleError(
            "was trained on other rated outputs or references than there are now",
            path=path,
            remedy="delete it and train again, or bring the former raw files back",
        )
    return read_table(path, PREDICTION_COLUMNS), about


def usable_predictions(
    path: str | Path, data: Mapping[str, Any], texts: str
) -> tuple[pd.DataFrame, dict[str, Any]] | None:
    """`read_predictions`, or nothing where predictions that came with refless are of other data.

    What somebody's own training left is refused as it is there.
    """
    try:
        return read_predictions(path, data, texts)
    except StaleError:
        if read_json(about_path(path)).get("provenance") != "shipped":
            raise
        return None


def _sum(path: str | Path) -> str:
    try:
        content = Path(path).read_bytes()
        if Path(path).suffix == ".gz":
            content = gzip.decompress(content)
    except (OSError, EOFError) as error:
        raise FormatError(f"cannot be read: {error}", path=path) from error
    return hashlib.sha256(content).hexdigest()


def pack(path: str | Path, directory: str | Path) -> Path:
    """Copy predictions as ``.csv.gz`` with their JSON, marked as shipped; same input, same bytes.

    Raises
    ------
    FormatError, StaleError : the file is not whole, or was not computed here.
    """
    about = read_json(about_path(path))
    read_predictions(path, about["settings"]["data"], about["texts"])
    if about.get("provenance") != "computed":
        raise StaleError("these predictions were not computed here", path=path)
    out = Path(directory) / (Path(path).name + ".gz")
    with whole_file(out) as partial:
        partial.write_bytes(gzip.compress(Path(path).read_bytes(), 9, mtime=0))
    write_json({**about, "provenance": "shipped"}, about_path(out))
    return out
