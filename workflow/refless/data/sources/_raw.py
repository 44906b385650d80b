"""What the readers of raw files share. Stage: ratings."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import pandas as pd


def read_table(
    path: str | Path | IO[bytes], delimiter: str = ",", quoting: bool = True
) -> pd.DataFrame:
    """A file with a header, every cell as it is written; ``quoting`` False takes a quotation mark
    as a character like any other."""
    style: Any = csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE
    return pd.read_csv(path, sep=delimiter, dtype=str, na_filter=False, quoting=style)


def joined(keys: Iterable[str], names: Iterable[str]) -> pd.Series:
    """Key -> all of its names, each once, joined by ``+``."""
    found: dict[str, dict[str, None]] = {}
    for key, name in zip(keys, names, strict=True):
        found.setdefault(key, {})[name] = None
    return pd.Series({key: "+".join(own) for key, own in found.items()})
