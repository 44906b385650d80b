"""Arguments of the commands that fit a neighbors model, and the model that they ask for.

Stage: outside the workflow (helper of ``score`` and ``fit``).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refless.cli._common import UsageError, ratings_of, tell
from refless.data.own import Own
from refless.errors import FormatError, KernelError, SettingError

if TYPE_CHECKING:
    from refless.models.neighbors import NeighborsRegressor

# Ethayarajh & Sadigh (2020), section 4; BERTScore's is for PUBLISHED_BERTSCORE alone
TAUS = {"bleu": 0.08, "rouge_l": 0.06, "meteor": 0.18, "bertscore": 0.1}
PUBLISHED_BERTSCORE = "bertscore.roberta-large"
DEFAULTS: dict[str, Any] = {"kernel": "bleu.char", "min_neighbors": 5, "max_share": 0.66}


def add_model(parser: argparse.ArgumentParser) -> None:
    """The settings of a model. Their defaults are filled in by `settings`, so that a command can
    tell what was given."""
    parser.add_argument("--kernel", help=f"default: {DEFAULTS['kernel']}")
    parser.add_argument(
        "--tau",
        help="similarity of a neighbor, or auto: the one of the least squared error among the"
        " training texts, each left out in turn (default: the published one of the kernel's"
        " family: " + ", ".join(f"{family} {tau}" for family, tau in TAUS.items()) + ")",
    )
    parser.add_argument(
        "--min-neighbors", type=int, help=f"fewest neighbors (default: {DEFAULTS['min_neighbors']})"
    )
    parser.add_argument(
        "--max-share",
        type=float,
        help=f"most neighbors, as a share of the training texts (default: {DEFAULTS['max_share']})",
    )
    add_kernel(parser)


def add_kernel(parser: argparse.ArgumentParser) -> None:
    """What a kernel needs on this machine."""
    parser.add_argument("--wordnet", metavar="PATH", help="WordNet 3.0, for METEOR kernels")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the kernel, e.g. layer=10, rescale=false or model=FOLDER for BERTScore;"
        " may be given several times",
    )
    parser.add_argument("--threads", type=int, help="default: all cores")


@dataclass(frozen=True)
class Training:
    """Rated texts, of all that there are.

    texts, quality : what a model learns from
    number : of each text of ``own`` among them, -1 where it is unrated
    systems, contexts : of each text, where they are told
    """

    own: Own
    texts: list[str]
    quality: list[float]
    number: list[int]
    systems: list[str] | None
    contexts: list[str] | None


def read_training(arguments: argparse.Namespace, by_system: bool = False) -> Training:
    """The training texts and their ratings.

    Raises
    ------
    FormatError : as `refless.data.own.read_ratings`, or no text is rated.
    """
    from refless.data.wording import ASIDE, wording

    need = ["quality", *(["system"] if by_system else [])]
    own = ratings_of(arguments, need=need)
    rated = own.texts["quality"].notna()
    told = own.texts[rated]
    if told.empty:
        raise FormatError("no text is rated", path=own.files[0].path, remedy="give it ratings")
    texts = told["text"].tolist()
    raters = any("rater" in file.columns for file in own.files)
    if (again := len(texts) - len(set(map(wording, texts)))) and not raters:
        tell(
            f"note: {again} of {len(texts)} training texts repeat an earlier one ({ASIDE}), and"
            " each counts as another one. If several people rated it, add a column rater; then"
            " each text is one, with the mean of its ratings"
        )
    return Training(
        own,
        texts,
        told["quality"].tolist(),
        (rated.cumsum() - 1).where(rated, -1).tolist(),
        *(told[name].tolist() if name in told else None for name in ("system", "context")),
    )


def fitted(arguments: argparse.Namespace, train: Training) -> NeighborsRegressor:
    """The model of these arguments, fitted."""
    from refless.data.encoders import lacking
    from refless.models.neighbors import NeighborsRegressor

    kernel = arguments.kernel or DEFAULTS["kernel"]
    options = kernel_options(arguments, kernel)
    # Embeddings share BERTScore's code, whose error names BERTScore.
    if kernel.split(".")[0] == "embedding" and (reason := lacking(kernel)):
        raise KernelError(reason.sentence, remedy=reason.remedy)
    given = {name: getattr(arguments, name) for name in ("min_neighbors", "max_share")}
    if given["max_share"] == 0:  # a curve may begin there, and no prediction is made
        raise SettingError("--max-share is 0, so no text may have a neighbor", remedy="give more")
    model = NeighborsRegressor(
        kernel,
        _tau(arguments.tau, kernel, options),
        **{name: DEFAULTS[name] if value is None else value for name, value in given.items()},
        threads=arguments.threads,
        options=options,
    )
    with progress(None, "choosing tau") as step:
        return model.fit(train.texts, train.quality, progress=step)


def _tau(given: str | None, kernel: str, options: dict[str, Any]) -> float | str:
    if given == "auto":
        return "auto"
    if given is not None:
        try:
            return float(given)
        except ValueError:
            raise UsageError(f"--tau is {given!r}; give a number, or auto") from None
    from refless.kernels import module_path

    module_path(kernel)  # an unknown kernel is another error
    family = kernel.split(".")[0]
    remedy = "give --tau auto, or a --tau that gives most candidates 5 neighbors or more"
    scaled = {"layer", "rescale", "baseline"} & set(options)
    if family == "bertscore" and (kernel != PUBLISHED_BERTSCORE or scaled):
        raise SettingError(
            f"the published tau is for {PUBLISHED_BERTSCORE} as it is; other forms have other"
            " scales",
            remedy=remedy,
        )
    if family not in TAUS:
        raise SettingError(f"no tau was published for {kernel}", remedy=remedy)
    return TAUS[family]


def kernel_options(arguments: argparse.Namespace, kernel: str) -> dict[str, Any]:
    """``--option layer=10`` and ``--wordnet`` as options of a kernel: numbers, true, false, or
    else text as it stands."""
    found: dict[str, Any] = {}
    if arguments.option:
        from refless.kernels import option_names

        known = option_names(kernel)
    for text in arguments.option:
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            raise SettingError(
                f"--option {text!r} is not understood",
                remedy=f"write it NAME=VALUE; the options of {kernel} are:"
                f" {', '.join(known) or 'none'}",
            )
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


@contextmanager
def progress(total: int | None, what: str) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=what, unit="text", leave=False) as bar:

        def step(done: int) -> None:
            bar.update(done - bar.n)

        yield step
