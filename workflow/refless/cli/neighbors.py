"""``refless score`` and ``refless fit``."""

from argparse import ArgumentParser, Namespace

import refless
from refless.api import rated_texts
from refless.cli import files, options
from refless.data.rows import files_of
from refless.evaluation import METHODS, NEIGHBORS, scores_texts

SETTINGS = ("kernel", "tau", "min_neighbors", "max_share")


def add_score_arguments(command: ArgumentParser) -> None:
    add, group = command.add_argument, command.add_mutually_exclusive_group
    learned = group(required=True)
    options.add_ratings(learned, required=False)
    learned.add_argument("--model", help="The model, by refless fit.", metavar="FILE")
    candidates = group(required=True)
    options.add_outputs(candidates, required=False)
    about = "Predict each rated text from the others."
    candidates.add_argument("--leave-one-out", help=about, **options.FLAG)
    options.add_reading(command)
    about = f"{', '.join(METHODS)} (ridge over all scores), or a score_<name>."
    add("--method", help=f"{about} (Default: %(default)s.)", type=method, default=NEIGHBORS)
    options.add_fitting(command)
    about = "Add so many nearest rated texts (5). (Default: none.)"
    add("--explain", help=about, type=options.whole(), metavar="N", nargs="?", const=5)
    options.add_written(command)


def method(text: str) -> str:
    """A method's name; argparse's message has this function's."""
    if not scores_texts(text):
        raise ValueError
    return text


def add_fit_arguments(command: ArgumentParser) -> None:
    options.add_ratings(command)
    options.add_model_out(command)
    options.add_reading(command)
    options.add_fitting(command)


def score(arguments: Namespace) -> None:
    """Predict quality from the nearest rated texts, by ridge regression, or from scores.

    --ratings has the columns text and quality; with rater, a row is one rating, and a text has
    their mean. --outputs has text; with quality, correlations are printed. --method score_<name> is
    a line from that column to ratings, combined is ridge regression over all score_<name>.

    example:
      refless score --ratings rated.tsv --outputs mine.tsv --out predicted.tsv
      refless score --ratings rated.tsv --method ridge --outputs mine.tsv --out predicted.tsv
    """
    _check(arguments)
    inputs = *(arguments.ratings or []), arguments.outputs, arguments.model, arguments.join
    arguments.out = files.check_out(arguments.out, *inputs)
    reading = files.reading(arguments)
    _refuse_added_columns(arguments)
    with files.progress("scoring") as step:
        answer = refless.score(
            arguments.ratings,
            arguments.outputs,
            method=arguments.method,
            model=arguments.model,
            leave_one_out=bool(arguments.leave_one_out),
            explain=arguments.explain,
            **{name: getattr(arguments, name) for name in SETTINGS},
            threads=arguments.threads,
            outputs_format=arguments.outputs_format,
            step=step,
            **reading,
        )
    assert answer.file is not None
    files.finish(arguments, answer.file, answer.table, answer.facts)
    for warning in answer.warnings:
        files.tell(f"warning: {warning}")
    files.tell(answer.answer)


def _refuse_added_columns(arguments: Namespace) -> None:
    """Read the file that is to be extended, before the work begins."""
    added = ["prediction"]
    if arguments.method == NEIGHBORS:
        added += ["neighbors", *(["nearest"] if arguments.explain else [])]
    if arguments.outputs:
        format = arguments.outputs_format
        arguments.outputs = files.to_extend(arguments, arguments.outputs, format, added)
    else:
        arguments.ratings = [
            files.to_extend(arguments, path, arguments.ratings_format, added)
            for path in files_of(arguments.ratings)
        ]


def _check(arguments: Namespace) -> None:
    """Which options go together."""
    refused = {}
    if arguments.model and arguments.leave_one_out:
        arguments.fail("--leave-one-out takes one file of --ratings, and adds columns to it")
    if arguments.model:
        refused = dict.fromkeys((*SETTINGS, "center_raters"), "settled by refless fit")
    if arguments.method != NEIGHBORS:
        others = *SETTINGS, "explain", "leave_one_out", "model"
        refused = dict.fromkeys(others, f"only for --method {NEIGHBORS}")
    for name, why in refused.items():
        if getattr(arguments, name) is not None:
            arguments.fail(f"--{name.replace('_', '-')}: {why}")


def fit(arguments: Namespace) -> None:
    """Write a model for refless score --model: tau, and the rated texts as they are.

    --ratings as of refless score.

    example:
      refless fit --ratings rated.tsv --out rated.model
      refless score --model rated.model --outputs mine.tsv --out predicted.tsv
    """
    out = files.check_out(arguments.out, *arguments.ratings, arguments.join)
    out = out or arguments.fail("name a file: --out")
    training = rated_texts(files.ratings_of(arguments))

    from refless.evaluation.rate import fit_neighbors, unreadable
    from refless.models.neighbors_file import save_neighbors, signature_line

    settings = {name: getattr(arguments, name) for name in SETTINGS}
    with files.progress("choosing tau") as step:
        model = fit_neighbors(training, arguments.threads, step, **settings)
    save_neighbors(model, str(out))
    for note in unreadable(model.kernel, model.texts_):
        files.tell(f"note: {note}")
    files.tell(f"signature {signature_line(model)}")
