"""Which kernels there are, and what each needs. Stage: kernels (helper).

Apart from `refless.kernels`, whose modules compute them, since settings and the plan of a run ask
for these entries where neither numpy nor numba need be installed.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from string import ascii_lowercase, digits
from typing import NamedTuple

from refless.compute.letters import share_in_words, share_of_letters
from refless.errors import KernelError
from refless.machine import installed

LEAST_READ = 0.5
"""Share of a text's letters that a kernel reads, below which it knows nothing of the text."""


class Kernel(NamedTuple):
    """What a kernel needs, and its highest value: an entry of `KERNELS`.

    packages : that must be installed, beyond those that refless always needs
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


_OF_CHARACTERS = Kernel(
    reads=lambda text: float(len(text) >= 4),
    compares="it compares n-grams of up to four characters",
)
_OF_WORDS = Kernel(
    reads=lambda text: share_in_words(text) if len(text.split()) >= 4 else 0.0,
    compares="it compares n-grams of up to four words between blanks",
)
_ROUGE_L = Kernel(
    reads=partial(share_of_letters, known=frozenset(ascii_lowercase + digits)),
    compares="it knows a-z and 0-9",
)
_METEOR = Kernel(
    files={"wordnet": "nltk/wordnet.zip"},
    reads=share_in_words,
    compares="it compares words between blanks",
)
_ENCODED = ("torch", "transformers")
KERNELS = {
    "bleu.char": _OF_CHARACTERS,
    "bleu.word": _OF_WORDS,
    "bleu.char.unclipped": _OF_CHARACTERS,
    "bleu.word.unclipped": _OF_WORDS,
    "rouge_l.stem": _ROUGE_L,
    "rouge_l.plain": _ROUGE_L,
    "meteor.nltk35": _METEOR._replace(highest=2.0),
    "meteor.nltk39": _METEOR,
    "bertscore.*": Kernel(_ENCODED, files={"model": "models/*", "baseline": ""}),
    "embedding.*": Kernel(_ENCODED, files={"model": "models/*"}),
}
"""Every kernel, family by family. ``family.*`` stands for the names of models: a letter or digit,
then letters, digits, dots, dashes and underscores."""


def names() -> list[str]:
    """The names of all kernels, family by family, with ``family.*`` for those of models.

    Examples
    --------
    >>> names()[:2]
    ['bleu.char', 'bleu.word']
    """
    return list(KERNELS)


def entry(name: str) -> Kernel:
    """What a kernel needs, and its highest value. KernelError if no kernel is called so.

    >>> entry("meteor.nltk35").highest
    2.0
    """
    if name in KERNELS:
        return KERNELS[name]
    family, _, variant = name.partition(".")
    if f"{family}.*" in KERNELS and re.fullmatch(r"[^\W_][\w.-]*", variant):
        kernel = KERNELS[f"{family}.*"]
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
