"""``refless compare``."""

from argparse import Namespace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from refless.cli import files
from refless.errors import KernelError, SettingError

METEOR = "meteor.nltk35"


def compare(arguments: Namespace) -> None:
    """Say which method predicts your ratings best, and what it is worth.

    --ratings has the columns text, quality; and, as far as there are any, context, mr, system,
    references (a JSON list), score_<name> (somebody else's score). --kernel may be given several
    times (default: bleu.char, bleu.word, rouge_l.stem, and meteor.nltk35 where WordNet is found).
    --out is a folder for tables and a report.

    example:
      refless compare --ratings rated.tsv --scale 1 5 --out comparison
      # then open comparison/report.html
    """
    own = files.ratings_of(arguments, arguments.scale)

    from refless.compare import evaluate
    from refless.compare.predict import TRIVIAL, methods, why_not
    from refless.compare.read import of_own
    from refless.compare.report import FILES, LEVEL, answer, command, warnings, write_comparison

    for name in FILES if arguments.out else ():
        files.check_out(str(Path(arguments.out) / name), *(file.path for file in own.files))
    rated, settings = of_own(own, arguments.scale), _settings(arguments)
    names = [name for name, _ in methods(rated, settings) if name not in TRIVIAL]
    least = round(2 / LEVEL) * sum(not why_not(name, rated, "texts") for name in names)
    if settings.draws < least:
        message = f"--draws is {settings.draws}, too few to correct p for all methods"
        raise SettingError(message, remedy=f"give {least} or more")
    with files.progress("comparing") as step:
        found = evaluate.compare(rated, settings, step)
        if arguments.out:
            sums = [file.sum for file in own.files]
            write_comparison(rated, found, settings, arguments.out, sums)
    print("\n".join(answer(rated, found)), flush=True)
    for warning in warnings(rated, found):
        files.tell(f"warning: {warning}")
    center = ["--center-raters"] if arguments.center_raters else []
    files.tell(command(found, _how_read(arguments), center))
    if arguments.out:
        files.tell(f"written: {Path(arguments.out) / 'report.html'}, and tables beside it")


def _how_read(arguments: Namespace) -> list[str]:
    """The files, and the options without which the next command would read them otherwise."""
    told = [*arguments.ratings]
    for name, theirs in arguments.column:
        told += ["--column", f"{name}={theirs}"]
    if arguments.ratings_format:
        told += ["--ratings-format", arguments.ratings_format]
    if arguments.repeated_ratings != "refuse":
        told += ["--repeated-ratings", arguments.repeated_ratings]
    return told


def _settings(arguments: Namespace) -> Any:
    from refless.compare.predict import KERNELS, NEIGHBORS, NETWORKS, Settings, by_networks
    from refless.encoders import lacking
    from refless.kernels.wordnet import find

    left_out: dict[tuple[str, str], str] = {}
    kernels = tuple(dict.fromkeys(arguments.kernels or (*KERNELS, METEOR)))
    for kernel in kernels:
        if reason := lacking(kernel):
            raise KernelError(reason.sentence, remedy=reason.remedy)
    if not arguments.kernels:
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
        networks = partial(by_networks, seed=arguments.seed, threads=arguments.threads)
    told = {name: getattr(arguments, name) for name in ("draws", "seed", "repeats", "threads")}
    return Settings(kernels, left_out=left_out, networks=networks, **told)
