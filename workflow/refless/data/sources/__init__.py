"""The data sets: one module each, from its raw files to the tidy tables of `refless.data.ratings`.

Stage: ratings. In: a loader, the name of the task, the paths of its raw files. Out: a `RatedTexts`.

A module of this package that has a function ``load`` is a loader, under its own name: nothing else
has to be told about it. ``load`` gets the paths and the options of an entry under ``data`` in the
configuration by name, and the entry's name if it has a parameter ``task``.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, get_type_hints

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
    """The module of a loader, imported now; FormatError if there is none."""
    if loader not in loaders():
        remedy = f"choose one of: {', '.join(loaders())}"
        raise FormatError(f"there is no loader named {loader!r}", remedy=remedy)
    return import_module(f"{__name__}.{loader}")


def fault(loader: str, files: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """What a loader's signature says against its files and options, or an empty string."""
    from pydantic import ConfigDict, TypeAdapter, ValidationError

    function = module(loader).load
    names = inspect.signature(function).parameters
    told = {**({"task": ""} if "task" in names else {}), **files, **options}
    try:
        inspect.signature(function).bind(**told)
    except TypeError as error:
        known = ", ".join(name for name in names if name != "task")
        return f"does not fit the loader {loader}: {error}; its files and options are {known}"
    hints, strict = get_type_hints(function), ConfigDict(strict=True)
    for name, value in options.items():
        try:
            TypeAdapter(hints.get(name, Any), config=strict).validate_python(value)
        except ValidationError as error:
            first = error.errors()[0]
            return f".options.{name} is {value!r}: {first['msg']} (loader {loader})"
    return ""


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
    FormatError : a file or an option that the loader does not take; files that are not in its
        format.
    """
    options = options or {}
    if said := fault(loader, files, options):
        raise FormatError(f"{task}: {said}")
    function = module(loader).load
    more = {"task": task} if "task" in inspect.signature(function).parameters else {}
    result: RatedTexts = function(**files, **options, **more)
    result.texts["task"] = task
    return result.check()
