"""``refless compare``: which method predicts your ratings, and what is it worth?"""

from __future__ import annotations

import argparse
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from refless.cli._common import (
    Commands,
    add_center,
    add_number,
    add_ratings,
    add_scale,
    command,
    progress,
    ratings_of,
    tell,
)
from refless.errors import OutputError, ReflessError, SettingError

if TYPE_CHECKING:
    from refless.compare.evaluate import Settings


def add(commands: Commands) -> None:
    """Describe the command."""
    parser = command(
        commands,
        "compare",
        help="say which method predicts your ratings best, and what it is worth",
        description="Compare every method on your own rated texts: on new texts, new systems and"
        " new contexts, with thresholds chosen inside the training part, paired intervals and"
        " trivial methods beside them. Columns: text, quality; and, as far as there are any,"
        " context, mr, system, rater (then a row is one rating), references (a JSON list, or"
        " reference1, reference2, ...), score_<name> (somebody else's score of the text).",
        example="refless compare --ratings rated.tsv --scale 1 5 --out comparison\n"
        "  # then open comparison/report.html",
    )
    add_ratings(parser, formats=["--format"])
    parser.add_argument("--out", metavar="DIR", help="a folder for tables and a report")
    add_scale(parser, "lowest and highest rating there can be (default: those in the ratings)")
    add_center(parser)
    parser.add_argument(
        "--kernel",
        action="append",
        metavar="NAME",
        help="a kernel of neighbors, e.g. embedding.MODEL; may be given several times (default:"
        " bleu.char, bleu.word, rouge_l.stem, and meteor.nltk35 where WordNet is found)",
    )
    parser.add_argument("--wordnet", metavar="PATH", help="WordNet 3.0, for METEOR kernels")
    add_number(parser, "--draws", "of the bootstrap", 2000, 100)
    add_number(parser, "--seed", "of folds and draws", 0, 0)
    add_number(parser, "--repeats --deals", "of the folds, at most 10,000 / texts", 5)
    add_number(parser, "--threads", "default: all cores")
    parser.add_argument("--no-curve", action="store_true", help="leave out the learning curve")
    parser.add_argument(
        "--no-networks", action="store_true", help="leave out RNN-QE, which takes minutes"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, compare, print, write."""
    own = ratings_of(arguments, scale=arguments.scale)
    from refless.compare.evaluate import compare, least_draws
    from refless.compare.read import of_own
    from refless.compare.verdict import answer, command, warnings

    rated = of_own(own, arguments.scale)
    settings = _settings(arguments)
    if settings.draws < (least := least_draws(rated, settings)):
        message = f"--draws is {settings.draws}, too few to correct p for all methods"
        raise SettingError(message, remedy=f"give {least} or more")
    if arguments.out:
        _make_folder(arguments.out, [*arguments.ratings, *(file.path for file in own.files)])
    with progress("comparing", "step") as step:
        found = compare(rated, settings, step)
    if arguments.out:
        from refless.compare.write import write_comparison

        sums = {Path(file.path).name: file.sum for file in own.files}
        write_comparison(rated, found, settings, arguments.out, sums)
    print("\n".join(answer(rated, found)), flush=True)
    for warning in warnings(rated, found):
        tell(f"warning: {warning}")
    tell(command(found, [*arguments.ratings, *_how_read(arguments)]))
    if arguments.out:
        tell(f"written: {Path(arguments.out) / 'report.html'}, and tables beside it")


def _how_read(arguments: argparse.Namespace) -> list[str]:
    """The options without which the next command would not read the ratings as this one did."""
    told = [part for one in arguments.column for part in ("--column", one)]
    if arguments.ratings_format:
        told += ["--ratings-format", arguments.ratings_format]
    if arguments.repeated_ratings != "refuse":
        told += ["--repeated-ratings", arguments.repeated_ratings]
    return [*told, *(["--center-raters"] if arguments.center_raters else [])]


def _make_folder(out: str, ratings: list[str]) -> None:
    """Before minutes of work; no input is written over, and no output among the next inputs."""
    from refless.compare.write import FILES

    places = {Path(out).resolve(), *(Path(out).resolve() / name for name in FILES)}
    if places & {Path(path).resolve() for path in ratings}:
        message = "the outputs would be written over the ratings, or among them"
        raise OutputError(message, path=out, remedy="name another folder with --out")
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot be a folder: {error.strerror or error}"
        raise OutputError(message, path=out, remedy="name another one") from error


def _settings(arguments: argparse.Namespace) -> Settings:
    from refless.compare.evaluate import KERNELS, Settings
    from refless.compare.predict import NETWORKS
    from refless.data.encoders import lacking
    from refless.errors import KernelError
    from refless.kernels.wordnet import find

    left_out: dict[tuple[str, str], str] = {}
    kernels = tuple(dict.fromkeys(arguments.kernel or KERNELS))
    for kernel in kernels:
        if reason := lacking(kernel):
            raise KernelError(reason.sentence, remedy=reason.remedy)
    if not arguments.kernel:
        try:
            find(arguments.wordnet)
            kernels = (*kernels, "meteor.nltk35")
        except ReflessError as error:
            if arguments.wordnet:
                raise
            left_out["neighbors", "meteor.nltk35"] = error.message
    place = {"wordnet": arguments.wordnet} if arguments.wordnet else {}
    networks = None
    if arguments.no_networks or find_spec("torch") is None:
        why = "--no-networks" if arguments.no_networks else "it needs torch, which is not installed"
        left_out[NETWORKS, ""] = why
    else:
        from refless.compare.networks import estimates
        from refless.models.rnn_qe.own import How

        networks = partial(estimates, how=How(seed=arguments.seed), threads=arguments.threads)
    return Settings(
        kernels=kernels,
        options={kernel: place for kernel in kernels if kernel.startswith("meteor.")},
        draws=arguments.draws,
        seed=arguments.seed,
        repeats=arguments.repeats,
        curve=not arguments.no_curve,
        left_out=left_out,
        threads=arguments.threads,
        networks=networks,
    )
