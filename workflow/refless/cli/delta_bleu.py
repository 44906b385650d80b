"""BLEU with references weighted by how good they are; blanks separate words.

example:
  refless delta-bleu --outputs mine.tsv --ratings rated.tsv
  refless delta-bleu --outputs mine.tsv --ratings rated.tsv --scale 1 5 --sentences --out s.tsv

  mine.tsv has the columns id and text, a row for each output; rated.tsv has id, text and weight
  (from -1 to +1), a row for each reference.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from refless import __version__
from refless.cli import files, options
from refless.data.own import Own
from refless.data.rows import Faults, File

if TYPE_CHECKING:
    from pandas import Series


def add(parser: options.Parser) -> None:
    said = "text; id, which references name (default: the number of the row, from 1)"
    options.add_outputs(parser, said)
    options.add_ratings(parser, "id, text (a reference), weight (default: 1, which is BLEU)")
    said = "references have quality on this scale instead of weight"
    parser.add_argument("--scale", **(options.SCALE | {"help": said}))
    options.add_number(parser, "--max-order", "longest n-gram", 4)
    said = "for precisions that are not positive (default: %(default)s): smooth as sacreBLEU,"
    said += " zero as the formula is written, floor, or signed, which alone can fall below 0"
    rules = ["zero", "smooth", "floor", "signed"]
    parser.add_argument("--rule", choices=rules, default="smooth", help=said)
    parser.add_argument("--sentences", action="store_true", help="the outputs with a column added")
    parser.add_argument("--json", action="store_true", help="write one JSON object")
    parser.add_argument("--out", help="the score (default: standard output)", **options.OUT)


def run(arguments: argparse.Namespace) -> None:
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

    import pandas as pd

    from refless.models.delta_bleu import described, of_items, scores

    each = of_items(outputs.columns["text"], references, weights, arguments.max_order)
    found = described(each.sum(axis=0), arguments.rule)
    column = (100 * scores(each, arguments.rule)).tolist()
    numbers = {len(own) for own in references}
    signature = (
        f"nrefs:{numbers.pop() if len(numbers) == 1 else 'var'}|weights:{'given' if given else 1}"
        f"|case:mixed|tok:none|order:{arguments.max_order}|rule:{arguments.rule}"
        f"|version:refless.{__version__}"
    )
    precisions = "/".join(f"{value:.1f}" for value in found["precisions"])
    line = f"ΔBLEU|{signature} = {found['score']:.2f} {precisions} (BP = {found['bp']:.3f}"
    line += f" hyp_len = {found['hyp_len']} ref_len = {found['ref_len']})"
    if arguments.json:
        files.write_json({**found, "signature": signature, "sentences": column}, out)
    elif arguments.sentences:
        files.write(files.with_columns(outputs, pd.DataFrame({"delta_bleu": column})), out)
        files.tell(line)
    else:
        files.write(line + "\n", out)


def _by_output(
    outputs: File, side: Own, weight: Series
) -> tuple[list[list[str]], list[list[float]]]:
    """References of each output, and their weights; unrated ones are left out."""
    faults = Faults()
    faults.rows = {file.path: len(file.rows) for file in (outputs, *side.files)}
    numbers = list(map(str, range(1, len(outputs.rows) + 1)))
    names = outputs.columns.get("id", numbers)
    found: dict[str, list[tuple[str, float]]] = {}
    for line, name in zip(outputs.lines, names, strict=True):
        if not name or name in found:
            faults.add(outputs.path, line, "id", "are empty, or stand there already", name)
        found[name] = []
    texts = side.texts["id"], side.texts["text"], weight
    for (path, line), name, text, value in zip(side.where, *texts, strict=True):
        if name not in found:
            what = "are of no output: without a column id, outputs are numbered 1, 2, ..."
            faults.add(path, line, "id", what, name)
        elif value == value:
            found[name].append((text, value))
    for line, name in zip(outputs.lines, names, strict=True):
        if not any(value > 0 for _, value in found[name]):
            what = "have no reference of positive weight: the middle of a scale weighs 0"
            faults.add(outputs.path, line, "id", what, name)
    faults.check()
    references = [[text for text, _ in own] for own in found.values()]
    return references, [[value for _, value in own] for own in found.values()]
