"""``refless delta-bleu``: BLEU whose references are weighted by how good they are.

Stage: outside the workflow.
"""

from __future__ import annotations

import argparse
import json

from refless.cli._common import (
    TABLES,
    Commands,
    UsageError,
    add_outputs,
    add_ratings,
    check_out,
    check_scale,
    command,
    outputs_of,
    ratings_of,
    require_free,
    tell,
    with_columns,
    write,
)
from refless.data.own import Own
from refless.data.rows import File
from refless.errors import FormatError, SettingError

MOST = 100
"""The longest n-gram that may be asked for; from 5 on hardly a sentence has any in common."""
RULES = ("zero", "smooth", "floor", "signed")
EXAMPLE = """
refless delta-bleu --outputs mine.tsv --ratings rated.tsv
refless delta-bleu --outputs mine.tsv --ratings rated.tsv --scale 1 5 --sentences --out s.tsv

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
        help="column text; id, which references name (default: the number of the row, from 1);"
        f" {TABLES}, or plain lines (.txt)",
    )
    add_outputs(parser)
    columns = "id, text (a reference) and weight (default: 1 for all, which is BLEU)"
    add_ratings(parser, "--references", columns=columns)
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
    if arguments.outputs == "-" and arguments.ratings == ["-"]:
        raise UsageError("only one of --outputs and --ratings can be standard input")
    if not 1 <= arguments.max_order <= MOST:
        raise SettingError(
            f"--max-order is {arguments.max_order}", remedy=f"give a number from 1 to {MOST}"
        )
    check_scale(arguments.scale)
    check_out(arguments.out, [arguments.outputs, *arguments.ratings])
    outputs = outputs_of(arguments, ["id"])
    rated = "quality" if arguments.scale else "weight"
    need = ["id", "quality"] if arguments.scale else ["id"]
    side = ratings_of(
        arguments, scale=arguments.scale or (-1, 1), rated=rated, need=need, more=["id"]
    )
    hypotheses = outputs.columns["text"]
    references, weights = _by_output(outputs, side, _weights(side, arguments.scale))
    if arguments.sentences and not arguments.json:
        require_free(outputs, "delta_bleu")

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
        content = with_columns(outputs, {"delta_bleu": [one.score for one in each]})
    else:
        content = total.format(signature=signature) + "\n"
    write(content, arguments.out)
    if arguments.sentences and not arguments.json:
        tell(total.format(signature=signature))
    if "id" not in outputs.columns:
        tell("note: the outputs have no column id; references name them by their row, from 1")
    if not weights:
        quality = any("quality" in file.names for file in side.files)
        more = "; their quality is read with --scale LOW HIGH" if quality else ""
        tell(f"note: the references have no column weight; each counts alike, which is BLEU{more}")


def _weights(side: Own, scale: list[float] | None) -> list[float]:
    """The weight of each reference, NaN of an unrated one; none at all where no file has them."""
    rated = side.texts["quality"]
    if not scale and rated.isna().all():
        return []
    if not side.ratings["rater"].any():
        again = side.texts.duplicated(["id", "text"])
        if other := int((again & ~side.texts.duplicated(["id", "text", "quality"])).sum()):
            tell(
                f"warning: {other} references stand twice beside an output, with other weights; the"
                " best one counts. If several people rated them, add a column rater, for the mean"
            )
    low, high = scale or (-1.0, 1.0)
    # the middle of a scale is 0, and not what rounding leaves of it: that would be a weight above 0
    return (2 * (rated - low) / (high - low) - 1 if scale else rated).round(12).tolist()


def _by_output(
    outputs: File, side: Own, weights: list[float]
) -> tuple[list[list[str]], list[list[float]]]:
    """References of each output, and their weights, if there are any; unrated ones are left out."""
    numbers = list(map(str, range(1, len(outputs.lines) + 1)))
    names = outputs.columns.get("id", numbers)
    if not names:
        raise FormatError("has no rows", path=outputs.path, remedy="name the file with outputs")
    found: dict[str, tuple[list[str], list[float]]] = {}
    for line, name in zip(outputs.lines, names, strict=True):
        if not name or name in found:
            raise FormatError(
                f"the id {name[:40]!r} {'stands there already' if name else 'is empty'}",
                path=outputs.path,
                line=line,
                remedy="give each output an id of its own",
            )
        found[name] = [], []
    own = zip(side.where, side.texts["id"], side.texts["text"], strict=True)
    each = weights or [1.0] * len(side.where)
    for ((path, line), name, text), weight in zip(own, each, strict=True):
        if name not in found:
            raise FormatError(
                f"no output has the id {name[:40]!r}",
                path=path,
                line=line,
                remedy="without a column id, outputs are numbered 1, 2, ... in their order",
            )
        if weight == weight:
            found[name][0].append(text)
            found[name][1].append(weight)
    for line, name in zip(outputs.lines, names, strict=True):
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
