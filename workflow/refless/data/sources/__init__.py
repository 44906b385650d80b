"""The data sets: one module each, from its raw files to the tidy tables of `refless.data.ratings`.

Stage: ratings. In: a loader, the name of the task, the paths of its raw files. Out: a `RatedTexts`.

A module of this package that has a function ``load`` is a loader, under its own name: nothing else
has to be told about it. None is imported before it is asked for, and a broken one stands in nobody
else's way. ``load`` gets the paths and the options of an entry under ``data`` in the configuration
by name, and the entry's name if it has a parameter ``task``.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from refless.errors import FormatError

if TYPE_CHECKING:  # so that asking for names does not import pandas
    from refless.data.ratings import RatedTexts


def loaders() -> list[str]:
    """The names of all loaders, found without importing them."""
    return [
        file.stem
        for file in sorted(Path(__file__).parent.glob("[!_]*.py"))
        if "\ndef load(" in file.read_text(encoding="utf-8", errors="replace")
    ]


def module(loader: str) -> ModuleType:
    """The module of a loader, imported now.

    Raises
    ------
    FormatError : there is no loader of that name.
    """
    if loader not in loaders():
        raise FormatError(
            f"there is no loader named {loader!r}",
            remedy=f"choose one of: {', '.join(loaders())}",
        )
    return import_module(f"{__name__}.{loader}")


def load(
    loader: str,
    task: str,
    files: Mapping[str, str | Path],
    options: Mapping[str, Any] | None = None,
) -> RatedTexts:
    """Load the data set ``task`` and check it.

    Parameters
    ----------
    loader : a module of this package
    task : the data set's name, which all its rows get
    files : the loader's name for each raw file -> its path
    options : further arguments of the loader

    Raises
    ------
    FormatError : an unknown loader; a file or an option that it does not take or misses; files
        that are not in its format.
    """
    function = module(loader).load
    signature = inspect.signature(function)
    arguments = {**files, **(options or {})}
    if "task" in signature.parameters:
        arguments["task"] = task
    try:
        signature.bind(**arguments)
    except TypeError as error:
        known = [name for name in signature.parameters if name != "task"]
        raise FormatError(
            f"the loader {loader} of {task!r} cannot be called like this: {error}",
            remedy=f"its files and options are {', '.join(known)}",
        ) from error
    result: RatedTexts = function(**arguments)
    result.texts["task"] = task
    return result.check()
