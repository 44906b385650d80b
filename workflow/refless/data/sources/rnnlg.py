"""RNNLG: human sentences for MRs about restaurants (SFRest) and hotels (SFHot), unrated.

Stage: ratings. In: ``train.json``, ``valid.json`` and ``test.json`` of one domain (Wen et al.
2015): comment lines beginning with ``#``, then an array of [MR, human reference, output of a
rule-based baseline]. Out: a `RatedTexts` without ratings: the human references of NEM's outputs.
"""

from __future__ import annotations

from pathlib import Path

from refless.data.ratings import RatedTexts, text_table
from refless.data.sources import mr
from refless.data.sources._reading import (
    half_character,
    json_array,
    lines,
    read_text,
    text_fault,
)
from refless.errors import FormatError, Problem

PARTS = ("train", "valid", "test")


def load(
    task: str,
    train: str | Path | None = None,
    valid: str | Path | None = None,
    test: str | Path | None = None,
) -> RatedTexts:
    """Read the parts of one domain.

    Parameters
    ----------
    train, valid, test : the files of the parts; some may be left out
    task : the data set's name, with which ids begin

    Returns
    -------
    RatedTexts : ``id`` is ``<task>:<part>:<row>``, four digits, from 1; ``context`` is the MR as
        written; ``text`` the human reference; ``quality`` NaN, ``n_ratings`` 0, ``system``
        ``human``. Parts come in the order train, valid, test. Extra columns: ``part``;
        ``baseline`` (the baseline's output); ``mr_key`` and ``mr_set``
        (`refless.data.sources.mr.key`, with and without the order of slots); ``text_nem``
        (the reference in the style of NEM's outputs: `refless.data.sources.mr.nem_style`). Blanks
        around a text are left off.

        Problems (such a row is not used): not three strings; an MR that cannot be read; an empty
        reference or one with a NUL.

    Raises
    ------
    FormatError : no part; a file that is not in this format.
    """
    paths = {"train": train, "valid": valid, "test": test}
    if not any(paths.values()):
        raise FormatError(f"no part is given; name the file of one of {', '.join(PARTS)}")
    rows: list[dict[str, object]] = []
    problems: list[Problem] = []
    for part in PARTS:
        path = paths[part]
        if path is None:
            continue
        raw = read_text(path)
        for number, (_, line, triple) in enumerate(json_array(raw, path, _comments(raw)), start=1):
            try:
                rows.append(_row(triple, task, part, number))
            except FormatError as error:
                problems.append(Problem(str(path), line, error.message))
    extra = ["part", "baseline", "mr_key", "mr_set", "text_nem"]
    return RatedTexts(text_table(rows, extra), problems=problems)


def _comments(raw: str) -> int:
    """Number of characters that the comment lines at the head take."""
    length = 0
    for line in lines(raw):
        if not line.startswith("#"):
            break
        length += len(line)
    return length


def _row(triple: object, task: str, part: str, number: int) -> dict[str, object]:
    if (
        not isinstance(triple, list)
        or len(triple) != 3
        or not all(isinstance(value, str) for value in triple)
    ):
        raise FormatError("this is not [MR, human reference, baseline output]")
    meaning, text, baseline = (value.strip() for value in triple)
    fault = text_fault(text) or half_character(meaning + " " + baseline)
    if fault:
        raise FormatError(fault)
    row = mr.reference_row(f"{task}:{part}:{number:04d}", task, meaning, text)
    return {**row, "part": part, "baseline": baseline}
