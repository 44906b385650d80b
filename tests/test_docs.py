"""What is made from the code and the tests is up to date."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from refless.errors import FormatError

ROOT = Path(__file__).parents[1]


@pytest.fixture
def pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pages", ROOT / "docs/pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_sentence_that_its_table_does_not_bear_out_makes_no_page(pages: ModuleType) -> None:
    assert pages.require(True, "two are level") == ""
    with pytest.raises(FormatError, match="two are level"):
        pages.require(False, "two are level")
    assert pages.level({"x_low": -0.1, "x_high": 0.2}, "x")
    assert not pages.level({"x_low": 0.1, "x_high": 0.2}, "x")


def test_the_page_of_failures_says_what_the_drills_say() -> None:
    command = [sys.executable, "docs/failures.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
