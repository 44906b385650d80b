"""Writes below each command of README and docs what it prints today: ``python -m
tests.renew_examples``, from the root of a clone. Read what changed before you commit it."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conftest import ROOT
from tests.test_docs import PAGES, examples, text_of

RUN = "import sys; from refless.cli import main; sys.exit(main())"


def main() -> None:
    """Renew every page; commands of one page may read what those before them wrote."""
    printed: dict[str, str] = {}
    with TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        for page in filter(examples, PAGES):
            text = text_of(page)
            for line, below in examples(page):
                if line not in printed:
                    printed[line] = run(line, folder)
                before = "\n".join([f"$ {line}", *below])
                after = f"$ {line}\n{printed[line]}"
                text = text.replace(f"{before}\n", after if below else f"$ {line}\n")
            (ROOT / page).write_text(text, encoding="utf-8")


def run(line: str, folder: str) -> str:
    """What a command prints, first on standard output and then on standard error."""
    words = [sys.executable, "-c", RUN, *shlex.split(line)[1:]]
    told = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
    done = subprocess.run(words, cwd=folder, env=told, capture_output=True, text=True, check=True)
    waiting = re.compile(r"(?m)^\w[\w ]*: .*\d+ s\n")  # how many of them hangs on the machine
    return done.stdout + waiting.sub("", done.stderr)


if __name__ == "__main__":
    main()
