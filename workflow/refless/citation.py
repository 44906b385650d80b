"""What a number is cited by: version, commit, date and command, and the signature of an answer.
Stage: none."""

import hashlib
import json
import os
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from refless import __version__
from refless.code_sums import PACKAGE


def made_by() -> dict[str, str]:
    """The ``version`` of refless; the ``commit`` of its checkout, empty where it is installed
    without one; the ``date`` of today (UTC; ``SOURCE_DATE_EPOCH`` where it is set); and the
    ``command`` as it was typed, empty outside of a run of the workflow."""
    seconds = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return {
        "version": __version__,
        "commit": commit_of(PACKAGE),
        "date": datetime.fromtimestamp(seconds, UTC).date().isoformat(),
        "command": os.environ.get("REFLESS_COMMAND", ""),
    }


def commit_of(folder: Path) -> str:
    """The commit that a folder's files are of, followed by ``-dirty`` where some differ from it;
    empty where git is not there, or does not know the files, as those of an installed package."""
    answer = ""
    for arguments in (
        ("ls-files", "--error-unmatch", "__init__.py"),
        ("describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"),
    ):
        try:
            answer = subprocess.run(
                ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True
            ).stdout
        except (OSError, subprocess.CalledProcessError):
            return ""
    return answer.strip()


def signature(**facts: Any) -> str:
    """What decides an answer, in one line, as sacreBLEU's scores have it (Post 2018, "A Call for
    Clarity in Reporting BLEU Scores"): answers of one signature are the same.

    facts : name and value, in the order of the line; None and empty values are left out, and of
        several values each stands behind a comma

    >>> signature(method="ridge", scale=(1, 5), seed=0, unit=None).split("|")[:-1]
    ['method:ridge', 'scale:1,5', 'seed:0']
    """
    facts["version"] = f"refless.{__version__}"
    words = {}
    for name, value in facts.items():
        listed = isinstance(value, (list, tuple))
        words[name] = ",".join(map(_word, value)) if listed else _word(value)
    return "|".join(f"{name}:{word}" for name, word in words.items() if word)


def _word(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.15g}"
    return "" if value is None else str(value)


def data_sum(content: Any) -> str:
    """Return the sum by which a signature knows texts and ratings: the beginning of a SHA-256.

    content : what JSON can have

    >>> data_sum([["a cat"], [0.5]])
    '15dbf6a673e4'
    """
    return hashlib.sha256(json.dumps(content).encode("ascii")).hexdigest()[:12]


def tables_sum(*tables: Any) -> str:
    """`data_sum` of tables of pandas: their rows in order, their columns in the order of the
    alphabet, as far as they hold a value; numbers count to the 15th digit."""
    contents = []
    for table in tables:
        held = table.dropna(axis=1, how="all").sort_index(axis=1).reset_index(drop=True)
        contents.append(held.to_json(orient="split", double_precision=15))
    return data_sum(contents)
