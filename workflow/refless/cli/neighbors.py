"""``refless score`` and ``refless fit``."""

from argparse import ArgumentParser, Namespace

import refless
from refless.api import rated_texts
from refless.cli import files, options
from refless.data.rows import files_of
from refless.methods import FOR_NEW_TEXTS, NEIGHBORS

SETTINGS = ("kernel", "tau", "min_neighbors", "max_share")


def add_score_arguments(command: ArgumentParser) -> None:
    add = command.add_argument
    learned = command.add_mutually_exclusive_group()
    options.add_ratings(learned, required=False)
    learned.add_argument("--model", help="The model, by refless fit.", metavar="FILE")
    candidates = command.add_mutually_exclusive_group()
    options.add_outputs(candidates, required=False)
    about = "Predict each rated text from the others, in place of --outputs."
    candidates.add_argument("--leave-one-out", help=about, **options.FLAG)
    options.add_reading(command, scale="the lowest and the highest rating")
    about = f"What predicts: {', '.join(FOR_NEW_TEXTS)}, or a column score_<name>."
    add("--method", help=f"{about} (Default: ridge; with a setting of neighbors, these.)")
    options.add_fitting(command)
    about = "The outputs answer contexts that no rated text answers."
    add("--new-contexts", help=about, **options.FLAG)
    about = "Add a column with so many nearest rated texts, 5 without N. (Default: none.)"
    add("--explain", help=about, type=options.whole(), metavar="N", nargs="?", const=5)
    options.add_written(command)


def add_fit_arguments(command: ArgumentParser) -> None:
    options.add_ratings(command)
    options.add_model_out(command)
    options.add_reading(command)
    options.add_fitting(command)


def score(arguments: Namespace) -> None:
    """Predict quality by ridge regression, from the nearest rated texts, or from scores.

    --ratings has the columns text and quality; with rater, a row is one rating, and a text has
    their mean. --outputs has text; with quality, correlations are printed.

    Methods: ridge is regression on runs of characters, ridge_system adds it to the system's mean,
    surface_ridge stands beside length, punctuation, system and context; neighbors is the mean
    rating of similar texts; bleu and delta_bleu compare with references; score_<name> is fitted to
    ratings by a line; combined is ridge regression over all columns score_<name>.

    example:
      refless score --ratings rated.tsv --outputs mine.tsv --out predicted.tsv
      refless score --ratings rated.tsv --kernel bleu.char --outputs mine.tsv --out predicted.tsv
    """
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
            new_contexts=bool(arguments.new_contexts),
            threads=arguments.threads,
            outputs_format=arguments.outputs_format,
            step=step,
            **reading,
        )
    assert answer.file is not None
    files.finish(arguments, answer.file, answer.table, answer.facts)
    for warning in answer.warnings:
        files.tell(f"warning: {warning}")
    files.tell(str(answer))


def _refuse_added_columns(arguments: Namespace) -> None:
    """Read the file that is to be extended, before the work begins."""
    settings = *SETTINGS, "explain", "leave_one_out", "model"
    by_neighbors = arguments.method == NEIGHBORS or any(getattr(arguments, s) for s in settings)
    added = ["prediction", *(["neighbors"] if by_neighbors else [])]
    added += ["nearest"] if arguments.explain else []
    if arguments.outputs:
        format = arguments.outputs_format
        arguments.outputs = files.to_extend(arguments, arguments.outputs, format, added)
    elif arguments.ratings:
        arguments.ratings = [
            files.to_extend(arguments, path, arguments.ratings_format, added)
            for path in files_of(arguments.ratings)
        ]


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

    from refless.evaluation.rate import fit_neighbors, unread_notes
    from refless.models.neighbors_file import save_neighbors, signature_line

    settings = {name: getattr(arguments, name) for name in SETTINGS}
    with files.progress("choosing tau") as step:
        model = fit_neighbors(training, arguments.threads, step, **settings)
    save_neighbors(model, str(out))
    for note in unread_notes(model.kernel, model.texts_):
        files.tell(f"note: {note}")
    files.tell(f"signature {signature_line(model)}")
