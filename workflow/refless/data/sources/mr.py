"""Meaning representations: one reading for the spellings of NEM, RNNLG and BAGEL.

Stage: ratings (a helper of the loaders, and of the delexicalisation later). In: an MR as a string,
such as ``inform(name='the inn',dogs_allowed=yes)``. Out: its act and its slots, or a key that is
the same for the same MR in all three data sets.

How the three differ, and how many of NEM's 2,460 rated outputs find no human reference of the
same MR where a rule is left out (with all of them, each of the 2,460 does):

====================  ==================  ============================  ================  =====
what                  NEM                 RNNLG                         BAGEL             lost
====================  ==================  ============================  ================  =====
names of slots        ``price_range``     ``pricerange``                ``pricerange``
separator             comma               semicolon                     comma
quotation             ``'a b'``, ``a``    ``'a b'``, ``a``              ``"a b"``, ``a``
placeholders          ``'X'``                                           ``"X1"``            404
streets               ``st``, ``ave``     ``street``, ``avenue``                            127
act of a count        ``inform``          ``inform_count``                                  127
act of a question     ``request(near)``   ``?request(near)``                                124
either way            ``x='yes or no'``   ``x='yes';x='no'``                                 25
====================  ==================  ============================  ================  =====

The order of the slots is the same in all three, and in BAGEL it is part of the MR: with it
(``mr_key``) each of the 202 MRs has exactly its two utterances, without it (``mr_set``) they are
143.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from refless.errors import FormatError

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
    marks (empty for a slot that has none), and the conventions of `settled`.

    Raises
    ------
    FormatError : this is no MR; the message shows where reading stopped.
    """
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
    """One string for all spellings of one MR: ``inform(name=x;area=riverside)``.

    Values are lower case with single blanks, and ``st`` and ``ave`` are written out. Slots stay
    in their order, or are sorted (``ordered=False``); repeated ones stay.
    """
    act, slots = parse(text)
    plain = [
        (slot, " ".join(_WORDS.get(word, word) for word in value.lower().split()))
        for slot, value in slots
    ]
    pairs = plain if ordered else sorted(plain)
    return f"{act}({';'.join(f'{slot}={value}' if value else slot for slot, value in pairs)})"


def nem_style(text: str, act: str = "inform") -> str:
    """A human reference in the style of NEM's outputs, so that style tells nothing.

    Lower case (so BAGEL's placeholder is ``x``); RNNLG's split endings joined (``hotel -s``,
    ``moderate -ly``); no blank before a comma, full stop, question or exclamation mark; a full
    stop at the end, or a question mark where ``act`` asks, as in all of NEM's outputs.
    """
    text = " ".join(text.lower().split())
    for split, whole in (("child -s", "children"), ("policy -s", "policies")):
        text = re.sub(rf"\b{split}\b", whole, text)
    text = re.sub(r"(?<=\w) -(?=(?:s|ly)\b)", "", text)
    text = re.sub(r" +(?=[,.!?])", "", text).rstrip(" .,;!?")
    return text + ("?" if act in _QUESTIONS else ".")


REFERENCE_COLUMNS = ["mr_key", "mr_set", "text_nem"]


def keys(text: str) -> dict[str, str]:
    """The columns ``mr_key`` and ``mr_set`` of an MR: `key` with and without the order of slots."""
    return {"mr_key": key(text), "mr_set": key(text, ordered=False)}


def reference_row(name: str, meaning: str, text: str) -> dict[str, Any]:
    """The row of an unrated human reference, with `keys` and ``text_nem`` (`nem_style`)."""
    row = {"id": name, "context": meaning, "text": text, "quality": math.nan, "n_ratings": 0}
    styled = nem_style(text, parse(meaning).act)
    return {**row, "system": "human", **keys(meaning), "text_nem": styled}
