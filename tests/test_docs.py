"""What is made from the code and the tests is up to date."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_page_of_failures_says_what_the_drills_say() -> None:
    command = [sys.executable, "docs/failures.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
