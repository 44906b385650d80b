"""The list of what comes with refless: ``manifest.csv`` in its folder. Stage: none."""

import csv
from pathlib import Path

from refless.errors import FormatError

MANIFEST = "manifest.csv"
"""Columns path, sha256 (of the bytes), digest (of the settings, see `refless.plan`)."""
BACK = "`git checkout -- resources/shipped` brings it back"


def read_manifest(folder: Path) -> dict[str, tuple[str, str]]:
    """Return the list of the shipped files in a folder, empty where the folder is not there: path
    -> SHA-256 of the bytes, and digest of the settings.

    Raises FormatError: the folder's list is missing or broken.
    """
    path = folder / MANIFEST
    if not folder.is_dir():
        return {}
    try:
        with open(path, newline="", encoding="utf-8") as handle:
            rows = list(csv.DictReader(handle, strict=True))
        return {row["path"]: (row["sha256"], row["digest"]) for row in rows}
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise FormatError(f"cannot be read: {error}", path=path, remedy=BACK) from error
