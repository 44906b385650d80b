"""``refless fit``: a neighbors model in a file, for any number of calls of ``refless score``."""

import argparse

from refless.cli import files, options
from refless.cli._neighbors import add_model, fitted, read_training

EXAMPLE = """
refless fit --ratings rated.tsv --out rated.model
refless score --model rated.model --outputs mine.tsv --out predicted.tsv
"""


def add(commands: options.Commands) -> None:
    """Describe the command."""
    parser = options.command(
        commands,
        run,
        "fit",
        help="keep rated texts and tau in a file, for refless score --model",
        description="Write a neighbors model. Its predictions are those of refless score with"
        " --ratings and the same settings, to the byte. The file has the texts in it.",
        example=EXAMPLE,
    )
    options.add_ratings(parser)
    add_model(parser)
    parser.add_argument("--out", required=True, metavar="FILE", help="the model")


def run(arguments: argparse.Namespace) -> None:
    """Read, fit, write, say."""
    out = files.check_out(arguments.out, *arguments.ratings)
    if str(out) == "-":
        arguments.fail("a model goes to a file: --out FILE")
    _, rated = read_training(arguments)

    from refless.models.neighbors_file import save, signature_line

    model = fitted(arguments, rated)
    save(model, out)
    files.tell(f"signature {signature_line(model)}")
