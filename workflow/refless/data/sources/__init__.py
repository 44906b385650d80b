"""The data sets: one module each, from its raw files to the tidy tables of `refless.data.ratings`.

Stage: ratings. In: the name of a task and the paths of its raw files. Out: a `RatedTexts`.

A module of this package whose ``TASKS`` is a literal tuple of task names, and which has a function
``load``, is a data set: nothing else has to be told about it. No module is imported before one
of its tasks is asked for, and a broken one stands in nobody else's way.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from refless.data.ratings import RatedTexts
from refless.errors import FormatError


@cache
def tasks() -> dict[str, str]:
    """Task name -> name of the module in this package that loads it, sorted by task.

    Found by reading the modules' text, without importing them. A module that is not Python, or
    whose ``TASKS`` is not written out, offers no task.
    """
    found: dict[str, str] = {}
    for file in sorted(Path(__file__).parent.glob("[!_]*.py")):
        for task in _declared(file):
            if task in found:
                raise FormatError(
                    f"task {task!r} is claimed by sources/{found[task]}.py as well",
                    path=file,
                    remedy="give one of the two another name in its TASKS",
                )
            found[task] = file.stem
    return dict(sorted(found.items()))


def _declared(file: Path) -> tuple[str, ...]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return ()
    for node in tree.body:
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == ["TASKS"]:
            try:
                return tuple(ast.literal_eval(node.value))
            except ValueError:
                return ()
    return ()


def module(task: str) -> ModuleType:
    """The module that loads ``task``, imported now.

    Raises
    ------
    FormatError : no module offers that task.
    """
    known = tasks()
    if task not in known:
        raise FormatError(
            f"there is no data set named {task!r}",
            remedy=f"choose one of: {', '.join(known)}",
        )
    return import_module(f"{__name__}.{known[task]}")


def load(task: str, **arguments: Any) -> RatedTexts:
    """Load ``task`` with its module's ``load``, given paths and choices by name, and check it.

    Raises
    ------
    FormatError : an unknown task; an argument that the module's ``load`` does not take or
        misses; files that are not in its format.
    """
    function = module(task).load
    signature = inspect.signature(function)
    if "task" in signature.parameters:
        arguments["task"] = task
    try:
        signature.bind(**arguments)
    except TypeError as error:
        raise FormatError(
            f"the loader of {task!r} cannot be called like this: {error}",
            remedy=f"its arguments are {', '.join(signature.parameters)}",
        ) from error
    result: RatedTexts = function(**arguments)
    return result.check()
