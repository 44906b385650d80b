"""Which code a job depends on.

Stage: none. In: scripts or modules. Out: one sum over their code and that of all modules of the
package that they import, directly or not. Comments, docstrings and messages of errors are left out,
so that correcting one makes no result again.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent

PLUMBING = (
    "api.",
    "availability.",
    "cli/",
    "errors.",
    "fetch/",
    "job.",
    "kernel_registry.",
    "plan.",
    "resources/",
    "run_messages.",
    "settings/",
    "steps.",
)
"""Parts of the package that bring things, say what is wrong, and end up in no result; and the list
of kernels, of which each job hangs on its own entries."""


def closure(*entries: str | Path) -> tuple[Path, ...]:
    """One or more files and all that they import of the package, directly or not, but for the
    `PLUMBING`. Entries are paths, or names such as ``kernels/bleu.py``."""
    files: set[Path] = set()
    waiting = [PACKAGE / entry for entry in entries]
    while waiting:
        path = waiting.pop()
        if path not in files and not _name(path).startswith(PLUMBING):
            files.add(path)
            waiting += _imports(path)
    return tuple(sorted(files, key=_name))  # wherever scripts and package lie


def code_sum(*entries: str | Path, text: str = "") -> str:
    """SHA-256 of the code of a `closure`, and of ``text``; of files other than Python, of all
    bytes."""
    digest = hashlib.sha256(text.encode())
    for path in closure(*entries):
        digest.update(f"{_name(path)}\n{_code(path)}\n".encode())
    return digest.hexdigest()


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else path.name


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """The package's files that one file imports, also inside functions."""
    files = set()
    for name in _read(path)[1]:
        first, *rest = name.split(".")
        if first == "refless":
            stem = PACKAGE.joinpath(*rest)
            files |= {stem.with_suffix(".py"), stem / "__init__.py"}
    return tuple(sorted(path for path in files if path.is_file()))


def _code(path: Path) -> str:
    """What a file says to Python; all of it where it is no Python."""
    return _read(path)[0]


@cache
def _read(path: Path) -> tuple[str, frozenset[str]]:
    """The code of a file, without docstrings and messages of errors, and the names of all modules
    and of what is imported from them. In one walk, for each start of Snakemake does it."""
    text = path.read_text(encoding="utf-8")
    names = set[str]()
    if path.suffix == ".py":
        text = _written(ast.parse(text), names)
    return text, frozenset(names)


def _written(node: Any, names: set[str]) -> str:
    """A part of a syntax tree as text. Adds to ``names`` what it imports."""
    if isinstance(node, list):
        return f"[{','.join([_written(part, names) for part in node])}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        if isinstance(node.value.value, str):
            return ""
    elif isinstance(node, ast.Raise):
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return f"Raise({_written(raised, names)})"
    elif isinstance(node, ast.Import):
        names |= {alias.name for alias in node.names}
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    # whether a name is read or written, its place says
    fields = [name for name in node._fields if name not in ("ctx", "kind", "type_comment")]
    parts = [_written(getattr(node, name, None), names) for name in fields]
    return f"{type(node).__name__}({','.join(parts)})"
