"""Tables of numbers between two stages, with a JSON beside each that says what it hangs on.

Stage: prediction. In: a table, and what it was made of. Out: ``<name>.csv`` and ``<name>.json``,
refused where they no longer fit each other, the code or the settings. No text is in them, so they
may be shipped. (Arrays: `refless.store.numbers`.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from refless.data.fetch import file_sum
from refless.data.ratings import read_table, write_table
from refless.errors import FormatError, StaleError
from refless.store.files import read_json, write_json
from refless.store.numbers import REMEDY


def write_numbers(table: pd.DataFrame, about: dict[str, Any], path: str | Path) -> None:
    """Write a table of numbers, and beside it a JSON with what it depends on.

    ``about`` has ``provenance`` and ``signatures``, a list of kernels' signatures (empty if none
    decides the numbers); the sum of the table is added to it.
    """
    path = Path(path)
    write_table(table, path)
    write_json({**about, "sha256": file_sum(path)}, path.with_suffix(".json"))


def read_numbers(path: str | Path, columns: Sequence[str]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read what `write_numbers` wrote.

    Raises
    ------
    FormatError : a file is missing or broken.
    StaleError : the table is not the one that was signed, or a kernel's code is another now.
    """
    from refless.kernels import matches_code

    path = Path(path)
    about = read_json(path.with_suffix(".json"))
    signed = about.get("signatures") if isinstance(about, dict) else None
    if signed is None or "sha256" not in about or "provenance" not in about:
        raise FormatError("is no signature of numbers", path=path.with_suffix(".json"))
    table = read_table(path, columns)
    if file_sum(path) != about["sha256"]:
        raise StaleError("is not the table that was signed", path=path, remedy=REMEDY)
    reasons = {reason for signature in signed for reason in matches_code(signature)}
    if reasons:
        raise StaleError("is stale: " + "; ".join(sorted(reasons)), path=path, remedy=REMEDY)
    return table, about


def require_settings(
    about: Mapping[str, Any],
    asked: Mapping[str, Any],
    path: str | Path,
    section: str,
) -> None:
    """Make sure that numbers were made under the settings asked for, of those in ``asked``.

    Parameters
    ----------
    section : of the configuration, where a user would take a change back

    Raises
    ------
    StaleError : other settings; those asked for may differ from those of shipped numbers.
    """
    made = about.get("settings", {})
    differ = [name for name in asked if made.get(name) != asked[name]]
    if differ:
        shown = "; ".join(f"{name}: {made.get(name)}, asked for: {asked[name]}" for name in differ)
        raise StaleError(
            f"was made under other settings ({shown})",
            path=path,
            remedy="compute it from the data (shipped numbers are for the settings they were made"
            f" under), or take back the change under {section}",
        )


def require_texts(
    about: Mapping[str, Any], ratings: Sequence[str | Path], path: str | Path
) -> None:
    """Make sure that numbers are about the texts that the other stages see.

    Parameters
    ----------
    about : its ``texts`` is task -> sum of the texts
    ratings : directories of tasks' tables; tasks that are in none of them are not looked at

    Raises
    ------
    StaleError : the texts of a task are others now, e.g. since its loader has changed.
    """
    for directory in ratings:
        now = read_json(Path(directory) / "about.json")
        made = about.get("texts", {}).get(now["task"])
        if made is not None and made != now["text_sum"]:
            raise StaleError(
                f"was made from other texts of {now['task']}",
                path=path,
                remedy=REMEDY,
            )
