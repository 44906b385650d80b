"""``refless delta-bleu``: BLEU whose references are weighted by how good they are.

Stage: outside the workflow.
"""

from __future__ import annotations

import argparse
import json
from statistics import fmean

from refless.cli._common import (
    Commands,
    UsageError,
    check_out,
    check_scale,
    command,
    require_whole,
    tell,
    write,
)
from refless.cli._neighbors import require_raters_once
from refless.data.given import Given, read_given
from refless.errors import FormatError, SettingError

MOST = 100
"""The longest n-gram that may be asked for; from 5 on hardly a sentence has any in common."""
RULES = ("zero", "smooth", "floor", "signed")
EXAMPLE = """
refless delta-bleu --outputs mine.tsv --references rated.tsv
refless delta-bleu --outputs mine.tsv --references rated.tsv --scale 1 5 --sentences --out s.tsv

mine.tsv has the columns id and text, a row for each output; rated.tsv has id, text and weight
(from -1 to +1), a row for each reference.
"""


def add(commands: Commands) -> None:
    """Describe the command."""
    parser = command(
        commands,
        "delta-bleu",
        help="BLEU with references weighted by how good they are",
        description="Discriminative BLEU of outputs against rated references, from -100 to 100 as"
        " sacreBLEU has it, with its signature. Blanks separate words: tokenise both files alike.",
        example=EXAMPLE,
    )
    parser.add_argument(
        "--outputs",
        required=True,
        metavar="FILE",
        help="column text; id, which references name (default: the number of the row, from 1)",
    )
    parser.add_argument(
        "--references",
        required=True,
        metavar="FILE",
        help="columns id, text, and weight (default: 1 for all, which is BLEU); TSV, CSV or JSON"
        " Lines, by its ending",
    )
    parser.add_argument(
        "--scale",
        type=float,
        nargs=2,
        metavar=("LOW", "HIGH"),
        help="the references have quality on this scale instead of weight: its lowest becomes -1,"
        " its highest +1",
    )
    parser.add_argument("--max-order", type=int, default=4, help="longest n-gram (default: 4)")
    parser.add_argument(
        "--rule",
        choices=RULES,
        default="smooth",
        help="for precisions that are not positive (default: %(default)s): smooth as sacreBLEU,"
        " zero as the formula is written, floor, or signed, which alone can fall below 0",
    )
    parser.add_argument(
        "--sentences",
        action="store_true",
        help="write the outputs with a column delta_bleu, each by itself",
    )
    parser.add_argument("--json", action="store_true", help="write one JSON object")
    parser.add_argument("--out", default="-", metavar="FILE", help="default: - (standard output)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, score, write."""
    if arguments.outputs == "-" and arguments.references == "-":
        raise UsageError("only one of --outputs and --references can be standard input")
    if not 1 <= arguments.max_order <= MOST:
        raise SettingError(
            f"--max-order is {arguments.max_order}", remedy=f"give a number from 1 to {MOST}"
        )
    check_scale(arguments.scale)
    check_out(arguments.out, [arguments.outputs, arguments.references])
    outputs = read_given(arguments.outputs, ["text"], optional=["id"])
    graded = "quality" if arguments.scale else "weight"
    side = read_given(arguments.references, ["text"], optional=["id", graded, "rater"])
    hypotheses = outputs.texts("text")
    references, weights = _by_output(outputs, side, _weights(side, arguments.scale))
    if arguments.sentences and not arguments.json:
        outputs.free("delta_bleu")
        require_whole(outputs)

    from refless.models.delta_bleu_metric import DeltaBLEU

    metric = DeltaBLEU(arguments.max_order, arguments.rule)
    most = max(map(len, references))
    streams = [[own[k] if k < len(own) else None for own in references] for k in range(most)]
    values = None
    if weights:
        values = [[own[k] if k < len(own) else None for own in weights] for k in range(most)]
    total = metric.corpus_score(hypotheses, streams, values)
    each = metric.sentence_scores(hypotheses, streams, values) if arguments.sentences else []
    signature = metric.get_signature()
    if arguments.json:
        found = json.loads(total.format(signature=signature, is_json=True))
        if arguments.sentences:
            found["sentences"] = [one.score for one in each]
        content = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    elif arguments.sentences:
        content = outputs.with_columns({"delta_bleu": [one.score for one in each]})
    else:
        content = total.format(signature=signature) + "\n"
    write(content, arguments.out)
    if arguments.sentences and not arguments.json:
        tell(total.format(signature=signature))
    if "id" not in outputs.columns:
        tell("note: the outputs have no column id; references name them by their row, from 1")
    if not weights:
        tell("note: the references have no column weight; each counts alike, which is BLEU")


def _weights(side: Given, scale: list[float] | None) -> list[float]:
    """The weight of each reference; none at all where the file has no such column."""
    name = "quality" if scale else "weight"
    if name not in side.columns:
        if scale:
            raise FormatError(
                "no column 'quality'",
                path=side.path,
                remedy="leave out --scale, or name the column of ratings quality",
            )
        if "quality" in side.columns:
            tell(
                f"warning: the column quality of {side.path} is not read without --scale LOW HIGH:"
                " every reference has the weight 1, which is BLEU"
            )
        return []
    if scale and "weight" in side.columns:
        tell(f"note: with --scale the column weight of {side.path} is not read")
    low, high = scale or (-1.0, 1.0)
    values = side.numbers(name)
    for line, value in zip(side.line_of, values, strict=True):
        if not low <= value <= high:
            raise FormatError(
                f"{name} {value:g} is not from {low:g} to {high:g}",
                path=side.path,
                line=line,
                remedy="mend the row"
                if scale
                else "name the column quality and give the scale of ratings: --scale 1 5",
            )
    # the middle of a scale is 0, and not what rounding leaves of it: that would be a weight above 0
    return [_round(2 * (value - low) / (high - low) - 1) for value in values] if scale else values


def _round(weight: float) -> float:
    return round(weight, 12)


def _averaged(texts: list[str], weights: list[float]) -> tuple[list[str], list[float]]:
    """References that several people rated, each once with its mean weight."""
    from refless.data.sources.table import plain

    wording: dict[str, str] = {}
    given: dict[str, list[float]] = {}
    for text, weight in zip(texts, weights, strict=True):
        given.setdefault(wording.setdefault(plain(text), text), []).append(weight)
    return list(given), [_round(fmean(own)) for own in given.values()]


def _by_output(
    outputs: Given, side: Given, weights: list[float]
) -> tuple[list[list[str]], list[list[float]]]:
    """References of each output, and their weights, if there are any."""
    from refless.data.sources.table import plain

    if "id" not in side.columns:
        raise FormatError(
            "has no column 'id'",
            path=side.path,
            remedy="say in it of which output each reference is: the output's own id, or its"
            " number from 1",
        )
    numbers = list(map(str, range(1, len(outputs.line_of) + 1)))
    names = outputs.names("id") if "id" in outputs.columns else numbers
    known: dict[str, int] = {}
    for line, name in zip(outputs.line_of, names, strict=True):
        if (before := known.setdefault(name, line)) != line:
            raise FormatError(
                f"the id {name[:40]!r} stands on line {before} already",
                path=outputs.path,
                line=line,
                remedy="give each output an id of its own",
            )
    if not names:
        raise FormatError("has no rows", path=outputs.path, remedy="name the file with outputs")
    found: dict[str, tuple[list[str], list[float]]] = {name: ([], []) for name in names}
    each = weights or [1.0] * len(side.line_of)
    rows = list(zip(side.names("id"), side.texts("text"), strict=True))
    for line, (name, text), weight in zip(side.line_of, rows, each, strict=True):
        if name not in found:
            raise FormatError(
                f"no output has the id {name[:40]!r}",
                path=side.path,
                line=line,
                remedy="without a column id, outputs are numbered 1, 2, ... in their order",
            )
        found[name][0].append(text)
        found[name][1].append(weight)
    if "rater" not in side.columns:
        seen: dict[tuple[str, str], float] = {}
        again = sum(
            seen.setdefault((name, plain(text)), weight) != weight
            for (name, text), weight in zip(rows, each, strict=True)
        )
        if again:
            tell(
                f"warning: {again} references stand twice beside an output, with other weights; the"
                " best one counts. If several people rated them, add a column rater, for the mean"
            )
    else:
        require_raters_once(side, [(name, plain(text)) for name, text in rows])
        found = {name: _averaged(*own) for name, own in found.items()}
    for line, name in zip(outputs.line_of, names, strict=True):
        best = max(found[name][1], default=None)
        if best is None or best <= 0:
            fault = "no reference" if best is None else "no reference of positive weight"
            raise FormatError(
                f"the output {name[:40]!r} has {fault}",
                path=outputs.path,
                line=line,
                remedy="leave the output out, or give it a reference that is better than the"
                " middle of the scale",
            )
    own_weights = [found[name][1] for name in names] if weights else []
    return [found[name][0] for name in names], own_weights
