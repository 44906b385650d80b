"""Which code a file hangs on: the one answer for Snakemake's jobs and for signatures.

Stage: none. In: a script or a module. Out: the files of the package that it imports, in turn, and
a sum of their code without comments, docstrings and blank lines, so that only a change of what
runs counts as a change.
"""

from __future__ import annotations

import ast
import hashlib
import re
from bisect import bisect
from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]

PLUMBING = (
    *("availability.py", "cli/", "errors.py", "job.py", "settings/"),
    *("data/encoders.py", "data/fetch.py", "data/obtain.py"),
)
"""Parts of the package that bring things, say what is wrong, and end up in no result: an edited
message is no reason to compute anything again."""
CARRIERS = (*PLUMBING, "data/", "report/", "store/")
"""Parts that carry numbers and decide none: no signature hangs on them."""


def closure(*entries: str | Path) -> tuple[Path, ...]:
    """The files that one or more files hang on: themselves and all that they import of refless.

    Parameters
    ----------
    entries : paths, or names below the package such as ``kernels/bleu.py``
    """
    found: set[Path] = set()
    waiting = [PACKAGE / entry for entry in entries]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imports(path)
    return tuple(sorted(found))


def code_sum(*entries: str | Path, text: str = "") -> str:
    """SHA-256 of the code that one or more files hang on, without the `PLUMBING`.

    Files of another kind count byte for byte, and so does ``text``.
    """
    paths = (path for path in closure(*entries) if not _name(path).startswith(PLUMBING))
    return _sum(paths, text)


def decisive_sum(*entries: str | Path) -> str:
    """The same without the `CARRIERS`, for the signature of numbers."""
    return _sum(path for path in closure(*entries) if not _name(path).startswith(CARRIERS))


def package_sum() -> str:
    """SHA-256 of all code and data files of the package, byte for byte."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in {".py", ".yaml", ".json", ".txt", ".html", ".css", ".js"}:
            digest.update(f"{_name(path)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _sum(paths: Iterable[Path], text: str = "") -> str:
    digest = hashlib.sha256(text.encode())
    for path in paths:
        digest.update(f"{_name(path)}\n{_code(path)}\n".encode())
    return digest.hexdigest()


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else path.name


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """The package's files that one file imports, wherever in the file."""
    if path.suffix != ".py":
        return ()
    names: set[str] = set()
    for node in _statements(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    found = set()
    for name in names:
        first, *rest = name.split(".")
        if first == "refless":
            stem = PACKAGE.joinpath(*rest)
            found |= {stem.with_suffix(".py"), stem / "__init__.py"}
    return tuple(sorted(path for path in found if path.is_file()))


@cache
def _statements(path: Path) -> tuple[ast.stmt, ...]:
    """All statements of a file, however deep. Expressions, which hold none, are not walked over:
    every run does this for every file."""
    found: list[ast.stmt] = []
    waiting: list[Any] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        for name in ("body", "orelse", "finalbody"):
            own = getattr(node, name, ())
            found += own
            waiting += own
        for name in ("handlers", "cases"):
            waiting += getattr(node, name, ())
    return tuple(found)


_STRING_OR_COMMENT = re.compile(
    r'(?s:"{3}(?:[^\\]|\\.)*?"{3}' + r"|'{3}(?:[^\\]|\\.)*?'{3})"
    r'|"(?:[^"\\\n]|\\(?s:.))*"' + r"|'(?:[^'\\\n]|\\(?s:.))*'" + r"|(#[^\n]*)"
)
"""Strings, so that a number sign in one is no comment; group 1 is a comment. Python's own tokenizer
finds the same, slowly."""


@cache
def _code(path: Path) -> str:
    """The source without comments, docstrings and blank lines.

    They are cut out by position and the rest is left as it stands, so that the result does not
    depend on how a version of Python would print it.
    """
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return source
    lines = source.split("\n")
    cuts = []  # (first line, first column, last line, last column), in characters, 0-based
    for node in _statements(path):
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        if isinstance(node.value.value, str):  # a docstring, or one of a variable
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            # Columns of the syntax tree count bytes.
            begin = len(lines[first].encode()[: node.col_offset].decode())
            end = len(lines[last].encode()[: node.end_col_offset].decode())
            cuts.append((first, begin, last, end))
    kept: set[int] = set()  # lines that a string goes on after: blanks count there
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for match in _STRING_OR_COMMENT.finditer(source):
        first, last = (bisect(starts, at) - 1 for at in match.span())
        if match[1]:
            begin = match.start() - starts[first]
            cuts.append((first, begin, first, begin + len(match[1])))
        else:
            kept.update(range(first, last))
    for first, begin, last, end in sorted(cuts, reverse=True):
        lines[last] = lines[first][:begin] + lines[last][end:]
        for line in range(first, last):
            lines[line] = ""
            kept.discard(line)
    result = [line if i in kept else line.rstrip() for i, line in enumerate(lines)]
    return "\n".join(line for i, line in enumerate(result) if line or i in kept or (i - 1) in kept)
