"""What to do after a comparison: a command, or a call, that predicts by the method that was tested,
and reads ratings as they were read."""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from refless.data.join import keys_of
from refless.evaluation.decisions import Decision, Decisions
from refless.methods import NETWORKS

NEW_TEXTS = "NEW.tsv"
"""What the file of texts to rate is called."""
PREDICTED = "predicted.tsv"
"""What the file of predictions is called."""
MODEL = "mine.npz"
"""What RNN-QE's model is called."""
UNNAMED = "RATED.tsv"
"""What ratings are called that were no file."""
_OPTIONS = {"format", "columns", "repeated", "center", "join", "raters"}
"""The options of reading ratings that the commands have, too."""


@dataclass(frozen=True)
class Source:
    """What ratings were read, and how.

    files : files and folders as they were named; empty where the ratings were a table
    scale : the lowest and the highest possible rating, if they were given: the next command
        guesses as this one did
    reading : options as of `refless.api.read_rated`
    """

    files: Sequence[str]
    scale: Sequence[float] | None
    reading: Mapping[str, Any] = field(default_factory=dict)

    @property
    def given(self) -> dict[str, Any]:
        """The options of reading that are not the default."""
        return {name: value for name, value in self.reading.items() if value and value != "refuse"}


def next_step(decided: Decisions, source: Source, seed: int = 0) -> str:
    """A line with the next command, ready to copy, or of a table the next call."""
    best = decided.first_shown
    if best is None:
        return "next: rate more texts, and compare again"
    main = best.split == decided.splits[0].split
    first = "next" if main else f"next, shown for new {best.split}"
    if best.method == NETWORKS:
        return f"{first}: {shlex.join(_training_words(source, seed))}"
    if _is_command(source):
        return f"{first}: {shlex.join(_scoring_words(best, source))}"
    return f"{first}: {_call(best, source)}"


def _is_command(source: Source) -> bool:
    """Whether a command reads the ratings as they were read."""
    return bool(source.files) and source.given.keys() <= _OPTIONS


def _scoring_words(best: Decision, source: Source) -> list[str]:
    words = ["refless", "score", "--ratings", *source.files, *_reading_words(source)]
    if best.kernel:
        words += ["--kernel", best.kernel]
    else:
        words += ["--method", best.method]
    if best.split == "contexts":
        words.append("--new-contexts")
    words += ["--outputs", _unused(NEW_TEXTS, source.files)]
    # a file beside those of a folder would be read with them the next time
    in_folder = any(os.path.realpath(file) == os.path.realpath(".") for file in source.files)
    return words if in_folder else [*words, "--out", _unused(PREDICTED, source.files)]


def _training_words(source: Source, seed: int) -> list[str]:
    files = source.files or [UNNAMED]
    seed_words = ["--seed", str(seed)] if seed else []
    reading = _reading_words(source)
    return ["refless", "train-qe", "--ratings", *files, *reading, *seed_words, "--out", MODEL]


def _reading_words(source: Source) -> Iterator[str]:
    """The options by which a command reads ratings as they were read."""
    given = source.given
    for name, header in given.get("columns", {}).items():
        yield from ("--column", f"{name}={header}")
    if "join" in given:
        yield from ("--join", str(given["join"][0]))
        for key in keys_of(given["join"]):
            # a value that begins with - is not taken for an option
            yield from ([f"--on={key}"] if key.startswith("-") else ["--on", key])
    if "format" in given:
        yield from ("--ratings-format", given["format"])
    if "repeated" in given:
        yield from ("--repeated-ratings", given["repeated"])
    if source.scale is not None:
        yield from ("--scale", *(f"{_number(end)}" for end in source.scale))
    if "raters" in given:
        yield from ("--raters", *given["raters"])
    if "center" in given:
        yield "--center-raters"


def _unused(name: str, files: Iterable[str]) -> str:
    """A name that none of the files has."""
    while name in map(os.path.basename, files):
        name = f"new_{name}"
    return name


def _number(value: float) -> float | int:
    """A number without the ``.0`` of a whole one."""
    return int(value) if float(value).is_integer() else float(value)


def _call(best: Decision, source: Source) -> str:
    arguments: dict[str, Any] = {"kernel" if best.kernel else "method": best.kernel or best.method}
    if best.split == "contexts":
        arguments["new_contexts"] = True
    if source.scale is not None:
        arguments["scale"] = tuple(map(_number, source.scale))
    words = [f"{name}={value!r}" for name, value in {**arguments, **source.given}.items()]
    return f"refless.score(ratings, outputs, {', '.join(words)})"
