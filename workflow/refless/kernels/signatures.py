"""Signatures: are stored kernel numbers still what the code would compute?

Stage: kernels (helper). In: a kernel's name, the sum of its data, its options. Out: a dictionary
for JSON, to be kept beside the numbers; later, the reasons why it no longer fits the code.

A signature holds the kernel's name, a fingerprint of its source, the versions of the packages and
the sums of the resources that decide its values, its options and the sum of its texts. Paths,
times and machines are not in it.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import inspect
import io
import json
import tokenize
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from refless.errors import KernelError
from refless.kernels._registry import FOLDER, constants, load, module_path

_PACKAGE = "refless.kernels"


def signature(
    name: str, data_sum: str, *, resources: Mapping[str, str] | None = None, **options: Any
) -> dict[str, Any]:
    """What the numbers of a kernel depend on.

    Parameters
    ----------
    name : a kernel
    data_sum : sum of the texts (and of whatever else went in), e.g. from `text_sum`
    resources : sums of the kernel's resources as an earlier signature states them (its entry
        ``resources``); without it they are computed, so the resources must be at hand
    options : as given to the kernel. Those that say where a resource lies are not recorded; the
        resource's sum is.

    Raises
    ------
    KernelError : unknown kernel, a missing resource, or an option that JSON cannot hold.
    """
    stated = constants(module_path(name))
    places = {key: options.pop(key) for key in stated.get("LOCATIONS", ()) if key in options}
    if resources is None:
        resources = _resources(name, places) if "LOCATIONS" in stated else {}
    try:
        options = json.loads(json.dumps(options, sort_keys=True))
    except (TypeError, ValueError) as error:
        raise KernelError(f"an option of {name} cannot be signed: {error}") from error
    return {
        "kernel": name,
        "fingerprint": fingerprint(name),
        "packages": {package: _version(package) for package in _packages(name)},
        "resources": dict(resources),
        "options": options,
        "data": data_sum,
    }


def code_signature(modules: Iterable[str], data_sum: str) -> dict[str, Any]:
    """What numbers depend on that no kernel alone makes.

    Parameters
    ----------
    modules : files of the package that compute them, relative to it: ``models/delta_bleu.py``
    data_sum : sum of what went in
    """
    modules = sorted(modules)
    return {"modules": modules, "fingerprint": _code_sum(modules), "data": data_sum}


def _code_sum(modules: Iterable[str]) -> str:
    """SHA-256 of the code of modules, without comments, docstrings and blank lines."""
    digest = hashlib.sha256()
    for name in modules:
        source = (FOLDER.parent / name).read_text(encoding="utf-8")
        digest.update(f"{name}\n{_code(source)}\n".encode())
    return digest.hexdigest()


def matches_code(stored: Mapping[str, Any]) -> list[str]:
    """Reasons why a stored signature does not agree with this code; empty if it does.

    It needs no resource: their sums, the options and the sum of the data are for the caller to
    compare, with ``signature(..., resources=stored["resources"])``. Numbers that are shipped
    (``provenance``) name the versions that they came from; which are installed here, if any, is
    of no matter.
    """
    if "modules" in stored:
        modules = stored["modules"]
        there = all((FOLDER.parent / name).is_file() for name in modules)
        if there and stored.get("fingerprint") == _code_sum(modules):
            return []
        return [f"the code in {', '.join(modules)} has changed since these numbers were computed"]
    name = stored.get("kernel")
    try:
        module_path(str(name))
    except KernelError:
        return [f"no kernel is called {name!r} any more"]
    reasons = []
    if stored.get("fingerprint") != fingerprint(str(name)):
        reasons.append(f"the code of {name} has changed since these numbers were computed")
    if stored.get("provenance") == "shipped":
        return reasons
    was, now = dict(stored.get("packages", {})), _packages(str(name))
    for package in sorted({*was, *now}):
        before = was.get(package)
        after = _version(package) if package in now else None
        if before != after:
            reasons.append(
                f"{package} {before} decided these numbers, now it is {after}"
                if before and after
                else f"{package} {after} decides {name} now, and no version of it is recorded"
                if after
                else f"{package} {before} decided these numbers and is no longer used"
                if package not in now
                else f"{package} {before} decided these numbers and is not installed"
            )
    return reasons


def fingerprint(name: str) -> str:
    """SHA-256 of the code that computes a kernel.

    That is its module and the modules of ``refless.kernels`` that it imports, in turn; without
    comments, docstrings and blank lines.
    """
    digest = hashlib.sha256()
    for path, source in sorted(_sources(module_path(name)).items()):
        digest.update(f"{path.relative_to(FOLDER).as_posix()}\n{_code(source)}\n".encode())
    return digest.hexdigest()


def text_sum(texts: Iterable[str]) -> str:
    """SHA-256 of texts in their order; where one ends and the next begins is part of it."""
    digest = hashlib.sha256()
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def _packages(name: str) -> tuple[str, ...]:
    stated = constants(module_path(name)).get("PACKAGES", {})
    return tuple(stated.get(name) or stated.get(name.partition(".")[0] + ".*", ()))


def _resources(name: str, places: Mapping[str, Any]) -> dict[str, str]:
    """Sums of a kernel's resources; which ones may hang on the kernel's name."""
    function = load(name).resources
    if "name" in inspect.signature(function).parameters:
        places = {"name": name, **places}
    sums: dict[str, str] = function(**places)
    return sums


def _version(package: str) -> str | None:
    """The installed version, without the build: ``2.13.0`` for ``2.13.0+cpu``."""
    try:
        return importlib.metadata.version(package).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None


def _sources(path: Path) -> dict[Path, str]:
    """The files, and their contents, of a module and of what it imports from this package."""
    found: dict[Path, str] = {}
    waiting = [path]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = path.read_text(encoding="utf-8")
            files = [FOLDER / f"{module}.py" for module in _imports(found[path])]
            waiting += [file for file in files if file.is_file()]
    return found


@cache
def _imports(source: str) -> list[str]:
    """What a source imports from ``refless.kernels``: names of modules, and other names."""
    modules = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    inside = f"{_PACKAGE}."
    return [m.removeprefix(inside).partition(".")[0] for m in modules if m.startswith(inside)]


@cache
def _code(source: str) -> str:
    """The source without comments, docstrings and blank lines.

    They are cut out by position and the rest is left as it stands, so that the result does not
    depend on how a version of Python would print it.
    """
    lines = source.split("\n")
    cuts = []  # (first line, first column, last line, last column), in characters, 0-based
    for node in ast.walk(ast.parse(source)):
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
