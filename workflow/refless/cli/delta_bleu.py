"""``refless delta-bleu``: BLEU whose references are weighted by how good they are."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from refless.cli import files, options
from refless.data.own import Own
from refless.data.rows import File
from refless.errors import FormatError

if TYPE_CHECKING:
    import pandas as pd

RULES = ("zero", "smooth", "floor", "signed")
EXAMPLE = """
refless delta-bleu --outputs mine.tsv --ratings rated.tsv
refless delta-bleu --outputs mine.tsv --ratings rated.tsv --scale 1 5 --sentences --out s.tsv

mine.tsv has the columns id and text, a row for each output; rated.tsv has id, text and weight
(from -1 to +1), a row for each reference.
"""


def add(commands: options.Commands) -> None:
    """Describe the command."""
    parser = options.command(
        commands,
        run,
        "delta-bleu",
        help="BLEU with references weighted by how good they are",
        description="Discriminative BLEU of outputs against rated references, from -100 to 100 as"
        " sacreBLEU has it, with its signature. Blanks separate words: tokenise both files alike.",
        example=EXAMPLE,
    )
    columns = "column text; id, which references name (default: the number of the row, from 1)"
    options.add_outputs(parser, columns)
    options.add_ratings(
        parser, "id, text (a reference) and weight (default: 1 for all, which is BLEU)"
    )
    options.add_scale(parser, "references have quality on this scale instead of weight: -1 to +1")
    options.add_number(parser, "--max-order", "longest n-gram", 4)
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
    options.add_out(parser, "the score")


def run(arguments: argparse.Namespace) -> None:
    """Read, score, write, say."""
    out = files.check_out(arguments.out, arguments.outputs, *arguments.ratings)
    scale = arguments.scale
    side = files.ratings_of(
        arguments,
        scale=scale or (-1, 1),
        rated="quality" if scale else "weight",
        need=["id", "quality"] if scale else ["id"],
    )
    outputs = files.outputs_of(arguments, ["id"])
    weight = side.texts["quality"]
    given = bool(scale) or weight.notna().any()
    if scale:
        weight = 2 * (weight - scale[0]) / (scale[1] - scale[0]) - 1
    if not given:
        files.tell("note: no column weight, and no --scale for quality: all references count alike")
        weight = weight.fillna(1.0)
    # the middle of a scale is 0, and not what rounding leaves of it: that would be a weight above 0
    references, weights = _by_output(outputs, side, weight.round(12))

    from refless.models.delta_bleu_metric import DeltaBLEU

    metric = DeltaBLEU(arguments.max_order, arguments.rule)
    told = outputs.columns["text"], references, weights if given else None
    total, signature = metric.corpus_score(*told), metric.get_signature()
    each = [one.score for one in metric.sentence_scores(*told)] if arguments.sentences else []
    line = total.format(signature=signature)
    if arguments.json:
        found = json.loads(total.format(signature=signature, is_json=True))
        found |= {"sentences": each} if each else {}
        files.write(json.dumps(found, ensure_ascii=False, indent=1) + "\n", out)
    elif arguments.sentences:
        files.write(files.with_columns(outputs, {"delta_bleu": each}), out)
        files.tell(line)
    else:
        files.write(line + "\n", out)


def _by_output(
    outputs: File, side: Own, weight: pd.Series
) -> tuple[list[list[str]], list[list[float]]]:
    """References of each output, and their weights; unrated ones are left out."""
    numbers = list(map(str, range(1, len(outputs.lines) + 1)))
    names = outputs.columns.get("id", numbers)
    found: dict[str, list[tuple[str, float]]] = {}
    for line, name in zip(outputs.lines, names, strict=True):
        if not name or name in found:
            message = f"the id {name[:40]!r} is empty, or stands there already"
            remedy = "give each output an id of its own"
            raise FormatError(message, path=outputs.path, line=line, remedy=remedy)
        found[name] = []
    texts = side.texts["id"], side.texts["text"], weight
    for (path, line), name, text, value in zip(side.where, *texts, strict=True):
        if name not in found:
            message = f"no output has the id {name[:40]!r}"
            remedy = "without a column id, outputs are numbered 1, 2, ... in their order"
            raise FormatError(message, path=path, line=line, remedy=remedy)
        if value == value:
            found[name].append((text, value))
    for line, name in zip(outputs.lines, names, strict=True):
        if not any(value > 0 for _, value in found[name]):
            message = f"the output {name[:40]!r} has no reference of positive weight"
            remedy = "leave it out, or give it one that is better than the middle of the scale"
            raise FormatError(message, path=outputs.path, line=line, remedy=remedy)
    references = [[text for text, _ in own] for own in found.values()]
    return references, [[value for _, value in own] for own in found.values()]
