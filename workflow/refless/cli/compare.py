"""``refless compare``: which method predicts your ratings, and what is it worth?

Stage: outside the workflow.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from refless.cli._common import (
    Commands,
    UsageError,
    add_ratings,
    check_least,
    check_scale,
    command,
    ratings_of,
    require_files,
)
from refless.data.rows import files_of
from refless.errors import FormatError, OutputError, ReflessError


def add(commands: Commands) -> None:
    """Describe the command."""
    compare = command(
        commands,
        "compare",
        help="say which method predicts your ratings best, and what it is worth in ratings",
        description="Compare every method on your own rated texts: on new texts, new systems and"
        " new contexts, with thresholds chosen inside the training part, paired intervals and"
        " trivial methods beside them. Columns: text, quality; and, as far as there are any,"
        " context, system, mr, references (a JSON list, or reference1, reference2, ...), rater"
        " (then a row is one rating), score_<name> (somebody else's score of the text).",
        example="refless compare --ratings rated.tsv --scale 1 5 --out comparison\n"
        "  # then open comparison/report.html",
    )
    add_ratings(compare, formats=["--format"])
    compare.add_argument("--out", required=True, metavar="DIR", help="a folder, made if need be")
    compare.add_argument(
        "--scale",
        type=float,
        nargs=2,
        metavar=("LOW", "HIGH"),
        help="the lowest and the highest rating there can be (default: as they are in the ratings)",
    )
    compare.add_argument(
        "--kernel",
        action="append",
        metavar="NAME",
        help="a kernel of neighbors, e.g. embedding.MODEL; may be given several times (default:"
        " bleu.char, bleu.word, rouge_l.stem, and meteor.nltk35 where WordNet is found)",
    )
    compare.add_argument("--wordnet", metavar="PATH", help="WordNet 3.0, for METEOR kernels")
    compare.add_argument(
        "--draws", type=int, default=2000, help="of the bootstrap (default: %(default)s)"
    )
    compare.add_argument(
        "--seed", type=int, default=0, help="of folds and draws (default: %(default)s)"
    )
    compare.add_argument(
        "--deals",
        type=int,
        default=20,
        help="how often texts are dealt to folds, at most; never more than 10,000 divided by their"
        " number (default: %(default)s)",
    )
    compare.add_argument("--no-curve", action="store_true", help="leave out the learning curve")
    compare.add_argument(
        "--no-networks",
        action="store_true",
        help="leave out RNN-QE, which is trained for minutes where there are MRs or contexts and"
        " torch",
    )
    compare.add_argument("--threads", type=int, help="default: all cores")
    compare.set_defaults(run=_compare)


def _compare(arguments: argparse.Namespace) -> None:
    check_least("draws", arguments.draws, 100)
    check_least("deals", arguments.deals, 1)
    check_least("seed", arguments.seed, 0)
    check_scale(arguments.scale)
    require_files(arguments.ratings)
    if not arguments.out:
        raise UsageError("--out names a folder")
    sums = _sums(arguments.ratings)
    own = ratings_of(arguments, scale=arguments.scale)
    if _sums(arguments.ratings) != sums:
        raise FormatError(
            "the ratings were changed while they were read", remedy="wait until they are written"
        )

    from refless.compare.advice import judged, recommendation, warnings
    from refless.compare.compared import compare
    from refless.compare.files import BESIDE, FILES, write_comparison
    from refless.compare.rated import of_own

    _require_apart(arguments.out, arguments.ratings)
    rated = of_own(own, arguments.scale)
    settings = _settings(arguments)
    _make_folder(arguments.out)
    found = _with_progress(compare, rated, settings)
    write_comparison(rated, found, settings, arguments.out, sums)
    if sys.stdout is not None:  # the files have each letter, whatever a terminal can show
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    for sentence in [*recommendation(found), *judged(rated, found)]:
        print(sentence)
    for sentence in warnings(rated, found):
        print(f"note: {sentence}", file=sys.stderr)
    written = [name for name in (*FILES, *BESIDE) if (Path(arguments.out) / name).is_file()]
    print(f"Written to {arguments.out}: {', '.join(written)}", file=sys.stderr)


def _sums(ratings: list[str]) -> dict[str, str]:
    """The sums of the files by name; of several of one name by their paths."""
    from refless.store.files import file_sum

    files = [path for path in files_of(ratings) if path.is_file()]
    names = [path.name for path in files]
    sums = {}
    for path in files:
        name = path.name if names.count(path.name) == 1 else path.as_posix()
        # a byte of a name that is not UTF-8 is written as \xff
        sums[os.fsencode(name).decode("utf-8", "backslashreplace")] = file_sum(path)
    return sums


def _require_apart(out: str, ratings: list[str]) -> None:
    """No input is written over."""
    from refless.compare.files import BESIDE, FILES

    path = Path(out)
    outputs = {path.resolve() / name for name in (*FILES, *BESIDE)}
    for given in map(Path, ratings):
        if given.resolve() == path.resolve() or given.resolve() in outputs:
            raise OutputError(
                "the outputs would be written over the ratings, or among them",
                path=given,
                remedy="name another folder with --out",
            )


def _make_folder(out: str) -> None:
    """Once the input is read, and before minutes of work."""
    from refless.compare.files import BESIDE, FILES

    for path in (Path(out) / name for name in (*FILES, *BESIDE)):
        if path.is_dir():
            remedy = "take it away, or name another folder with --out"
            raise OutputError("is a folder where a file is written", path=path, remedy=remedy)
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot be a folder: {error.strerror or error}", path=out, remedy="name another one"
        ) from error


def _settings(arguments: argparse.Namespace) -> Any:
    from refless.compare.compared import KERNELS, Settings
    from refless.compare.predicted import NETWORKS
    from refless.data.encoders import has_encoder, lacking
    from refless.errors import KernelError
    from refless.kernels import module_path
    from refless.kernels.wordnet import find

    left_out: dict[tuple[str, str], str] = {}
    options: dict[str, dict[str, Any]] = {}
    kernels = tuple(dict.fromkeys(arguments.kernel or KERNELS))
    for kernel in kernels:
        module_path(kernel)
        if has_encoder(kernel) and (reason := lacking(kernel)):
            raise KernelError(reason.sentence, remedy=reason.remedy)
    if not arguments.kernel:
        try:
            find(arguments.wordnet)
            kernels = (*kernels, "meteor.nltk35")
        except ReflessError as error:
            if arguments.wordnet:
                raise
            left_out["neighbors", "meteor.nltk35"] = error.message
        left_out["neighbors", "embedding.*"] = (
            "no encoder was asked for; --kernel embedding.MODEL or bertscore.MODEL adds one, which"
            " needs torch and the model"
        )
    for kernel in kernels:
        if kernel.startswith("meteor.") and arguments.wordnet:
            options[kernel] = {"wordnet": arguments.wordnet}
    networks = None
    if arguments.no_networks:
        left_out[NETWORKS, ""] = "--no-networks leaves it out"
    elif find_spec("torch") is None:
        left_out[NETWORKS, ""] = "it needs torch, which is not installed"
    else:
        from refless.compare.networks import estimates
        from refless.models.rnn_qe.own import How

        networks = partial(estimates, how=How(seed=arguments.seed), threads=arguments.threads)
    return Settings(
        kernels,
        options,
        arguments.draws,
        arguments.seed,
        arguments.deals,
        not arguments.no_curve,
        left_out,
        arguments.threads,
        networks,
    )


def _with_progress(compare: Any, rated: Any, settings: Any) -> Any:
    from tqdm import tqdm

    # disable=None: no bar where standard error is not a terminal
    with tqdm(unit="step", disable=None, leave=False) as bar:

        def step(done: int, count: int, what: str) -> None:
            bar.total = count
            bar.set_description_str(what, refresh=False)
            bar.update(done - bar.n)

        return compare(rated, settings, step)
