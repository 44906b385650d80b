"""BAGEL: two human utterances for each of 202 MRs of Cambridge restaurants, unrated.

Stage: ratings. In: ``ACL10-inform-training.txt`` (Mairesse et al. 2010): for each utterance a full
MR, an abstract MR (names, places, numbers are X1, X2, ...) and the utterance with its alignment
to the slots, ``-> "[name+X]X []cooks [food+Thai]Thai []food."``. Out: a `RatedTexts`
without ratings: the human references of NEM's BAGEL outputs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from refless.data.ratings import RatedTexts, text_table
from refless.data.sources import mr
from refless.data.sources._raw import each, reading, words

_RECORD = re.compile(r'FULL_DA = (.*)\nABSTRACT_DA = (.*)\n-> "(.*)";?')
_MARK = re.compile(r"\[[^\[\]]*\]")


def load(path: str | Path) -> RatedTexts:
    """Read the utterances.

    Returns
    -------
    RatedTexts : ``id`` is ``bagel:<utterance>``, four digits, from 1; ``context`` is the abstract
        MR; ``text`` has no alignment marks, and ``X`` for what the abstract MR abstracts from.
        Extra columns: ``mr_full``, ``mr_abstract``, and those of `mr.reference_row`.

    Raises
    ------
    FormatError : the file is not in this format.
    """
    with reading(path):
        lines = [line.strip() for line in Path(path).read_text(encoding="utf-8").split("\n")]
        starts = [number for number, line in enumerate(lines) if line.startswith("FULL_DA")]
        if not starts:
            raise ValueError("no line begins with FULL_DA")
    ends = [*starts[1:], len(lines)]
    records = ["\n".join(filter(None, lines[a:b])) for a, b in zip(starts, ends, strict=True)]
    places = [start + 1 for start in starts]
    numbered = zip(places, enumerate(records, start=1), strict=True)
    extra = ["mr_full", "mr_abstract", "mr_key", "mr_set", "text_nem"]
    return RatedTexts(text_table(each(path, numbered, _row), extra))


def _row(record: tuple[int, str]) -> dict[str, Any]:
    number, written = record
    found = _RECORD.fullmatch(written)
    if found is None:
        raise ValueError("this is not a full MR, an abstract MR and an utterance")
    full, abstract, aligned = found.groups()
    text = words(_MARK.sub("", aligned).strip())
    row = mr.reference_row(f"bagel:{number:04d}", abstract, text)
    return {**row, "mr_full": full, "mr_abstract": abstract}
