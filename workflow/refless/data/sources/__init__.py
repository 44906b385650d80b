"""The data sets: one module each, from its raw files to the tidy tables of `refless.data.ratings`.

A module of this package that has a function ``load`` is a loader, under its own name: nothing else
has to be told about it. ``load`` gets the paths and the options of an entry under ``data`` in the
configuration by name, and the entry's name if it has a parameter ``task``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from refless.errors import FormatError

if TYPE_CHECKING:  # so that asking for names does not import pandas
    from refless.data.ratings import RatedTexts


def loaders() -> list[str]:
    """The names of all loaders, found without importing them."""
    files = sorted(Path(__file__).parent.glob("[!_]*.py"))
    return [file.stem for file in files if "\ndef load(" in file.read_text(encoding="utf-8")]


def _load(loader: str) -> Callable[..., RatedTexts]:
    if loader not in loaders():
        remedy = f"choose one of: {', '.join(loaders())}"
        raise FormatError(f"there is no loader named {loader!r}", remedy=remedy)
    function: Callable[..., RatedTexts] = import_module(f"{__name__}.{loader}").load
    return function


def fault(loader: str, files: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """What a loader's signature says against its files and options, or an empty string."""
    from pydantic import ConfigDict, TypeAdapter, ValidationError

    function = _load(loader)
    signature = inspect.signature(function)
    task = {"task": ""} if "task" in signature.parameters else {}
    try:
        signature.bind(**task, **files, **options)
    except TypeError as error:
        known = ", ".join(name for name in signature.parameters if name != "task")
        return f"does not fit the loader {loader}: {error}; its files and options are {known}"
    hints, strict = get_type_hints(function), ConfigDict(strict=True)
    for name, value in options.items():
        try:
            TypeAdapter(hints.get(name, Any), config=strict).validate_python(value)
        except ValidationError as error:
            said = error.errors()[0]["msg"]
            return f".options.{name} is {value!r}: {said} (loader {loader})"
    return ""


def load(
    loader: str,
    task: str,
    files: Mapping[str, str | Path],
    options: Mapping[str, Any] | None = None,
) -> RatedTexts:
    """Load the data set ``task``, and check its tables.

    Parameters
    ----------
    files : the loader's name for each raw file -> its path
    options : further arguments of the loader
    """
    function = _load(loader)
    named = {"task": task} if "task" in inspect.signature(function).parameters else {}
    data = function(**files, **(options or {}), **named)
    data.texts["task"] = task
    return data.check()
