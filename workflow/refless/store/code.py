"""Which code a file hangs on: the one answer for Snakemake's jobs and for signatures.

Stage: none. In: a script or a module. Out: the files of the package that it imports, in turn, and
a sum of their code without comments, docstrings and blank lines, so that only a change of what
runs counts as a change.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]

PLUMBING = (
    *("availability.py", "cli/", "errors.py", "job.py", "settings/"),
    *("data/encoders.py", "data/fetch.py", "data/obtain.py", "data/places.py", "data/raw_files.py"),
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
    for node in ast.walk(_tree(path)):
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
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


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
    for node in ast.walk(_tree(path)):
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        if isinstance(node.value.value, str):  # a docstring, or one of a variable
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            # Columns of the syntax tree count bytes.
            begin = len(lines[first].encode()[: node.col_offset].decode())
            end = len(lines[last].encode()[: node.end_col_offset].decode())
            cuts.append((first, begin, last, end))
    kept: set[int] = set()  # lines that a string goes on after: blanks count there
    opened = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        (line, column), kind = token.start, tokenize.tok_name[token.type]
        if kind == "COMMENT":
            cuts.append((line - 1, column, line - 1, column + len(token.string)))
        elif kind == "STRING":
            kept.update(range(line - 1, token.end[0] - 1))
        elif kind == "FSTRING_START":  # in pieces since Python 3.12
            opened.append(line)
        elif kind == "FSTRING_END":
            kept.update(range(opened.pop() - 1, token.end[0] - 1))
    for first, begin, last, end in sorted(cuts, reverse=True):
        lines[last] = lines[first][:begin] + lines[last][end:]
        for line in range(first, last):
            lines[line] = ""
            kept.discard(line)
    result = [line if i in kept else line.rstrip() for i, line in enumerate(lines)]
    return "\n".join(line for i, line in enumerate(result) if line or i in kept or (i - 1) in kept)
