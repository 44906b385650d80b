"""Rated texts to learn from, and the neighbors model that the arguments of a command ask for."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from refless.cli import files, options
from refless.data.own import Own
from refless.errors import FormatError, KernelError

if TYPE_CHECKING:
    import pandas as pd

    from refless.models.neighbors import NeighborsRegressor

SETTINGS = {"kernel": "bleu.char", "tau": "auto", "min_neighbors": 5, "max_share": 0.66}
"""Of a model, by Ethayarajh & Sadigh (2020), section 4, but for tau."""
NEAREST = 5
"""Neighbors among which a text's own text is looked for."""


def add_model(parser: argparse.ArgumentParser) -> None:
    """The settings of a model."""
    parser.add_argument("--kernel", help=f"default: {SETTINGS['kernel']}")
    parser.add_argument(
        "--tau",
        type=_tau,
        help="similarity of a neighbor, or auto: the one of the least squared error among the"
        " training texts, each left out in turn (default: auto)",
    )
    parser.add_argument(
        "--min-neighbors", type=int, help=f"fewest (default: {SETTINGS['min_neighbors']})"
    )
    parser.add_argument(
        "--max-share",
        type=float,
        help=f"most neighbors, as a share of the training texts (default: {SETTINGS['max_share']})",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=options.pair,
        metavar="NAME=VALUE",
        help="an option of the kernel, e.g. layer=10, rescale=false or model=FOLDER for BERTScore;"
        " may be given several times",
    )
    options.add_kernels(parser)


def _tau(text: str) -> str | float:
    return text if text == "auto" else float(text)


def read_training(arguments: argparse.Namespace, *need: str) -> tuple[Own, pd.DataFrame]:
    """The user's ratings, and of their texts those that are rated. Raises FormatError: as
    `refless.data.own.read_ratings`, or no text is rated."""
    own = files.ratings_of(arguments, need=["quality", *need])
    rated = own.texts[own.texts["quality"].notna()]
    if rated.empty:
        raise FormatError("no text is rated", path=own.files[0].path, remedy="give it ratings")
    return own, rated


def fitted(arguments: argparse.Namespace, rated: pd.DataFrame) -> NeighborsRegressor:
    """The model of these arguments, fitted. Raises KernelError: the kernel cannot be used here, or
    reads most of the texts as empty."""
    from refless.models.neighbors import NeighborsRegressor

    told = {name: getattr(arguments, name) for name in SETTINGS}
    settings: dict[str, Any] = SETTINGS | {k: v for k, v in told.items() if v is not None}
    require_kernel(settings["kernel"])
    more = {"options": kernel_options(arguments), "threads": arguments.threads}
    model = NeighborsRegressor(**settings, **more)
    texts = rated["text"].tolist()
    require_readable(model, texts)
    with files.progress("choosing tau") as step:
        return model.fit(texts, rated["quality"].tolist(), progress=step)


def require_kernel(kernel: str) -> None:
    """KernelError if there is no such kernel, or it needs a package that is not installed."""
    from refless.data.encoders import lacking

    if reason := lacking(kernel):
        raise KernelError(reason.sentence, remedy=reason.remedy)


def require_readable(model: NeighborsRegressor, texts: Sequence[str]) -> None:
    """Say how many texts a kernel cannot read; KernelError if these are most of them."""
    from refless.kernels import unread

    lost, said = unread(model.kernel, texts, **dict(model.options or {}))
    if 2 * lost > len(texts):
        remedy = "take another --kernel, such as bleu.char, or embedding.MODEL for short texts"
        raise KernelError(said, remedy=remedy)
    if lost:
        files.tell(f"note: {said}")


def kernel_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """``--option layer=10`` and ``--wordnet`` as options of a kernel: numbers, true, false, or
    else text as it stands."""
    found: dict[str, Any] = {}
    for name, value in arguments.option:
        try:
            read = json.loads(value)
        except ValueError:
            read = value
        found[name] = read if isinstance(read, (bool, int, float)) else value
    return found | ({"wordnet": arguments.wordnet} if arguments.wordnet else {})


def beside_themselves(model: NeighborsRegressor, texts: Sequence[str] | None) -> int:
    """How many texts have their own text, once normalised, among their nearest neighbors; None for
    the training texts, each without itself."""
    from refless.data.wording import wording

    asked = model.texts_ if texts is None else texts
    if texts is not None:
        known = set(map(wording, model.texts_))
        texts = asked = [text for text in texts if wording(text) in known]
    if not asked:
        return 0
    number = 0
    for text, rows, values in zip(asked, *model.nearest(texts, NEAREST), strict=True):
        near = [model.texts_[row] for row in rows[values >= model.tau_]]
        number += wording(text) in map(wording, near)
    return number
