"""Meaning representations: one reading for the spellings of NEM, RNNLG and BAGEL (docs/data.md).

Stage: ratings. An MR such as ``inform(name='the inn',dogs_allowed=yes)`` becomes an act and slots,
or a key that is the same for the same MR in all three. The order of slots is part of it: with it
(``mr_key``) each of BAGEL's 202 MRs has exactly its two utterances, without it they are 143.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from refless.errors import FormatError

if TYPE_CHECKING:  # not for the sake of reading one MR
    import pandas as pd

_MR = re.compile(r"\s*\??\s*([A-Za-z_]+)\s*\((.*)\)\s*", re.DOTALL)
# A quoted value may hold separators and apostrophes: it ends at a quotation mark that a separator
# or the end follows. The bare form allows a lone mark at its end, as one value of RNNLG has.
_SLOT = re.compile(
    r"""\s*([A-Za-z_]+)\s*
        (?:=\s*(?: '((?:[^']|'(?!\s*(?:[,;]|$)))*)'
                 | "((?:[^"]|"(?!\s*(?:[,;]|$)))*)"
                 | ([^,;"']*?)['"]? ))?
        \s*(?:[,;]|$)""",
    re.VERBOSE,
)
_WORDS = {"st": "street", "ave": "avenue"}
_QUESTIONS = ("confirm", "request", "reqmore", "select")


class MeaningRepresentation(NamedTuple):
    """An act and its (slot, value) pairs in the order written."""

    act: str
    slots: list[tuple[str, str]]


def parse(text: str) -> MeaningRepresentation:
    """Read an MR: slot names in lower case without underscores, values as written without quotation
    marks, and the conventions of `settled`; FormatError if it is none."""
    outer = _MR.fullmatch(text)
    if outer is None:
        raise FormatError(f"this is no meaning representation: {text[:80]!r}")
    body, position = outer[2], 0
    written: list[tuple[str, str]] = []
    while body[position:].strip():
        found = _SLOT.match(body, position)
        if found is None:
            at = body[position : position + 40]
            raise FormatError(f"cannot read the slot at {at!r} in {text[:80]!r}")
        position = found.end()
        value = (found[2] or found[3] or found[4] or "").strip()
        written.append((found[1].replace("_", "").lower(), value))
    return settled(outer[1].lower(), written)


def settled(act: str, written: Iterable[tuple[str, str]]) -> MeaningRepresentation:
    """``inform_count`` is ``inform``, ``X1`` is ``X``, and ``yes or no`` is two slots: then values
    are those that stand in the text which goes with this MR."""
    slots: list[tuple[str, str]] = []
    for slot, value in written:
        both = value.lower() == "yes or no"
        one = "X" if re.fullmatch("X[0-9]+", value) else value
        slots += [(slot, "yes"), (slot, "no")] if both else [(slot, one)]
    return MeaningRepresentation("inform" if act == "inform_count" else act, slots)


def key(text: str, ordered: bool = True) -> str:
    """One string for all spellings of one MR: ``inform(name=x;area=riverside)``, in lower case with
    ``st`` and ``ave`` written out; slots in their order or sorted."""
    act, slots = parse(text)
    plain = [
        (slot, " ".join(_WORDS.get(word, word) for word in value.lower().split()))
        for slot, value in slots
    ]
    pairs = plain if ordered else sorted(plain)
    return f"{act}({';'.join(f'{slot}={value}' if value else slot for slot, value in pairs)})"


def nem_style(text: str, act: str = "inform") -> str:
    """A human reference in the style of NEM's outputs, so that style tells nothing: lower case, no
    split endings (``hotel -s``), no blank before a mark, a full stop or a question mark at the end.
    """
    text = " ".join(text.lower().split())
    for split, whole in (("child -s", "children"), ("policy -s", "policies")):
        text = re.sub(rf"\b{split}\b", whole, text)
    text = re.sub(r"(?<=\w) -(?=(?:s|ly)\b)", "", text)
    text = re.sub(r" +(?=[,.!?])", "", text).rstrip(" .,;!?")
    return text + ("?" if act in _QUESTIONS else ".")


def keys(meanings: Iterable[str]) -> dict[str, list[str]]:
    """The columns ``mr_key`` and ``mr_set`` of MRs: `key` with and without the order of slots."""
    return {
        "mr_key": [key(text) for text in meanings],
        "mr_set": [key(text, ordered=False) for text in meanings],
    }


def references(texts: pd.DataFrame) -> pd.DataFrame:
    """Unrated human references, whose contexts are MRs, with `keys` and ``text_nem``."""
    pairs = zip(texts["context"], texts["text"], strict=True)
    styled = [nem_style(text, parse(meaning).act) for meaning, text in pairs]
    own = {**keys(texts["context"]), "text_nem": styled}
    return texts.assign(quality=math.nan, n_ratings=0, system="human", **own)
