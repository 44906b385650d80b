"""``refless estimate``."""

from argparse import ArgumentParser, Namespace

import refless
from refless.api import GROUPS
from refless.cli import files, options
from refless.errors import OutputError
from refless.methods import FOR_NEW_TEXTS


def add_arguments(command: ArgumentParser) -> None:
    add = command.add_argument
    options.add_ratings(command)
    options.add_outputs(command, required=False)
    options.add_reading(command, scale="the lowest and the highest rating in the files")
    method = command.add_mutually_exclusive_group()
    about = f"What predicts: {', '.join(FOR_NEW_TEXTS)}, or a score_<name>. (Default: ridge.)"
    method.add_argument("--method", help=about)
    method.add_argument("--kernel", help="Predict by the nearest rated texts, by this similarity.")
    method.add_argument("--score", help="Predict by this column, score_<name>.", metavar="COLUMN")
    options.add_score_unit(command)
    about = "The column whose values have a mean each. (Default: %(default)s.)"
    add("--by", help=about, choices=GROUPS, default="system")
    about = "Say how many rated texts, or contexts, would give an interval of this width."
    add("--plan", help=about, type=float, metavar="WIDTH")
    about = "The means of these very texts. (Default: of more texts from contexts like these.)"
    add("--these-outputs", help=about, **options.FLAG)
    about = "Test each two groups, however many there are. (Default: up to 200 groups.)"
    add("--all-pairs", help=about, **options.FLAG)
    options.add_seed(command)
    options.add_threads(command)
    options.add_written(command)


@files.progress("estimating")
def estimate(arguments: Namespace) -> None:
    """Estimate the mean rating of each system from few ratings and many predictions.

    --ratings are texts drawn at random, with text, quality and, if there are any, system and
    context; --outputs are all texts with the same columns (default: the rows of --ratings that
    have no quality). Differences of each two systems are written beside --out, as .pairs.

    example:
      refless estimate --ratings rated.tsv --outputs all.tsv --out means.tsv
      refless estimate --ratings rated.tsv --outputs all.tsv --score score_judge --plan 0.2
    """
    inputs = [*arguments.ratings, arguments.outputs, arguments.join]
    out = files.check_out(arguments.out, *inputs)
    if out is not None and not arguments.json:
        if out.suffix.lower() in (".json", ".jsonl", ".ndjson"):
            remedy = "let it end in .tsv or .csv, or add --json"
            raise OutputError("the tables are CSV or TSV", path=out, remedy=remedy)
        files.check_out(str(files.pairs_beside(out)), *inputs)
    answer = refless.estimate(
        arguments.ratings,
        arguments.outputs,
        method=arguments.score or arguments.method,
        kernel=arguments.kernel,
        by=arguments.by,
        score_unit=arguments.score_unit,
        plan=arguments.plan,
        these_outputs=bool(arguments.these_outputs),
        all_pairs=bool(arguments.all_pairs),
        seed=arguments.seed,
        threads=arguments.threads,
        outputs_format=arguments.outputs_format,
        **files.reading(arguments),
    )
    for warning in answer.warnings:
        files.tell(f"warning: {warning}")
    if out is None and not arguments.json:
        files.print_out(f"{answer.answer}\n")
        files.tell(f"signature {answer.signature}")
        return
    files.tell(str(answer))
    files.write_answer(answer, out, bool(arguments.json))
