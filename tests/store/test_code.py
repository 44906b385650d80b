"""What a job and a signature hang on: the code that decides, wherever it is imported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from refless.store import code

SOURCE = '''"""A module."""

from refless.kernels._helper import help_

TABLE = """a

b # no comment
"""  # a comment
LONG = (
    "a"  # here

    # and here
    "b"
)
"""What LONG is."""


def value(x):
    """What it does,

    and more.
    """
    # How.
    return f"{x}#" + '#' + help_(x)  # so


class Thing:
    """é: bytes are not characters."""  # é

    size = 1
'''

SOURCES = {
    "kernels/a.py": "from refless.models import b\nfrom refless import errors\n",
    "models/__init__.py": "",
    "models/b.py": '"""Text."""\n\nimport refless.store.c\n\n\ndef f():\n    return 1  # why\n',
    "store/c.py": "import numpy\n",
    "errors.py": "x = 1\n",
    "models/other.py": "y = 1\n",
}


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Write a module of a small package that stands in for ours."""
    monkeypatch.setattr(code, "PACKAGE", tmp_path)

    def write(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        for cached in (code._imports, code._statements, code._code):
            cached.cache_clear()

    for name, text in SOURCES.items():
        write(name, text)
    return write


def test_imports_are_followed(write: Callable[[str, str], None], tmp_path: Path) -> None:
    found = {path.relative_to(tmp_path).as_posix() for path in code.closure("kernels/a.py")}
    assert found == set(SOURCES) - {"models/other.py"}


@pytest.mark.parametrize(
    ("name", "text", "job", "signature"),
    [
        ("models/b.py", SOURCES["models/b.py"].replace("1", "2"), True, True),
        ("models/b.py", SOURCES["models/b.py"].replace("Text", "Better"), False, False),
        ("models/b.py", SOURCES["models/b.py"].replace("# why", "# because"), False, False),
        ("models/other.py", "y = 2\n", False, False),
        ("store/c.py", "import scipy\n", True, False),
        ("errors.py", "x = 2\n", False, False),
    ],
)
def test_what_decides_counts_and_nothing_else(
    write: Callable[[str, str], None], name: str, text: str, job: bool, signature: bool
) -> None:
    before = code.code_sum("kernels/a.py"), code.decisive_sum("kernels/a.py")
    write(name, text)
    after = code.code_sum("kernels/a.py"), code.decisive_sum("kernels/a.py")
    assert (before[0] != after[0], before[1] != after[1]) == (job, signature)


def test_comments_docstrings_and_blank_lines_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(SOURCE, encoding="utf-8")
    expected = (
        "from refless.kernels._helper import help_\n"
        'TABLE = """a\n'
        "\n"
        "b # no comment\n"
        '"""\n'
        "LONG = (\n"
        '    "a"\n'
        '    "b"\n'
        ")\n"
        "def value(x):\n"
        "    return f\"{x}#\" + '#' + help_(x)\n"
        "class Thing:\n"
        "    size = 1"
    )
    assert code._code(path) == expected
