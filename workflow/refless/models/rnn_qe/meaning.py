"""What stands beside a text: an MR in one of its spellings, a context in plain words, or nothing.

Stage: prediction (RNN-QE). In: meanings and texts as written. Out: their tokens, delexicalised
where a meaning has slots with values.

======  ==========================================================================================
acts    ``inform(name='the hut', price range=cheap)``: an act and its slots, as
        `refless.data.sources.mr` reads them, or with any letters, digits and blanks in slot names
slots   ``name[Blue Spice], customer rating[5 out of 5]``: slots alone; their act is ``inform``
text    anything else, such as the context of a reply; nothing is delexicalised
======  ==========================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from refless.data.sources import mr
from refless.data.sources.mr import MeaningRepresentation
from refless.data.wording import wording
from refless.errors import FormatError
from refless.models.rnn_qe.delex import SPECIAL, delexicalised, tokens

ACTS, SLOTS, TEXT = "acts", "slots", "text"
KINDS = (ACTS, SLOTS, TEXT)

_NAME = r"\s*([^\W\d][\w \-]*?)\s*"
_ACT = re.compile(rf"\s*\??{_NAME}\((.*)\)\s*", re.DOTALL)
# A quoted value may hold separators and quotation marks: it ends where a separator follows.
_VALUE = r"""'((?:[^']|'(?!\s*(?:[,;]|$)))*)'|"((?:[^"]|"(?!\s*(?:[,;]|$)))*)"|([^,;]*?)"""
_SLOT = re.compile(rf"{_NAME}(?:=\s*(?:{_VALUE})\s*)?(?:[,;]|$)")
_SECOND = re.compile(r"[^(]*\).*\(", re.DOTALL)
"""A value that holds the end of its act and the beginning of another one."""
_BRACKET = re.compile(rf"{_NAME}\[([^\[\]]*)\]\s*(?:[,;]|$)")


def kind_of(meanings: Sequence[str]) -> str:
    """How these are written, of `KINDS`: that of all of them, else plain text."""
    written = [meaning for meaning in meanings if meaning.strip()]
    for kind in (ACTS, SLOTS):
        if written and all(readable(meaning, kind) for meaning in written):
            return kind
    return TEXT


def tokens_of(
    meanings: Sequence[str], texts: Sequence[str], kind: str
) -> list[tuple[list[str], list[str]]]:
    """Tokens of each meaning and text, delexicalised; an empty meaning has none.

    Raises
    ------
    FormatError : a meaning is not of this kind; ``line`` is its number, from 1.
    """
    found = []
    for row, (meaning, text) in enumerate(zip(meanings, texts, strict=True), start=1):
        if kind == TEXT or not meaning.strip():
            found.append((tokens(meaning), tokens(text)))
            continue
        try:
            own = read(meaning, kind)
        except FormatError as error:
            raise FormatError(error.message, line=row) from error
        triples, words = delexicalised(own, text)
        found.append((triples.split(), words.split()))
    return found


def read(meaning: str, kind: str) -> MeaningRepresentation:
    """An MR of a kind, ``acts`` or ``slots``.

    Raises
    ------
    FormatError : it is not of this kind.
    """
    if kind == SLOTS:
        slots = [(_plain(slot), value.strip()) for slot, value in _all(_BRACKET, meaning, meaning)]
        return MeaningRepresentation("inform", slots)
    try:
        found = mr.parse(meaning)
    except FormatError:
        outer = _ACT.fullmatch(meaning)
        if outer is None:
            raise
        named = [
            (_plain(slot), next(filter(None, values), "").strip())
            for slot, *values in _all(_SLOT, outer[2], meaning)
        ]
        found = mr.settled(re.sub(r"[\s\-]+", "_", outer[1].lower()), named)
    if any(_SECOND.match(value) for _, value in found.slots):
        raise FormatError(f"this has several acts, of which one can be read: {meaning[:80]!r}")
    return found


def told_apart(meanings: Sequence[str], kind: str) -> list[str]:
    """By what MRs differ, values and all: act and slots in one order; the `wording` of what is no
    MR of this kind."""
    found = []
    for meaning in meanings:
        if kind == TEXT or not readable(meaning, kind):
            found.append(wording(meaning))
            continue
        act, slots = read(meaning, kind)
        each = (
            f"{_plain(slot)}={SPECIAL.get(value.lower(), wording(value))}" for slot, value in slots
        )
        found.append(f"{_plain(act)}({';'.join(sorted(each))})")
    return found


def unordered(mr: Sequence[str]) -> str:
    """By what MRs differ, values aside: their triples, delexicalised, in one order, however slots
    are spelt."""
    return ";".join(sorted(_plain(" ".join(mr[k : k + 3])) for k in range(0, len(mr), 3)))


def readable(meaning: str, kind: str) -> bool:
    """Whether a meaning is of a kind."""
    try:
        read(meaning, kind)
    except FormatError:
        return False
    return True


def _all(pattern: re.Pattern[str], body: str, whole: str) -> list[tuple[str, ...]]:
    """The groups of every slot."""
    found, position = [], 0
    while body[position:].strip():
        match = pattern.match(body, position)
        if match is None:
            raise FormatError(
                f"this is no meaning representation: {whole[:80]!r}, from"
                f" {body[position : position + 40]!r} on"
            )
        found.append(match.groups())
        position = match.end()
    return found


def _plain(name: str) -> str:
    """``price range`` and ``price_range`` are one slot, without blanks."""
    return re.sub(r"[\s_\-]", "", name).lower()
