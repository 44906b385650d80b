"""Which kernels there are, where, and what decides their values. Stage: kernels (helper)."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import NamedTuple

from refless.errors import KernelError


class Kernel(NamedTuple):
    """A kernel, or a family of them.

    module : of ``refless.kernels``, imported when the kernel is asked for
    packages : whose version decides its values
    highest : its highest value
    places : options that say where its resources lie; their sums are signed, their paths are not
    """

    module: str
    packages: tuple[str, ...] = ()
    highest: float = 1.0
    places: tuple[str, ...] = ()


KERNELS = {
    **dict.fromkeys(
        ("bleu.char", "bleu.word", "bleu.char.unclipped", "bleu.word.unclipped"), Kernel("bleu")
    ),
    "rouge_l.stem": Kernel("rouge_l", ("nltk",)),
    "rouge_l.plain": Kernel("rouge_l"),
    "meteor.nltk35": Kernel("meteor", ("nltk",), 2.0, ("wordnet", "synonyms")),
    "meteor.nltk39": Kernel("meteor", ("nltk",), 1.0, ("wordnet", "synonyms")),
    "bertscore.*": Kernel(
        "bertscore", ("torch", "transformers"), 1.0, ("model", "baseline", "device")
    ),
    "embedding.*": Kernel("embedding", ("torch", "transformers"), 1.0, ("model", "device")),
}
"""``family.*`` stands for any variant."""


def names() -> list[str]:
    """All kernels, family by family."""
    return list(KERNELS)


def entry(name: str) -> Kernel:
    """What is known of a kernel.

    Raises
    ------
    KernelError : no kernel is called so.
    """
    found = KERNELS.get(name) or KERNELS.get(name.partition(".")[0] + ".*")
    if found is None:
        known = ", ".join(KERNELS)
        raise KernelError(f"no kernel is called {name!r}", remedy=f"use one of {known}")
    return found


def load(name: str) -> ModuleType:
    """The module of a kernel, imported now if it was not before; KernelError as `entry`."""
    return importlib.import_module(f"refless.kernels.{entry(name).module}")


def highest(name: str) -> float:
    """The highest value that a kernel can have; KernelError as `entry`."""
    return entry(name).highest
