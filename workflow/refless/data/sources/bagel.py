"""BAGEL: two human utterances for each of 202 MRs of Cambridge restaurants, unrated.

Stage: ratings. In: ``ACL10-inform-training.txt`` (Mairesse et al. 2010): for each utterance a full
MR, an abstract MR (names, places, numbers are X1, X2, ...) and the utterance with its alignment
to the slots, ``-> "[name+X]X []cooks [food+Thai]Thai []food."``. Out: a `RatedTexts`
without ratings: the human references of NEM's BAGEL outputs.
"""

from __future__ import annotations

import re
from pathlib import Path

from refless.data.ratings import RatedTexts, text_table
from refless.data.sources import mr
from refless.data.sources._reading import broken, lines, read_text, shorten, text_fault
from refless.errors import FormatError, Problem

_FULL = re.compile(r"FULL_DA\s*=\s*(.*)")
_ABSTRACT = re.compile(r"ABSTRACT_DA\s*=\s*(.*)")
_UTTERANCE = re.compile(r'->\s*"(.*)"\s*;?')
_MARK = re.compile(r"\[[^\[\]]*\]")


def load(path: str | Path) -> RatedTexts:
    """Read the utterances.

    Returns
    -------
    RatedTexts : ``id`` is ``bagel:<utterance>``, four digits, from 1; ``context`` is the abstract
        MR as written; ``text`` the utterance without the alignment marks, still with ``X`` for
        what the abstract MR abstracts from (the file has no other text); ``quality`` NaN,
        ``n_ratings`` 0, ``system`` ``human``. Extra columns: ``mr_full``, ``mr_abstract`` (the
        context again, under the name to look for), ``mr_key`` and ``mr_set``
        (`refless.data.sources.mr.key` of the abstract MR, with and without the order of slots) and
        ``text_nem`` (the text in the style of NEM's outputs: `refless.data.sources.mr.nem_style`).

        Problems (such an utterance is not used), at the line where its record starts: a record
        without full MR, abstract MR or utterance; an MR that cannot be read; a bracket that is
        not closed; an empty text or one with a NUL; a line that is none of the three.

    Raises
    ------
    FormatError : no line of the file is of this format; the file stops within a record.
    """
    content = [line.strip() for line in lines(read_text(path))]
    if not any(map(_FULL.match, content)):
        raise broken("this is not BAGEL: no line begins with FULL_DA =", path)
    rows: list[dict[str, object]] = []
    problems: list[Problem] = []
    full = abstract = ""
    start = number = 0

    def note(message: str, line: int) -> None:
        problems.append(Problem(str(path), line, message))

    for line, written in enumerate(content, start=1):
        if not written:
            continue
        if found := _FULL.fullmatch(written):
            if full:
                note("the record has no utterance", start)
            full, abstract, start = found[1], "", line
            number += 1
        elif found := _ABSTRACT.fullmatch(written):
            if full and not abstract:
                abstract = found[1]
            else:
                note("an abstract MR that belongs to no full MR", line)
        elif found := _UTTERANCE.fullmatch(written):
            if full and abstract:
                try:
                    rows.append(_row(found[1], full, abstract, number))
                except FormatError as error:
                    note(error.message, start)
            elif full:
                note("the record has no abstract MR", start)
            else:
                note("an utterance that belongs to no MR", line)
            full = abstract = ""
        elif line == len(content) and full:
            break  # a line cut short: told of below
        else:
            note(f"neither an MR nor an utterance: {shorten(written)}", line)
    if full:
        raise broken("the file stops within this record; it seems to be cut short", path, start)
    problems.sort(key=lambda problem: problem.line)
    extra = ["mr_full", "mr_abstract", "mr_key", "mr_set", "text_nem"]
    return RatedTexts(text_table(rows, extra), problems=problems)


def _row(aligned: str, full: str, abstract: str, number: int) -> dict[str, object]:
    text = _MARK.sub("", aligned).strip()
    fault = text_fault(text)
    if "[" in text or "]" in text:
        fault = f"an alignment mark is not closed: {shorten(text)}"
    if fault:
        raise FormatError(fault)
    mr.parse(full)
    row = mr.reference_row(f"bagel:{number:04d}", "bagel", abstract, text)
    return {**row, "mr_full": full, "mr_abstract": abstract}
