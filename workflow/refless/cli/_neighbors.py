"""Rated texts to learn from, and the neighbors model that the arguments of a command ask for."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from refless.cli._common import UsageError, add_center, add_number, progress, ratings_of, tell
from refless.data.own import Own
from refless.errors import FormatError, KernelError, SettingError

if TYPE_CHECKING:
    import pandas as pd

    from refless.models.neighbors import NeighborsRegressor

# of Ethayarajh & Sadigh (2020), section 4, but for tau
DEFAULTS: dict[str, Any] = {
    "kernel": "bleu.char",
    "tau": "auto",
    "min_neighbors": 5,
    "max_share": 0.66,
}
BLOCK = 50


def add_model(parser: argparse.ArgumentParser) -> None:
    """The settings of a model; their defaults are filled in later, so that a command can tell what
    was given."""
    parser.add_argument("--kernel", help=f"default: {DEFAULTS['kernel']}")
    parser.add_argument(
        "--tau",
        help="similarity of a neighbor, or auto: the one of the least squared error among the"
        " training texts, each left out in turn (default: auto)",
    )
    for name, kind, said in (
        ("min-neighbors", int, "fewest neighbors"),
        ("max-share", float, "most neighbors, as a share of the training texts"),
    ):
        told = f"{said} (default: {DEFAULTS[name.replace('-', '_')]})"
        parser.add_argument(f"--{name}", type=kind, help=told)
    parser.add_argument("--wordnet", metavar="PATH", help="WordNet 3.0, for METEOR kernels")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the kernel, e.g. layer=10, rescale=false or model=FOLDER for BERTScore;"
        " may be given several times",
    )
    add_center(parser)
    add_number(parser, "--threads", "default: all cores")


def read_training(
    arguments: argparse.Namespace, by_system: bool = False
) -> tuple[Own, pd.DataFrame]:
    """The user's ratings, and of their texts those that are rated.

    Raises
    ------
    FormatError : as `refless.data.own.read_ratings`, or no text is rated.
    """
    own = ratings_of(arguments, need=["quality", *(["system"] if by_system else [])])
    rated = own.texts[own.texts["quality"].notna()]
    if rated.empty:
        raise FormatError("no text is rated", path=own.files[0].path, remedy="give it ratings")
    return own, rated


def fitted(arguments: argparse.Namespace, rated: pd.DataFrame) -> NeighborsRegressor:
    """The model of these arguments, fitted.

    Raises
    ------
    KernelError : the kernel cannot be used here, or reads most of the texts as empty.
    """
    from refless.data.encoders import lacking
    from refless.models.neighbors import NeighborsRegressor

    given = {name: getattr(arguments, name) for name in DEFAULTS}
    chosen = {name: DEFAULTS[name] if value is None else value for name, value in given.items()}
    kernel = chosen["kernel"]
    options = kernel_options(arguments, kernel)
    if reason := lacking(kernel):
        raise KernelError(reason.sentence, remedy=reason.remedy)
    if chosen["max_share"] == 0:  # a curve may begin there, and no prediction is made
        raise SettingError("--max-share is 0, so no text may have a neighbor", remedy="give more")
    if chosen["tau"] != "auto":
        try:
            chosen["tau"] = float(chosen["tau"])
        except ValueError:
            raise UsageError(f"--tau is {chosen['tau']!r}; give a number, or auto") from None
    texts = rated["text"].tolist()
    require_readable(kernel, texts, options)
    model = NeighborsRegressor(**chosen, threads=arguments.threads, options=options)
    with progress("choosing tau") as step:
        return model.fit(texts, rated["quality"].tolist(), progress=step)


def require_readable(kernel: str, texts: Sequence[str], options: dict[str, Any]) -> None:
    """Say how many texts a kernel cannot read; KernelError if these are most of them."""
    from refless.compare.readable import sentence, unread

    lost = unread(kernel, texts, **options)
    if 2 * lost > len(texts):
        remedy = "take another --kernel, such as bleu.char, or embedding.MODEL for short texts"
        raise KernelError(sentence(kernel, lost, len(texts)), remedy=remedy)
    if lost:
        tell(f"note: {sentence(kernel, lost, len(texts))}")


def kernel_options(arguments: argparse.Namespace, kernel: str) -> dict[str, Any]:
    """``--option layer=10`` and ``--wordnet`` as options of a kernel: numbers, true, false, or
    else text as it stands."""
    from refless.kernels import option_names

    found: dict[str, Any] = {}
    known = option_names(kernel) if arguments.option else []
    for text in arguments.option:
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            remedy = f"write it NAME=VALUE; the options of {kernel}: {', '.join(known) or 'none'}"
            raise SettingError(f"--option {text!r} is not understood", remedy=remedy)
        try:
            read = json.loads(value)
        except ValueError:
            read = value
        found[name] = read if isinstance(read, (bool, int, float)) else value
    if arguments.wordnet:
        if not kernel.startswith("meteor."):
            raise SettingError(f"{kernel} takes no --wordnet", remedy="leave it out")
        found["wordnet"] = arguments.wordnet
    return found


def beside_themselves(model: NeighborsRegressor, texts: Sequence[str], alone: bool) -> int:
    """How many texts have their own text, once normalised, among their neighbors; ``alone``: they
    are the training texts, each without itself."""
    from refless.data.wording import wording
    from refless.kernels import kernel

    rows: dict[str, list[int]] = {}
    for row, text in enumerate(model.texts_):
        rows.setdefault(wording(text), []).append(row)
    own = [
        (text, [row for row in rows.get(wording(text), []) if not (alone and row == number)])
        for number, text in enumerate(texts)
    ]
    there, found = [pair for pair in own if pair[1]], 0
    for start in range(0, len(there), BLOCK):
        part = there[start : start + BLOCK]
        training = list(dict.fromkeys(row for _, same in part for row in same))
        place = {row: k for k, row in enumerate(training)}
        texts_of = [model.texts_[row] for row in training]
        options = dict(model.options or {})
        values = kernel(model.kernel, [text for text, _ in part], texts_of, **options)
        for own_values, (_, same) in zip(values, part, strict=True):
            found += bool(own_values[[place[row] for row in same]].max() >= model.tau_)
    return found
