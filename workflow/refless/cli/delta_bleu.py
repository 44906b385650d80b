"""``refless delta-bleu``."""

from argparse import ArgumentParser, Namespace
from collections import Counter
from typing import Any

from refless.citation import signature
from refless.cli import files, options
from refless.data.rows import File, check
from refless.data.user_ratings import UserRatings
from refless.errors import FormatError


def add_arguments(command: ArgumentParser) -> None:
    options.add_outputs(command)
    options.add_ratings(command)
    options.add_reading(command, center=False, scale="references have a weight")
    options.add_written(command)


def delta_bleu(arguments: Namespace) -> None:
    """BLEU with references weighted by how good they are; blanks separate words.

    The outputs have the columns id (default: 1, 2, ...) and text; the references id, text and
    weight, from -1 to +1, or with --scale quality.

    example:
      refless delta-bleu --outputs mine.tsv --ratings rated.tsv
      refless delta-bleu --outputs mine.tsv --ratings rated.tsv --scale 1 5 --json
    """
    inputs = arguments.outputs, *arguments.ratings, arguments.join
    arguments.out = files.check_out(arguments.out, *inputs)
    rated = "quality" if arguments.scale else "weight"
    low, high = arguments.scale = arguments.scale or (-1, 1)
    own = files.ratings_of(arguments, rated=rated, need=["id", rated])
    outputs = files.outputs_of(arguments, ["id"], added=["delta_bleu"])
    if not outputs.rows:
        raise FormatError("has no rows", path=outputs.path, remedy="give it texts, one a row")
    # the middle of a scale is 0, and not what rounding leaves of it: that would be a weight above 0
    weight = (2 * (own.texts["quality"] - low) / (high - low) - 1).round(12)
    references, weights = _by_output(outputs, own, weight)

    from refless.models.delta_bleu import described, of_items, scores

    each = of_items(outputs.columns["text"], references, weights, max_order=4)
    numbers = {len(texts) for texts in references}
    number = numbers.pop() if len(numbers) == 1 else "var"
    signed = signature(
        nrefs=number, weights="given", case="mixed", tok="none", order=4, rule="smooth"
    )
    facts = described(each.sum(axis=0)) | {"signature": signed}
    columns = {"delta_bleu": 100 * scores(each, "smooth", effective_order=True)}
    files.finish(arguments, outputs, columns, facts)
    files.tell(f"ΔBLEU|{facts['signature']} = {facts['score']:.2f}")


def _by_output(
    outputs: File, own: UserRatings, weight: Any
) -> tuple[list[list[str]], list[list[float]]]:
    """References of each output, and their weights; unrated ones are left out."""
    names = outputs.columns.get("id") or list(map(str, range(1, len(outputs.rows) + 1)))
    references: dict[str, list[str]] = {name: [] for name in names}
    weights: dict[str, list[float]] = {name: [] for name in names}
    texts = own.texts["id"], own.texts["text"], weight
    for (file, line), name, text, value in zip(own.where, *texts, strict=True):
        if name not in references:
            what = "are of no output: without a column id, outputs are numbered 1, 2, ..."
            file.fault(line, "id", what, name)
        elif value == value:
            references[name].append(text)
            weights[name].append(value)
    there = Counter(names)
    for line, name in zip(outputs.lines, names, strict=True):
        if not name or there[name] > 1:
            outputs.fault(line, "id", "are empty, or there more than once", name)
        elif not max(weights[name], default=0) > 0:
            what = "have no reference of positive weight: the middle of a scale weighs 0"
            outputs.fault(line, "id", what, name)
    check([outputs, *own.files])
    return list(references.values()), list(weights.values())
