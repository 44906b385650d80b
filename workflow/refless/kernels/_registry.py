"""Which kernels there are, where, and what decides their values. Stage: kernels (helper)."""

import importlib
import re
from types import ModuleType
from typing import Any, NamedTuple

from refless.errors import KernelError


class Kernel(NamedTuple):
    """A kernel, or a family of them.

    packages : whose version decides its values
    highest : its highest value
    places : options that say where its files lie; their sums are signed, their paths are not
    """

    packages: tuple[str, ...] = ()
    highest: float = 1.0
    places: tuple[str, ...] = ()


KERNELS = {
    "bleu.char": Kernel(),
    "bleu.word": Kernel(),
    "bleu.char.unclipped": Kernel(),
    "bleu.word.unclipped": Kernel(),
    "rouge_l.stem": Kernel(("nltk",)),
    "rouge_l.plain": Kernel(),
    "meteor.nltk35": Kernel(("nltk",), 2.0, ("wordnet",)),
    "meteor.nltk39": Kernel(("nltk",), 1.0, ("wordnet",)),
    "bertscore.*": Kernel(("torch", "transformers"), 1.0, ("model", "baseline")),
    "embedding.*": Kernel(("torch", "transformers"), 1.0, ("model",)),
}
"""The family is the module's name. ``family.*`` stands for the names of models: a letter or digit,
then letters, digits, dots, dashes and underscores."""


def names() -> list[str]:
    """All kernels, family by family."""
    return list(KERNELS)


def entry(name: str) -> Kernel:
    """What is known of a kernel; KernelError if none is called so."""
    family, _, variant = name.partition(".")
    found = KERNELS.get(name)
    if found is None and re.fullmatch(r"[^\W_][\w.-]*", variant):
        found = KERNELS.get(f"{family}.*")
    if found is None:
        known = ", ".join(KERNELS)
        raise KernelError(f"no kernel is called {name!r}", remedy=f"use one of {known}")
    return found


def load(name: str) -> ModuleType:
    """The module of a kernel, imported now if it was not before; KernelError as `entry`."""
    entry(name)
    return importlib.import_module(f"refless.kernels.{name.partition('.')[0]}")


def signature(name: str, **options: Any) -> dict[str, Any]:
    """What decides a kernel's values besides its name: ``options``, and in ``resources`` the sums
    of its files, in the place of options that say where they lie. Raises KernelError: unknown
    kernel, or a missing file."""
    known = entry(name)
    places = {key: options.pop(key) for key in known.places if key in options}
    resources = load(name).resources(name, **places) if known.places else {}
    return {"options": options, "resources": resources}
