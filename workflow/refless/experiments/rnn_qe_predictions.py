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

from refless.errors import FormatError, StaleError
from refless.files import read_json, whole_file, write_json
from refless.ratings import read_table

PREDICTION_COLUMNS = [
    *("experiment", "setup", "fold", "seed", "part", "id", "raw", "prediction"),
]


def about_path(path: str | Path) -> Path:
    """The JSON that belongs to ``<name>.csv`` or ``<name>.csv.gz``."""
    path = Path(path)
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".csv") + ".json")


def read_predictions(
    path: str | Path, data: Mapping[str, Any]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A trainer's predictions and what is said about them.

    Parameters
    ----------
    path : columns `PREDICTION_COLUMNS`; a JSON beside it has ``settings`` (with ``data``),
        ``sha256`` (of the unpacked CSV) and ``provenance``
    data : the settings of the training data that are asked for

    Raises
    ------
    FormatError : a file is missing or broken.
    StaleError : the CSV is not the one that the JSON is about; the data were others.
    """
    about = read_json(about_path(path))
    try:
        made, wanted_sum = about["settings"]["data"], about["sha256"]
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
    return read_table(path, PREDICTION_COLUMNS), about


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
    read_predictions(path, about["settings"]["data"])
    if about.get("provenance") != "computed":
        raise StaleError("these predictions were not computed here", path=path)
    out = Path(directory) / (Path(path).name + ".gz")
    with whole_file(out) as partial:
        partial.write_bytes(gzip.compress(Path(path).read_bytes(), 9, mtime=0))
    write_json({**about, "provenance": "shipped"}, about_path(out))
    return out
