"""``refless compare``."""

import argparse
import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

import refless
from refless.cli import files, options
from refless.errors import OutputError
from refless.evaluation import EPSILON, FILES


def add_arguments(command: ArgumentParser) -> None:
    add = command.add_argument
    count = options.whole()
    options.add_ratings(command)
    options.add_reading(command, scale="the lowest and the highest rating in the files")
    about = "A similarity by which nearest rated texts are found. It may be given several times."
    add("--kernel", help=about, dest="kernels", metavar="KERNEL", action="append")
    about = "A method may be so much less often right than the rater that it replaces: 0.1 beside"
    about += " crowd workers, 0.2 beside experts."
    add("--epsilon", help=f"{about} (Default: %(default)s.)", type=float, default=EPSILON)
    options.add_score_unit(command)
    about = "Draw texts anew so many times, for intervals. (Default: %(default)s.)"
    # they are kept in memory
    add("--draws", help=about, type=options.whole(1, 100_000), metavar="N", default=2000)
    about = "Repeat the cross-validation so many times at most. (Default: %(default)s.)"
    add("--repeats", help=about, type=count, metavar="N", default=5)
    about = "You have so many texts without ratings: say what share of ratings they would save."
    add("--unrated", help=about, type=count, metavar="N")
    about = "Also train RNN-QE, which takes minutes and needs torch."
    add("--networks", help=about, **options.FLAG)
    add("--no-networks", help=argparse.SUPPRESS, **options.FLAG)  # the default since 1.2
    options.add_seed(command)
    options.add_threads(command)
    about = "The folder for tables and a report, which replace older ones."
    add("--out", help=f"{about} (Default: none are written.)", metavar="FOLDER")


def compare(arguments: Namespace) -> None:
    """Say which method predicts your ratings best, and what it is worth.

    --ratings has the columns text and quality; and, as far as you have them, context, mr (what the
    text should express), system, rater, references (a JSON list), and a column score_<name> for
    each metric or judge. The kernels are bleu.char, bleu.word and rouge_l.stem, and meteor.nltk35
    where WordNet is found, unless --kernel names others.

    example:
      refless compare --ratings rated.tsv --scale 1 5 --out comparison
    """
    _check_folder(arguments)
    with files.progress("comparing") as step:
        answer = refless.compare(
            arguments.ratings,
            kernels=arguments.kernels,
            epsilon=arguments.epsilon,
            score_unit=arguments.score_unit,
            unrated=arguments.unrated,
            draws=arguments.draws,
            seed=arguments.seed,
            repeats=arguments.repeats,
            networks=bool(arguments.networks),
            threads=arguments.threads,
            step=step,
            **files.reading(arguments),
        )
    try:
        files.print_out(f"{answer.answer}\n")
        for warning in answer.warnings:
            files.tell(f"warning: {warning}")
        files.tell(answer.next_step)
        files.tell(f"signature {answer.signature}")
    finally:  # nobody need read the answer
        if arguments.out:
            answer.write(Path(arguments.out))
            page = Path(arguments.out, "report.html")
            files.tell(f"written: {page}, and tables beside it")


def _check_folder(arguments: Namespace) -> None:
    """Raises OutputError, before the work begins: ``--out`` is no folder, or a file that would be
    written there is an input, standard output, or cannot be written."""
    folder = Path(arguments.out or "")
    if arguments.out in ("", "-") or (os.path.lexists(folder) and not os.path.isdir(folder)):
        raise OutputError("is no folder", path=arguments.out or "--out", remedy="name a folder")
    for path in [folder / name for name in FILES if arguments.out]:
        if files.check_out(str(path), *arguments.ratings, arguments.join) is None:
            raise OutputError("is standard output", path=path, remedy="name another folder")
