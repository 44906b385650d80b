"""Which kernels there are, where, and what decides their values. Stage: kernels (helper)."""

import importlib
import re
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from refless.errors import KernelError
from refless.machine import installed

FAMILIES = ("bleu", "rouge_l", "meteor", "bertscore", "embedding")
"""The modules of kernels, in order."""

LEAST_READ = 0.5
"""Share of a text's letters that a kernel reads, below which it knows nothing of the text."""


class Kernel(NamedTuple):
    """What a kernel needs, and its highest value: an entry of its module's ``KERNELS``.

    packages : that must be installed; their versions decide its values
    highest : its highest value
    files : option that says where a file or folder lies -> what `refless.fetch` calls it: a path of
        ``resources/sources.csv``, or ``models/<encoder>``; "" for one that users alone have. Their
        sums are signed, their paths are not
    reads : which share of a text's letters it can read, 0 to 1; below `LEAST_READ` the text is
        unread; None: it reads any text
    compares : half a sentence on why it cannot read a text
    """

    packages: tuple[str, ...] = ()
    highest: float = 1.0
    files: Mapping[str, str] = {}
    reads: Callable[[str], float] | None = None
    compares: str = ""


def names() -> list[str]:
    """The names of all kernels, family by family.

    ``family.*`` stands for the names of models: a letter or digit, then letters, digits, dots,
    dashes and underscores.

    >>> names()[:2]
    ['bleu.char', 'bleu.word']
    """
    return [name for family in FAMILIES for name in _module(family).KERNELS]


def entry(name: str) -> Kernel:
    """What a kernel needs, and its highest value. KernelError if no kernel is called so.

    >>> entry("meteor.nltk35").highest
    2.0
    """
    family, _, variant = name.partition(".")
    kernels: dict[str, Kernel] = _module(family).KERNELS if family in FAMILIES else {}
    if name in kernels:
        return kernels[name]
    if f"{family}.*" in kernels and re.fullmatch(r"[^\W_][\w.-]*", variant):
        kernel = kernels[f"{family}.*"]
        files = {option: file.replace("*", variant) for option, file in kernel.files.items()}
        return kernel._replace(files=files)
    remedy = f"use one of {', '.join(names())}"
    raise KernelError(f"no kernel is called {name!r}", remedy=remedy)


def lacking_package(name: str) -> str | None:
    """The package that a kernel needs and that is not installed; None if all are. KernelError as
    `entry`.

    >>> lacking_package("bleu.char") is None
    True
    """
    return next((package for package in entry(name).packages if not installed(package)), None)


def load(name: str) -> ModuleType:
    """The module of a kernel, imported now if it was not before; KernelError as `entry`."""
    entry(name)
    return _module(name.partition(".")[0])


def _module(family: str) -> ModuleType:
    return importlib.import_module(f"refless.kernels.{family}")


def signature(name: str, **options: Any) -> dict[str, Any]:
    """What decides a kernel's values besides its name and its module's code.

    options : of the kernel, as for `refless.kernels.kernel`
    Returns dict : ``options``, and in ``resources`` the sums of its files, in the place of options
        that say where they lie
    Raises KernelError : unknown kernel, or a missing file.

    >>> signature("bleu.char")
    {'options': {}, 'resources': {}}
    """
    files = entry(name).files
    paths = {option: options.pop(option) for option in files if option in options}
    resources = load(name).resources(name, **paths) if files else {}
    return {"options": options, "resources": resources}
