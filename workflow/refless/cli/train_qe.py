"""``refless train-qe``: train RNN-QE on ratings of your own.

Stage: outside the workflow.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from refless.cli._common import (
    Commands,
    add_ratings,
    check_least,
    check_model,
    check_scale,
    command,
    ratings_of,
    require_files,
    require_torch,
    tell,
)
from refless.errors import FormatError, OutputError


def add(commands: Commands) -> None:
    """Describe the command."""
    train = command(
        commands,
        "train-qe",
        help="train a network that rates texts, on ratings of your own",
        description="Train RNN-QE (Dusek et al. 2017) on rated texts, and say what it is worth on"
        " texts that it did not see: five networks, each tested on a fifth of the texts. Their mean"
        " predicts. `refless qe --model FILE` rates with it. Needs torch.",
        example="refless train-qe --ratings rated.tsv --out mine.npz\n"
        "refless qe --model mine.npz --outputs new.tsv --out rated_new.tsv",
    )
    columns = "text, quality (any scale) and, if there is one, mr or context"
    add_ratings(train, formats=["--format"], columns=columns)
    train.add_argument("--out", required=True, metavar="FILE", help="the model, ends in .npz")
    train.add_argument(
        "--mr",
        choices=["auto", "acts", "slots", "text"],
        default="auto",
        help="how MRs are written: acts, inform(name='x', area=y); slots, name[x], area[y]; text,"
        " plain words (default: what all can be read as)",
    )
    train.add_argument(
        "--scale",
        type=float,
        nargs=2,
        metavar=("LOW", "HIGH"),
        help="ends of the scale (default: lowest and highest rating)",
    )
    train.add_argument(
        "--errors",
        action="store_true",
        help="also learn from texts with errors put in, for ratings of how well a text is written",
    )
    train.add_argument(
        "--schedule",
        choices=["short", "paper"],
        default="short",
        help="12 passes, or up to 500 as in the paper (default: %(default)s)",
    )
    train.add_argument(
        "--width", type=int, default=96, help="of the network; the paper's is 300 (default: 96)"
    )
    train.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    train.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    train.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    require_files(arguments.ratings)
    path = check_model(arguments.out, arguments.ratings)
    if {Path(arguments.out).suffix, path.suffix} != {".npz"}:
        raise OutputError("a model's file ends in .npz", path=path, remedy="name it so")
    check_scale(arguments.scale)
    check_least("seed", arguments.seed, 0)
    check_least("width", arguments.width, 1)
    check_least("threads", arguments.threads, 1)
    kind = "" if arguments.mr == "auto" else arguments.mr
    own = ratings_of(arguments, scale=arguments.scale)
    require_torch()

    from refless.compare.rated import about_meanings, meanings_of
    from refless.data.sources.table import tidy
    from refless.models.rnn_qe.meaning import TEXT
    from refless.models.rnn_qe.own import How, Rated, fit, worth_lines
    from refless.models.rnn_qe.saved import save_model
    from refless.models.rnn_qe.scale import Scale

    loaded = tidy(own, "own", arguments.scale)
    texts = loaded.texts[loaded.texts["n_ratings"] > 0]
    assert loaded.scale is not None
    low, high = loaded.scale
    scale = Scale(low, high, None)

    column, meanings = meanings_of(texts)
    rated = Rated.of(
        texts["text"].tolist(),
        meanings,
        scale.to_digits(low + texts["quality"].to_numpy(float) * (high - low), 10),
        (low, high),
        kind,
    )
    how = How(arguments.schedule, arguments.width, arguments.errors, arguments.seed)
    try:
        model = fit(rated, how, arguments.threads)
    except FormatError as error:
        path_of, line = ", ".join(arguments.ratings), None
        if error.line is not None:
            path_of, line = own.where[texts.index[error.line - 1]]
        remedy = error.remedy or "mend it, or say --mr text, which takes all as plain words"
        raise FormatError(error.message, path=path_of, line=line, remedy=remedy) from error
    column = column if model.reads_meanings else ""
    model = replace(model, about={**model.about, "column": column})
    save_model(model, path, half=True)
    ends = f"{rated.scale.low:g} to {rated.scale.high:g}"
    ends += "" if arguments.scale else " (the lowest and the highest rating; --scale says another)"
    worth, tested = model.about["worth"], model.about["tested"]
    said = [
        f"{len(rated.texts)} rated texts, scale {ends}, "
        + (f"{column} read as {rated.kind}" if column else "no mr or context"),
        f"{worth['n']} of them tested, by a network that neither learned from their part nor"
        f" chose its pass by it; they are {tested}:",
        *worth_lines(worth),
    ]
    print("\n".join(said), file=sys.stderr)
    for sentence in about_meanings(column, meanings, rated.kind != TEXT, as_asked=kind == TEXT):
        tell(f"note: {sentence}")
    if column and "of new MRs" not in tested:
        tell(
            "warning: MRs or contexts are too few, or one has too many of the texts, or too many"
            " texts repeat, to test on new ones. Those of the tested texts are in training, too;"
            " with new ones, the networks may be worth far less"
        )
    if texts["system"].nunique() > 1:
        tell("note: the systems are those of training texts; for a new system: refless compare")
