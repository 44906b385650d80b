"""``refless compare``: which method predicts your ratings, and what is it worth?"""

from __future__ import annotations

import argparse
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from refless.cli import files, options
from refless.cli._neighbors import require_kernel
from refless.errors import KernelError, SettingError

if TYPE_CHECKING:
    from refless.compare.evaluate import Settings

EXAMPLE = """
refless compare --ratings rated.tsv --scale 1 5 --out comparison
# then open comparison/report.html
"""


def add(commands: options.Commands) -> None:
    """Describe the command."""
    parser = options.command(
        commands,
        run,
        "compare",
        help="say which method predicts your ratings best, and what it is worth",
        description="Compare every method on your own rated texts: on new texts, new systems and"
        " new contexts, with thresholds chosen inside the training part, paired intervals and"
        " trivial methods beside them. Columns: text, quality; and, as far as there are any,"
        " context, mr, system, rater (then a row is one rating), references (a JSON list, or"
        " reference1, reference2, ...), score_<name> (somebody else's score of the text).",
        example=EXAMPLE,
    )
    options.add_ratings(parser)
    parser.add_argument("--out", metavar="DIR", help="a folder for tables and a report")
    options.add_scale(
        parser, "lowest and highest rating there can be (default: those in the ratings)"
    )
    parser.add_argument(
        "--kernel",
        action="append",
        metavar="NAME",
        help="a kernel of neighbors, e.g. embedding.MODEL; may be given several times (default:"
        " bleu.char, bleu.word, rouge_l.stem, and meteor.nltk35 where WordNet is found)",
    )
    options.add_number(parser, "--draws", "of the bootstrap", 2000, 100)
    options.add_number(parser, "--seed", "of folds and draws", 0, 0)
    options.add_number(parser, "--repeats", "of the folds, at most 10,000 / texts", 5)
    options.add_kernels(parser)
    parser.add_argument("--no-curve", action="store_true", help="leave out the learning curve")
    parser.add_argument(
        "--no-networks", action="store_true", help="leave out RNN-QE, which takes minutes"
    )


def run(arguments: argparse.Namespace) -> None:
    """Read, compare, write, say."""
    own = files.ratings_of(arguments, scale=arguments.scale)

    from refless.compare.evaluate import compare
    from refless.compare.predict import TRIVIAL, keys, why_not
    from refless.compare.read import of_own
    from refless.compare.verdict import LEVEL, answer, command, warnings
    from refless.compare.write import FILES, write_comparison

    rated, settings = of_own(own, arguments.scale), _settings(arguments)
    methods = keys(rated, settings.kernels, settings.networks is not None)
    tried = sum(name not in TRIVIAL and not why_not(name, rated, "texts") for name, _ in methods)
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
    files.tell(command(found, settings, told, ["--center-raters"] if center else []))
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
    from refless.compare.evaluate import KERNELS, Settings
    from refless.compare.predict import NEIGHBORS, NETWORKS
    from refless.kernels.wordnet import find

    left_out: dict[tuple[str, str], str] = {}
    kernels = tuple(dict.fromkeys(arguments.kernel or (*KERNELS, "meteor.nltk35")))
    for kernel in kernels:
        require_kernel(kernel)
    if not arguments.kernel and not arguments.wordnet:
        try:
            find(None)
        except KernelError as error:
            kernels, left_out[NEIGHBORS, "meteor.nltk35"] = KERNELS, error.message
    networks = None
    if arguments.no_networks or find_spec("torch") is None:
        why = "--no-networks" if arguments.no_networks else "it needs torch, which is not installed"
        left_out[NETWORKS, ""] = why
    else:
        from refless.compare.predict import by_networks
        from refless.models.rnn_qe.own import How

        networks = partial(by_networks, how=How(seed=arguments.seed), threads=arguments.threads)
    place = {"wordnet": arguments.wordnet} if arguments.wordnet else {}
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
