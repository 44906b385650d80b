"""Write a model for refless score --model: tau, and the rated texts as they are.

example:
  refless fit --ratings rated.tsv --out rated.model
  refless score --model rated.model --outputs mine.tsv --out predicted.tsv
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from refless.cli import files, options
from refless.errors import KernelError

if TYPE_CHECKING:
    from pandas import DataFrame

    from refless.models.neighbors import NeighborsRegressor

SETTINGS = ("kernel", "tau", "min_neighbors", "max_share")


def add(parser: options.Parser) -> None:
    options.add_ratings(parser, "text, quality")
    add_model(parser)
    parser.add_argument("--out", required=True, metavar="FILE", help="the model")


def run(arguments: argparse.Namespace) -> None:
    out = files.check_out(arguments.out, *arguments.ratings)
    if str(out) == "-":
        arguments.fail("a model goes to a file: --out FILE")
    rated = files.rated(files.ratings_of(arguments))

    from refless.models.neighbors_file import save, signature_line

    model = fitted(arguments, rated)
    save(model, out)
    files.tell(f"signature {signature_line(model)}")


def add_model(parser: options.Parser) -> None:
    """The settings of a model; defaults are those of `NeighborsRegressor`, but for tau."""
    parser.add_argument("--kernel", help="default: bleu.char")
    said = "similarity of a neighbor, or auto: of the least squared error in training (default)"
    parser.add_argument("--tau", type=tau, help=said)
    parser.add_argument("--min-neighbors", type=int, help="fewest neighbors (default: 5)")
    parser.add_argument("--max-share", type=float, help="most, as a share of all (default: 0.66)")
    said = "of the kernel, e.g. layer=10, rescale=false or model=FOLDER; may be given several times"
    many = {"type": options.pair, "metavar": "NAME=VALUE", **options.MANY}
    parser.add_argument("--option", help=said, **many)
    options.add_kernels(parser)


def tau(text: str) -> str | float:
    return text if text == "auto" else float(text)


def fitted(arguments: argparse.Namespace, rated: DataFrame) -> NeighborsRegressor:
    """The model of these arguments, fitted. Raises SettingError and KernelError: as its `fit`, or
    the kernel reads most of the texts as empty."""
    from refless.models.neighbors import NeighborsRegressor

    told = {name: getattr(arguments, name) for name in SETTINGS}
    settings = {"tau": "auto"} | {name: own for name, own in told.items() if own is not None}
    more = {"options": kernel_options(arguments), "threads": arguments.threads}
    model = NeighborsRegressor(**settings, **more)
    texts = rated["text"].tolist()
    require_readable(model, texts)
    with files.progress("choosing tau") as step:
        return model.fit(texts, rated["quality"].tolist(), progress=step)


def require_readable(model: NeighborsRegressor, texts: Sequence[str]) -> None:
    """Say how many texts a kernel cannot read; KernelError if these are most of them."""
    from refless.kernels import unread

    lost, said = unread(model.kernel, texts)
    if 2 * lost > len(texts):
        remedy = "take another --kernel, such as bleu.char, or embedding.MODEL for short texts"
        raise KernelError(said, remedy=remedy)
    if lost:
        files.tell(f"note: {said}")


def kernel_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """``--option layer=10`` and ``--wordnet``: numbers, true, false, or else text as it stands."""
    found: dict[str, Any] = {}
    for name, value in arguments.option:
        try:
            read = json.loads(value)
        except ValueError:
            read = value
        found[name] = read if isinstance(read, (bool, int, float)) else value
    return found | ({"wordnet": arguments.wordnet} if arguments.wordnet else {})
