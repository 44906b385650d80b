"""The data sets: one module each, from its raw files to the tidy tables of `refless.data.ratings`.

Each module of this package is a loader, under its own name. Its function ``load`` gets by name the
paths and the options of an entry under ``data`` in the configuration, and as ``dataset`` the
entry's name.
"""

import ast
import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from refless.errors import FormatError

if TYPE_CHECKING:
    from refless.data.ratings import RatedTexts

_LIGHT = ("collections.abc", "pathlib", "pydantic", "typing")
"""Modules that the types of a loader's arguments may come from."""


def loaders() -> list[str]:
    """The names of all loaders, found without importing them."""
    return sorted(file.stem for file in Path(__file__).parent.glob("[!_]*.py"))


def check(loader: str, files: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Raise a ValueError if a loader takes no such files and options."""
    from pydantic import ConfigDict, ValidationError, create_model

    parameters = _parameters(loader)
    fields: dict[str, Any] = {
        name: (p.annotation, ... if p.default is p.empty else p.default)
        for name, p in parameters.items()
    }
    model = create_model(loader, __config__=ConfigDict(extra="forbid", strict=True), **fields)
    try:
        model.model_validate({**files, **options, "dataset": ""})
    except ValidationError as error:
        faults = "; ".join(f"{fault['loc'][0]}: {fault['msg']}" for fault in error.errors())
        accepted = ", ".join(name for name in parameters if name != "dataset")
        raise ValueError(f"{faults} (the loader {loader} takes {accepted})") from error


@cache
def _parameters(loader: str) -> Mapping[str, inspect.Parameter]:
    """The arguments of a loader's function ``load``. Its module is read and not imported, since it
    needs pandas, which the Snakemake that plans a run need not have."""
    path = Path(__file__).with_name(f"{loader}.py")
    kept: list[ast.stmt] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module in _LIGHT:
            kept.append(node)
        if isinstance(node, ast.FunctionDef) and node.name == "load":
            node.returns = None
            node.body = [ast.Pass(lineno=node.lineno, col_offset=0)]
            kept.append(node)
    names: dict[str, Any] = {}
    exec(compile(ast.Module(kept, []), str(path), "exec"), names)
    return inspect.signature(names["load"], eval_str=True).parameters


def load(
    loader: str,
    dataset: str,
    files: Mapping[str, str | Path],
    options: Mapping[str, Any] | None = None,
    rated_for: Iterable[str] = (),
) -> "RatedTexts":
    """Load the data set ``dataset`` from its files, by the loader's names for them, and check its
    tables. Raises FormatError: the files are not what the loader reads, or no text is rated and
    there are experiments that it is ``rated_for``."""
    try:
        module: Any = import_module(f"{__name__}.{loader}")
        data: RatedTexts = module.load(**files, **(options or {}), dataset=dataset).tidied(dataset)
    except Exception as error:
        if isinstance(error, FormatError) and error.path is not None:
            raise
        paths = ", ".join(map(str, files.values()))
        why = f"{type(error).__name__}: {error}"
        message = f"cannot be read by the loader {loader}: {why.strip()}"
        remedy = "delete it and run again, which fetches it; or put the right one there"
        raise FormatError(message, path=paths, remedy=remedy) from error
    if rated_for and not data.texts["quality"].notna().any():
        message = f"no text of {dataset} is rated, and {', '.join(sorted(rated_for))} needs ratings"
        remedy = f"take {dataset} out of these experiments in the configuration, or give it ratings"
        raise FormatError(message, path=next(iter(files.values())), remedy=remedy)
    return data
