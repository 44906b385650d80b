"""Meaning representations (MRs), parsed and brought to one spelling (docs/data.md). Stage: ratings.

An MR such as ``inform(name='the inn',dogs_allowed=yes)`` becomes an act and slots, or a key that is
the same for the same MR in NEM, RNNLG and BAGEL. The order of slots is part of it: with it
(``mr_key``) each of BAGEL's 202 MRs has exactly its two utterances, without it they are 143.
"""

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from refless.errors import FormatError

ACTS, SLOTS = "acts", "slots"
"""``inform(name='the hut', area=x)``; ``name[the hut], area[x]``, whose act is ``inform``."""
_NAME = r"\s*([^\W\d][\w \-]*?)\s*"
_ACT = re.compile(rf"\s*\??{_NAME}\((.*)\)\s*", re.DOTALL)
# A quoted value may hold separators and quotation marks: it ends where a separator follows. The
# bare form allows a lone mark at its end, as one value of RNNLG has.
_VALUE = r"""'((?:[^']|'(?!\s*(?:[,;]|$)))*)'|"((?:[^"]|"(?!\s*(?:[,;]|$)))*)"|([^,;()]*?)['"]?"""
_SLOT = {
    ACTS: re.compile(rf"{_NAME}(?:=\s*(?:{_VALUE})\s*)?(?:[,;]|$)"),
    SLOTS: re.compile(rf"{_NAME}\[([^\[\]]*)\]\s*(?:[,;]|$)"),
}
_WORDS = {"st": "street", "ave": "avenue"}
_QUESTIONS = ("confirm", "request", "reqmore", "select")


class MeaningRepresentation(NamedTuple):
    """An act and its (slot, value) pairs in the order written."""

    act: str
    slots: list[tuple[str, str]]


def parse(text: str, kind: str = ACTS) -> MeaningRepresentation:
    """Parse an MR; values are as written, without quotation marks. FormatError: it is not an MR.

    As in the texts of these data, ``inform_count`` is read as ``inform``, ``X1`` as ``X``, and
    ``yes or no`` as two slots.
    """
    act, body = "inform", text
    if kind == ACTS:
        outer = _ACT.fullmatch(text)
        if outer is None:
            raise FormatError(f"this is no meaning representation: {text[:80]!r}")
        act, body = re.sub(r"[\s\-]+", "_", outer[1].lower()), outer[2]
    slots: list[tuple[str, str]] = []
    position = 0
    while body[position:].strip():
        match = _SLOT[kind].match(body, position)
        if match is None:
            rest = body[position : position + 80]
            raise FormatError(f"this is no meaning representation, from {rest!r} on")
        position = match.end()
        name, *forms = match.groups()
        value = next(filter(None, forms), "").strip()
        for single in ("yes", "no") if value.lower() == "yes or no" else (value,):
            slots.append((plain_name(name), "X" if re.fullmatch("X[0-9]+", single) else single))
    return MeaningRepresentation("inform" if act == "inform_count" else act, slots)


def plain_name(slot: str) -> str:
    """``price range`` and ``price_range`` are one slot, in lower case without blanks."""
    return re.sub(r"[\s_\-]", "", slot).lower()


def key(text: str, ordered: bool = True, kind: str = ACTS) -> str:
    """One string for all spellings of an MR: ``inform(name=x;area=riverside)``, in lower case, with
    ``st`` and ``ave`` written out, slots in their order or sorted. A text that is not an MR of this
    kind is returned as it is, but for blanks."""
    try:
        act, slots = parse(text, kind)
    except FormatError:
        return " ".join(text.split())
    plain = [
        (slot, " ".join(_WORDS.get(word, word) for word in value.lower().split()))
        for slot, value in slots
    ]
    pairs = plain if ordered else sorted(plain)
    return f"{act}({';'.join(f'{slot}={value}' if value else slot for slot, value in pairs)})"


def nem_style(text: str, act: str = "inform") -> str:
    """A human reference in the style of NEM's outputs, so that style does not give it away: lower
    case, no split endings (``hotel -s``), no blank before a mark, and a mark at the end."""
    text = " ".join(text.lower().split())
    for split, whole in (("child -s", "children"), ("policy -s", "policies")):
        text = re.sub(rf"\b{split}\b", whole, text)
    text = re.sub(r"(?<=\w) -(?=(?:s|ly)\b)", "", text)
    text = re.sub(r" +(?=[,.!?])", "", text).rstrip(" .,;!?")
    return text + ("?" if act in _QUESTIONS else ".")


def keys(meanings: Iterable[str]) -> dict[str, list[str]]:
    """The columns ``mr_key`` and ``mr_set`` of MRs: `key` with and without the order of slots."""
    return {
        "mr_key": [*map(key, meanings)],
        "mr_set": [key(meaning, False) for meaning in meanings],
    }


def references(texts: pd.DataFrame) -> pd.DataFrame:
    """Unrated human references, whose contexts are MRs, with `keys` and ``text_nem``."""
    pairs = zip(texts["context"], texts["text"], strict=True)
    styled = [nem_style(text, parse(meaning).act) for meaning, text in pairs]
    columns = {**keys(texts["context"]), "text_nem": styled}
    return texts.assign(quality=math.nan, n_ratings=0, system="human", **columns)
