"""Which code a job depends on.

Stage: none. In: scripts or modules. Out: one sum over their code and that of all modules of the
package that they import, directly or not. Comments, docstrings and messages of errors are left out,
so that correcting one makes no result again.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent

PLUMBING = (
    *("api.", "availability.", "cli/", "errors.", "fetch/", "job.", "kernels/_registry", "plan."),
    *("run_messages.", "settings/"),
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
    return tuple(sorted(files))


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
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """The package's files that one file imports, also inside functions."""
    if path.suffix != ".py":
        return ()
    names: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    files = set()
    for name in names:
        first, *rest = name.split(".")
        if first == "refless":
            stem = PACKAGE.joinpath(*rest)
            files |= {stem.with_suffix(".py"), stem / "__init__.py"}
    return tuple(sorted(path for path in files if path.is_file()))


@cache
def _code(path: Path) -> str:
    if path.suffix != ".py":
        return path.read_text(encoding="utf-8")
    return ast.dump(_Bare().visit(_tree(path)))


class _Bare(ast.NodeTransformer):
    """Leaves out docstrings and messages of errors."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        string = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if string else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Raise(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
