"""``refless compare``."""

import os
from argparse import Namespace
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from refless.cli import files
from refless.errors import KernelError, OutputError


def compare(arguments: Namespace) -> None:
    """Say which method predicts your ratings best, and what it is worth.

    --ratings has the columns text, quality; and, as far as there are any, context, mr, system,
    rater, references (a JSON list), score_<name> (somebody else's). --kernel may be given several
    times (default: bleu.char, bleu.word, rouge_l.stem, and meteor.nltk35 where WordNet is found).

    example:
      refless compare --ratings rated.tsv --scale 1 5 --out comparison
    """
    own, folder = files.ratings_of(arguments), Path(arguments.out or "")

    from refless.evaluation import evaluate, report
    from refless.evaluation.read import of_own

    if arguments.out in ("", "-") or (os.path.lexists(folder) and not os.path.isdir(folder)):
        raise OutputError("is no folder", path=arguments.out, remedy="name a folder")
    for path in [folder / name for name in report.FILES if arguments.out]:
        if files.check_out(str(path), *arguments.ratings) is None:
            raise OutputError("is standard output", path=path, remedy="name another folder")
    rated, settings = of_own(own, arguments.scale), _settings(arguments)
    with files.progress("comparing") as step:
        found = evaluate.compare(rated, settings, step)
    try:
        files.print_out("".join(f"{line}\n" for line in report.answer(rated, found)))
        for warning in report.warnings(rated, found):
            files.tell(f"warning: {warning}")
        files.tell(report.command(found, _how_read(arguments)))
    finally:  # nobody need read the answer
        if arguments.out:
            report.write_comparison(rated, found, settings, folder)
            files.tell(f"written: {folder / 'report.html'}, and tables beside it")


def _how_read(arguments: Namespace) -> list[str]:
    """The files, and the options without which the next command would read them otherwise."""
    told = [*arguments.ratings]
    for pair in arguments.column:
        told += ["--column", "=".join(pair)]
    if arguments.ratings_format:
        told += ["--ratings-format", arguments.ratings_format]
    if arguments.repeated_ratings != "refuse":
        told += ["--repeated-ratings", arguments.repeated_ratings]
    return [*told, "--center-raters"] if arguments.center_raters else told


def _settings(arguments: Namespace) -> Any:
    from refless.evaluation.predict import KERNELS, NETWORKS, ComparisonSettings, by_networks
    from refless.kernels import lacking_package
    from refless.kernels.wordnet import find_wordnet
    from refless.machine import installed

    kernels: dict[str, Any] = {kernel: {} for kernel in arguments.kernels or KERNELS}
    if not arguments.kernels:
        with suppress(KernelError):
            find_wordnet()
            kernels["meteor.nltk35"] = {}
    for kernel in kernels:
        if package := lacking_package(kernel):
            remedy = f"pip install {package}; in a clone of refless, make torch"
            raise KernelError(f"{kernel} needs {package}, which is not installed", remedy=remedy)
    told = {
        name: getattr(arguments, name)
        for name in ("draws", "seed", "repeats", "threads", "unrated")
    }
    if arguments.no_networks or not installed("torch"):
        why = "--no-networks" if arguments.no_networks else "it needs torch, which is not installed"
        return ComparisonSettings(kernels, left_out={(NETWORKS, ""): why}, **told)
    networks = partial(by_networks, seed=arguments.seed, threads=arguments.threads)
    return ComparisonSettings(kernels, networks=networks, **told)
