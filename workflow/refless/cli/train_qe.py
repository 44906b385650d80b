"""Train RNN-QE (Dusek et al. 2017) on ratings of your own; needs torch.

example:
  refless train-qe --ratings rated.tsv --out mine.npz
  refless qe --model mine.npz --outputs new.tsv --out rated_new.tsv
"""

import argparse
from dataclasses import replace

from refless.cli import files, options
from refless.errors import FormatError, OutputError


def add(parser: options.Parser) -> None:
    options.add_ratings(parser, "text, quality (any scale) and, if there is one, mr or context")
    parser.add_argument("--out", required=True, metavar="FILE", help="the model, ends in .npz")
    said = "how MRs are written: acts, inform(name='x', area=y); slots, name[x], area[y]; text,"
    said += " plain words (default: what all can be read as)"
    kinds = ["auto", "acts", "slots", "text"]
    parser.add_argument("--mr", choices=kinds, default="auto", help=said)
    parser.add_argument("--scale", **options.SCALE)
    parser.add_argument("--errors", action="store_true", help="learn from invented errors as well")
    said = "12 passes, or up to 500 as in the paper (default: %(default)s)"
    parser.add_argument("--schedule", choices=["short", "paper"], default="short", help=said)
    options.add_number(parser, "--width", "of the network; the paper's is 300", 96)
    options.add_number(parser, "--seed", "of parts and networks", 0, 0)
    options.add_number(parser, "--threads", "networks that are trained at a time", 1)


def run(arguments: argparse.Namespace) -> None:
    out = files.check_out(arguments.out, *arguments.ratings)
    if out.suffix != ".npz":
        raise OutputError("a model's file ends in .npz", path=out, remedy="name it so")
    own = files.ratings_of(arguments, scale=arguments.scale)
    texts = files.rated(own)

    from refless.compare.read import answers_of
    from refless.models.rnn_qe.own import How, fit, worth_lines
    from refless.models.rnn_qe.saved import save_model

    answers = answers_of(texts)
    kind = "" if arguments.mr == "auto" else arguments.mr
    quality = texts["quality"].to_numpy(float)
    how = How(arguments.schedule, arguments.width, arguments.errors, arguments.seed)
    try:
        model = fit(
            texts["text"].tolist(), answers, quality, how, arguments.scale, kind, arguments.threads
        )
    except FormatError as error:
        path, line = ", ".join(arguments.ratings), None
        if error.line is not None:
            path, line = own.where[texts.index[error.line - 1]]
        remedy = error.remedy or "mend it, or say --mr text, which takes all as plain words"
        raise FormatError(error.message, path=path, line=line, remedy=remedy) from error
    column = ""
    if model.reads_meanings:
        column = "mr" if "mr" in texts and texts["mr"].tolist() == answers else "context"
    save_model(replace(model, about={**model.about, "column": column}), out)
    worth, ends = model.about["worth"], f"{model.scale.low:g} to {model.scale.high:g}"
    read = f"{column} read as {model.meanings}" if column else "no mr or context"
    files.tell(f"{len(texts)} rated texts, scale {ends}, {read}")
    files.tell(f"{worth['n']} of them tested, on {model.about['tested']}:")
    files.tell("\n".join(worth_lines(worth)))
