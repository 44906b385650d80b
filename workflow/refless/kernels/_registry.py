"""Which kernels there are, and where: found by looking, not by a list.

Stage: kernels (helper). In: a kernel's name. Out: its module, or the module's file.

Names are read from the modules' source without importing them, because that would compile them.
"""

from __future__ import annotations

import ast
import importlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from refless.errors import KernelError

FOLDER = Path(__file__).parent


@cache
def constants(path: Path) -> dict[str, Any]:
    """Constants in capitals that a module's source states literally."""
    found = {}
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign):
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            continue
        if isinstance(target, ast.Name) and target.id.isupper():
            with suppress(ValueError):
                found[target.id] = ast.literal_eval(value)
    return found


@cache
def _modules() -> dict[str, Path]:
    """Kernel name to the file of its module."""
    return {
        name: path
        for path in sorted(FOLDER.glob("[!_]*.py"))
        for name in constants(path).get("NAMES", ())
    }


def names() -> list[str]:
    """All kernels, family by family."""
    return list(_modules())


def module_path(name: str) -> Path:
    """The file of a kernel's module.

    Raises
    ------
    KernelError : no kernel is called so.
    """
    known = _modules()
    path = known.get(name) or known.get(name.partition(".")[0] + ".*")
    if path is None:
        raise KernelError(f"no kernel is called {name!r}", remedy="use one of " + ", ".join(known))
    return path


def load(name: str) -> ModuleType:
    """The module of a kernel, imported now if it was not before."""
    return importlib.import_module(f"refless.kernels.{module_path(name).stem}")


def highest(name: str) -> float:
    """The highest value that a kernel can have: 1, unless its module's HIGHEST says otherwise."""
    return float(constants(module_path(name)).get("HIGHEST", {}).get(name, 1.0))
