"""``refless delta-bleu``: BLEU whose references are weighted by how good they are."""

from __future__ import annotations

import argparse
import json

from refless.cli._common import (
    Commands,
    add_outputs,
    add_ratings,
    add_scale,
    check_out,
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
    columns = "column text; id, which references name (default: the number of the row, from 1)"
    add_outputs(parser, columns=columns)
    columns = "id, text (a reference) and weight (default: 1 for all, which is BLEU)"
    add_ratings(parser, "--references", columns=columns)
    add_scale(parser, "references have quality on this scale instead of weight: -1 to +1")
    parser.add_argument("--max-order", type=int, default=4, help="longest n-gram (default: 4)")
    parser.add_argument(
        "--rule",
        choices=RULES,
        default="smooth",
        help="for precisions that are not positive (default: %(default)s): smooth as sacreBLEU,"
        " zero as the formula is written, floor, or signed, which alone can fall below 0",
    )
    parser.add_argument(
        "--sentences", action="store_true", help="write the outputs with a column delta_bleu"
    )
    parser.add_argument("--json", action="store_true", help="write one JSON object")
    parser.add_argument("--out", default="-", metavar="FILE", help="default: - (standard output)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, score, write."""
    if not 1 <= arguments.max_order <= MOST:
        message = f"--max-order is {arguments.max_order}"
        raise SettingError(message, remedy=f"give a number from 1 to {MOST}")
    check_out(arguments.out, [arguments.outputs, *arguments.ratings])
    scale = arguments.scale
    side = ratings_of(
        arguments,
        scale=scale or (-1, 1),
        rated="quality" if scale else "weight",
        need=["id", "quality"] if scale else ["id"],
        more=["id"],
    )
    outputs = outputs_of(arguments, ["id"])
    if arguments.sentences and not arguments.json:
        require_free(outputs, "delta_bleu")
    references, weights = _by_output(outputs, side, _weights(side, scale))

    from refless.models.delta_bleu_metric import DeltaBLEU

    metric, hypotheses = DeltaBLEU(arguments.max_order, arguments.rule), outputs.columns["text"]
    against = references, weights or None
    total = metric.corpus_score(hypotheses, *against)
    each = metric.sentence_scores(hypotheses, *against) if arguments.sentences else []
    scores, signature = [one.score for one in each], metric.get_signature()
    if arguments.json:
        found = json.loads(total.format(signature=signature, is_json=True))
        found |= {"sentences": scores} if each else {}
        content = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    elif arguments.sentences:
        content = with_columns(outputs, {"delta_bleu": scores})
        tell(total.format(signature=signature))
    else:
        content = total.format(signature=signature) + "\n"
    write(content, arguments.out)
    if not weights:
        tell("note: no column weight, and no --scale for quality: all references count alike")


def _weights(side: Own, scale: list[float] | None) -> list[float]:
    """The weight of each reference, NaN of an unrated one; none at all where no file has them."""
    rated = side.texts["quality"]
    if not scale and rated.isna().all():
        return []
    low, high = scale or (-1.0, 1.0)
    # the middle of a scale is 0, and not what rounding leaves of it: that would be a weight above 0
    return list((2 * (rated - low) / (high - low) - 1 if scale else rated).round(12))


def _by_output(
    outputs: File, side: Own, weights: list[float]
) -> tuple[list[list[str]], list[list[float]]]:
    """References of each output, and their weights, if there are any; unrated ones are left out."""
    numbers = list(map(str, range(1, len(outputs.lines) + 1)))
    names = outputs.columns.get("id", numbers)
    found: dict[str, tuple[list[str], list[float]]] = {}
    for line, name in zip(outputs.lines, names, strict=True):
        if not name or name in found:
            message = f"the id {name[:40]!r} is empty, or stands there already"
            remedy = "give each output an id of its own"
            raise FormatError(message, path=outputs.path, line=line, remedy=remedy)
        found[name] = [], []
    each = weights or [1.0] * len(side.where)
    own = zip(side.where, side.texts["id"], side.texts["text"], each, strict=True)
    for (path, line), name, text, weight in own:
        if name not in found:
            remedy = "without a column id, outputs are numbered 1, 2, ... in their order"
            message = f"no output has the id {name[:40]!r}"
            raise FormatError(message, path=path, line=line, remedy=remedy)
        if weight == weight:
            found[name][0].append(text)
            found[name][1].append(weight)
    for line, name in zip(outputs.lines, names, strict=True):
        if max(found[name][1], default=0) <= 0:
            message = f"the output {name[:40]!r} has no reference of positive weight"
            remedy = "leave it out, or give it one that is better than the middle of the scale"
            raise FormatError(message, path=outputs.path, line=line, remedy=remedy)
    return [found[n][0] for n in names], [found[n][1] for n in names] if weights else []
