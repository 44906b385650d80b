"""The command ``refless``: rate your own system's outputs.

Stage: outside the workflow. In: TSV files. Out: TSV files. Heavy imports stay inside the commands,
so that ``refless --help`` is quick.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from refless import __version__
from refless.errors import FormatError, KernelError, OutputError, ReflessError, SettingError

# Ethayarajh & Sadigh (2020), section 4; BERTScore's is for PUBLISHED_BERTSCORE alone
TAUS = {"bleu": 0.08, "rouge_l": 0.06, "meteor": 0.18, "bertscore": 0.1}
PUBLISHED_BERTSCORE = "bertscore.roberta-large"


def build_parser() -> argparse.ArgumentParser:
    """The command line of ``refless``."""
    parser = argparse.ArgumentParser(prog="refless", description=__doc__.splitlines()[0])
    parser.add_argument("--version", action="version", version=f"refless {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    score = commands.add_parser(
        "score",
        help="predict quality as the mean rating of the nearest rated texts",
        description="Predict each candidate's quality as the mean quality of the rated training"
        " texts that are similar to it; make no prediction where too few or too many are.",
    )
    score.add_argument("--train", required=True, metavar="TSV", help="columns text, quality")
    score.add_argument(
        "--candidates",
        required=True,
        metavar="TSV",
        help="column text; with a column quality, correlations are printed",
    )
    score.add_argument("--kernel", default="bleu.char", help="default: %(default)s")
    score.add_argument(
        "--tau",
        type=float,
        help="similarity of a neighbor (default: the published one of the kernel's family: "
        + ", ".join(f"{family} {tau}" for family, tau in TAUS.items())
        + ")",
    )
    score.add_argument(
        "--min-neighbors", type=int, default=5, help="fewest neighbors (default: %(default)s)"
    )
    score.add_argument(
        "--max-share",
        type=float,
        default=0.66,
        help="most neighbors, as a share of the training texts (default: %(default)s)",
    )
    score.add_argument("--wordnet", metavar="PATH", help="WordNet 3.0, for METEOR kernels")
    score.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the kernel, e.g. layer=10, rescale=false or model=FOLDER for BERTScore;"
        " may be given several times",
    )
    score.add_argument("--threads", type=int, help="default: all cores")
    score.add_argument(
        "--out", default="-", metavar="TSV", help="adds prediction and neighbors (default: -)"
    )
    score.set_defaults(run=_score)
    qe = commands.add_parser(
        "qe",
        help="rate outputs from their meaning representation alone, with a trained network",
        description="Rate each output, 1 to 6, with a model that training left behind.",
    )
    qe.add_argument("--model", required=True, metavar="FILE", help="a saved model (fold0.pt)")
    qe.add_argument(
        "--outputs", required=True, metavar="TSV", help="columns mr, such as inform(name=x), text"
    )
    qe.add_argument(
        "--out", default="-", metavar="TSV", help="adds raw and prediction (default: -)"
    )
    qe.set_defaults(run=_qe)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Entry point: 0, or 1 with a message on standard error."""
    arguments = build_parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except ReflessError as error:
        print(f"refless: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of our output went away (`| head`); there is nobody left to tell.
        sys.stderr.close()
    return 0


def _score(arguments: argparse.Namespace) -> None:
    from refless.data.tsv import read_tsv

    if arguments.train == "-" and arguments.candidates == "-":
        raise FormatError("only one of --train and --candidates can be standard input")
    train = read_tsv(arguments.train, ["text", "quality"])
    quality = train.numbers("quality")
    candidates = read_tsv(arguments.candidates, ["text"])
    _free(candidates, "prediction", "neighbors")
    truth = candidates.numbers("quality") if "quality" in candidates.columns else None

    from refless.data.encoders import lacking
    from refless.kernels import module_path
    from refless.models.neighbors import NeighborsRegressor

    chosen = _options(arguments.option, arguments.kernel)
    options: dict[str, Any] = {"threads": arguments.threads, **chosen}
    family = arguments.kernel.split(".")[0]
    if arguments.wordnet:
        if family != "meteor":
            raise SettingError(f"{arguments.kernel} takes no --wordnet", remedy="leave it out")
        options["wordnet"] = arguments.wordnet
    # Embeddings share BERTScore's code, whose error names BERTScore.
    if family == "embedding" and (reason := lacking(arguments.kernel)):
        raise KernelError(reason.sentence, remedy=reason.remedy)
    tau = arguments.tau
    if tau is None:
        module_path(arguments.kernel)  # an unknown kernel is another error
        remedy = "give --tau, e.g. one that gives most candidates 5 neighbors or more"
        scaled = {"layer", "rescale", "baseline"} & set(chosen)
        if family == "bertscore" and (arguments.kernel != PUBLISHED_BERTSCORE or scaled):
            raise SettingError(
                f"the published tau is for {PUBLISHED_BERTSCORE} as it is; other forms have other"
                " scales",
                remedy=remedy,
            )
        if family not in TAUS:
            raise SettingError(f"no tau was published for {arguments.kernel}", remedy=remedy)
        tau = TAUS[family]
    model = NeighborsRegressor(
        arguments.kernel,
        tau,
        arguments.min_neighbors,
        arguments.max_share,
        **options,
    ).fit(train.columns["text"], quality)
    texts = candidates.columns["text"]
    prediction = _with_progress(model, texts)

    lines = [f"{candidates.header}\tprediction\tneighbors"]
    for line, value, number in zip(candidates.lines, prediction, model.neighbors_, strict=True):
        shown = "" if value != value else repr(float(value))
        lines.append(f"{line}\t{shown}\t{number}")
    _write("\n".join(lines) + "\n", arguments.out)
    _report(prediction, truth)


def _options(texts: list[str], kernel: str) -> dict[str, Any]:
    """``["layer=10"]`` as options of a kernel: numbers, true, false, or else text as it stands."""
    if not texts:
        return {}
    from refless.kernels import option_names

    known, found = option_names(kernel), {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            raise SettingError(
                f"--option {text!r} is not understood",
                remedy=f"write it NAME=VALUE; the options of {kernel} are:"
                f" {', '.join(known) or 'none'}",
            )
        try:
            read = json.loads(value)
        except ValueError:
            read = value
        found[name] = read if isinstance(read, (bool, int, float)) else value
    return found


def _qe(arguments: argparse.Namespace) -> None:
    from refless.data.tsv import read_tsv
    from refless.models.rnn_qe.delex import delexicalise
    from refless.models.rnn_qe.saved import load_model

    outputs = read_tsv(arguments.outputs, ["mr", "text"])
    _free(outputs, "raw", "prediction")
    model = load_model(arguments.model)
    mrs, texts = [], []
    pairs = zip(outputs.columns["mr"], outputs.columns["text"], strict=True)
    for line, (meaning, text) in enumerate(pairs, start=2):
        try:
            mr, words = delexicalise(meaning, text)
        except FormatError as error:
            raise FormatError(error.message, path=outputs.path, line=line) from error
        mrs.append(mr.split())
        texts.append(words.split())
    raw, prediction = model.predict(mrs, texts)
    lines = [f"{outputs.header}\traw\tprediction"]
    for line_, unrounded, value in zip(outputs.lines, raw, prediction, strict=True):
        lines.append(f"{line_}\t{unrounded:.4f}\t{value:.1f}")
    _write("\n".join(lines) + "\n", arguments.out)


def _free(table: Any, *names: str) -> None:
    """Columns that are to be added must not be there."""
    clash = set(names) & set(table.columns)
    if clash:
        raise FormatError(
            f"already has a column {min(clash)!r}", path=table.path, remedy="rename it"
        )


def _with_progress(model: Any, texts: list[str]) -> Any:
    from tqdm import tqdm

    # disable=None: no bar where standard error is not a terminal
    with tqdm(total=len(texts), unit="text", disable=None, leave=False) as bar:
        return model.predict(texts, progress=lambda done: bar.update(done - bar.n))


def _write(content: str, out: str) -> None:
    from refless.store.files import whole_file

    # A link stays a link, and a pipe or a device gets the lines: only a file is replaced.
    path = Path(os.path.realpath(out))
    try:
        if out == "-":
            sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
            sys.stdout.write(content)
            sys.stdout.flush()
        elif path.exists() and not path.is_file():
            path.write_text(content, encoding="utf-8")
        else:
            with whole_file(path) as partial:
                partial.write_text(content, encoding="utf-8")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(
            f"cannot be written: {error.strerror or error}",
            path=out,
            remedy="make room, or name another place with --out",
        ) from error


def _report(prediction: Any, truth: list[float] | None) -> None:
    """What a person wants to know at once, on standard error."""
    import numpy as np

    from refless.statistics import evaluate

    covered = int((~np.isnan(prediction)).sum())
    share = covered / len(prediction) if len(prediction) else float("nan")
    print(f"coverage {share:.3f} ({covered} of {len(prediction)})", file=sys.stderr)
    if truth is not None:
        quality = np.asarray(truth, dtype=np.float64)
        cell = evaluate(prediction, quality)
        for name, estimate in (("Spearman", cell.spearman), ("MSE", cell.mse)):
            if np.isnan(estimate.value):
                print(f"{name} undefined: too few predictions, or all alike", file=sys.stderr)
                continue
            print(
                f"{name} {estimate.value:.4f} (95% {estimate.low:.4f} to {estimate.high:.4f})",
                file=sys.stderr,
            )
        if not np.isnan(cell.spearman.value):
            known = ~np.isnan(prediction)
            pearson = np.corrcoef(prediction[known], quality[known])[0, 1]
            print(f"Pearson {pearson:.4f}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
