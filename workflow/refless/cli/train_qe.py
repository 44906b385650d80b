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
    parser.add_argument("--scale", **options.SCALE)
    parser.add_argument("--errors", action="store_true", help="learn from invented errors as well")
    options.add_number(parser, "--width", "of the network; the paper's is 300", 96)
    options.add_number(parser, "--seed", "of parts and networks", 0, 0)
    options.add_number(parser, "--threads", "networks that are trained at a time", 1)


def run(arguments: argparse.Namespace) -> None:
    out = files.check_out(arguments.out, *arguments.ratings)
    if out.suffix != ".npz":
        raise OutputError("a model's file ends in .npz", path=out, remedy="name it so")
    texts = files.rated(files.ratings_of(arguments, scale=arguments.scale))

    from refless.compare.read import answers_of
    from refless.models.rnn_qe.own import How, fit
    from refless.models.rnn_qe.saved import save_model

    answers, quality = answers_of(texts), texts["quality"].to_numpy(float)
    how = How(arguments.width, arguments.errors, arguments.seed)
    try:
        told = answers, quality, how, arguments.scale, arguments.threads
        model = fit(texts["text"].tolist(), *told)
    except FormatError as error:
        path = ", ".join(arguments.ratings)
        raise FormatError(error.message, path=path, remedy=error.remedy) from error
    column = "mr" if "mr" in texts and texts["mr"].tolist() == answers else "context"
    save_model(replace(model, about={**model.about, "column": column}), out)
    ends = f"{model.scale.low:g} to {model.scale.high:g}"
    read = f"{column} read as {model.meanings}" if model.reads_meanings else "no mr or context"
    files.tell(f"{len(texts)} rated texts, scale {ends}, {read}")
    files.tell(f"tested on {model.about['tested']}: {files.measures_line(model.about['worth'])}")
