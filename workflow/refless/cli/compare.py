"""Say which method predicts your ratings best, and what it is worth.

example:
  refless compare --ratings rated.tsv --scale 1 5 --out comparison
  # then open comparison/report.html
"""

from __future__ import annotations

import argparse
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from refless.cli import files, options
from refless.errors import KernelError, SettingError

if TYPE_CHECKING:
    from refless.compare.predict import Settings

METEOR = "meteor.nltk35"


def add(parser: options.Parser) -> None:
    said = "text, quality; and, as far as there are any, context, mr, system, references (a JSON"
    said += " list), score_<name> (somebody else's score)"
    options.add_ratings(parser, said)
    parser.add_argument("--out", metavar="DIR", help="a folder for tables and a report")
    parser.add_argument("--scale", **options.SCALE)
    said = "of neighbors, e.g. embedding.MODEL; may be given several times (default: bleu.char,"
    said += " bleu.word, rouge_l.stem, and meteor.nltk35 where WordNet is found)"
    parser.add_argument("--kernel", action="append", metavar="NAME", help=said)
    options.add_number(parser, "--draws", "of the bootstrap", 2000, 100)
    options.add_number(parser, "--seed", "of folds and draws", 0, 0)
    options.add_number(parser, "--repeats", "of the folds, at most 10,000 / texts", 5)
    options.add_kernels(parser)
    parser.add_argument("--no-networks", action="store_true", help="leave out RNN-QE (minutes)")


def run(arguments: argparse.Namespace) -> None:
    own = files.ratings_of(arguments, scale=arguments.scale)

    from refless.compare.evaluate import compare
    from refless.compare.predict import TRIVIAL, methods, why_not
    from refless.compare.read import of_own
    from refless.compare.report import FILES, LEVEL, answer, command, warnings, write_comparison

    rated, settings = of_own(own, arguments.scale), _settings(arguments)
    names = [name for name, _ in methods(rated, settings) if name not in TRIVIAL]
    tried = sum(not why_not(name, rated, "texts") for name in names)
    if settings.draws < (least := round(2 / LEVEL) * tried):
        message = f"--draws is {settings.draws}, too few to correct p for all methods"
        raise SettingError(message, remedy=f"give {least} or more")
    for name in FILES if arguments.out else ():
        files.check_out(str(Path(arguments.out) / name), *(file.path for file in own.files))
    with files.progress("comparing", "step") as step:
        found = compare(rated, settings, step)
        if arguments.out:
            sums = [file.sum for file in own.files]
            write_comparison(rated, found, settings, arguments.out, sums)
    print("\n".join(answer(rated, found)), flush=True)
    for warning in warnings(rated, found):
        files.tell(f"warning: {warning}")
    told, center = [*arguments.ratings, *_how_read(arguments)], arguments.center_raters
    files.tell(command(found, told, ["--center-raters"] if center else []))
    if arguments.out:
        files.tell(f"written: {Path(arguments.out) / 'report.html'}, and tables beside it")


def _how_read(arguments: argparse.Namespace) -> list[str]:
    """The options without which the next command would not read the ratings as this one did."""
    told = [part for name, theirs in arguments.column for part in ("--column", f"{name}={theirs}")]
    if arguments.ratings_format:
        told += ["--ratings-format", arguments.ratings_format]
    if arguments.repeated_ratings != "refuse":
        told += ["--repeated-ratings", arguments.repeated_ratings]
    return told


def _settings(arguments: argparse.Namespace) -> Settings:
    from refless.compare.predict import KERNELS, NEIGHBORS, NETWORKS, Settings
    from refless.data.encoders import lacking
    from refless.kernels.wordnet import find

    left_out: dict[tuple[str, str], str] = {}
    kernels = tuple(dict.fromkeys(arguments.kernel or (*KERNELS, METEOR)))
    for kernel in kernels:
        if reason := lacking(kernel):
            raise KernelError(reason.sentence, remedy=reason.remedy)
    if not arguments.kernel and not arguments.wordnet:
        try:
            find()
        except KernelError as error:
            kernels, left_out[NEIGHBORS, METEOR] = KERNELS, error.message
    networks = None
    if arguments.no_networks:
        left_out[NETWORKS, ""] = "--no-networks"
    elif find_spec("torch") is None:
        left_out[NETWORKS, ""] = "it needs torch, which is not installed"
    else:
        from refless.compare.predict import by_networks
        from refless.models.rnn_qe.own import How

        networks = partial(by_networks, how=How(seed=arguments.seed), threads=arguments.threads)
    place = {"wordnet": arguments.wordnet} if arguments.wordnet else {}
    places = {kernel: place for kernel in kernels if kernel.startswith("meteor.")}
    told = {name: getattr(arguments, name) for name in ("draws", "seed", "repeats", "threads")}
    return Settings(kernels, places, left_out=left_out, networks=networks, **told)
