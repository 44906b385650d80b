"""What a number is cited by: version, commit, date and command. Stage: none."""

import os
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

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
