"""Delexicalisation: tokens of an MR and of a text with slot values replaced by ``X-<slot>``.

Stage: prediction (data of RNN-QE). In: an MR and a text. Out: their tokens.

Source: Dušek, Novikova & Rieser (2017), section 3.2.
"""

import re
import unicodedata
from collections.abc import Sequence

from refless.data.sources.mr import MeaningRepresentation

NOTHING = "<none>"
# Values that say something by themselves and stay as they are.
SPECIAL = {"": NOTHING, "yes": "yes", "no": "no", "none": "none", "?": "?"}
SPECIAL |= dict.fromkeys(
    ("dontcare", "dont_care", "dont care", "don't care", "don’t care"), "dontcare"
)

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|\w+(?:['’]\w+)*|[^\w\s]")
_INSIDE = re.compile(r"[\W_]+")
_STREETS = {"st": "street", "ave": "avenue"}


def tokens(text: str) -> list[str]:
    """Words, numbers and single marks of a text, lower case, letters composed (NFC)."""
    return _TOKEN.findall(unicodedata.normalize("NFC", text).lower())


def delexicalise(meaning: MeaningRepresentation, text: str) -> tuple[list[str], list[str]]:
    """An MR as triples ``act slot value`` and a text, both delexicalised.

    Only values of this MR are replaced in the text, longer ones first: a wrong value stays a word.
    Blanks and marks inside a value do not count. Where slots share a value, its occurrences go to
    them in their order, and what is left over to the last.
    """
    act, slots = meaning
    triples: list[str] = []
    values: dict[str, list[str]] = {}
    for slot, value in slots or [(NOTHING, "")]:
        special = SPECIAL.get(value.lower())
        triples += [act, slot, special or f"X-{slot}"]
        if special is None:
            values.setdefault(_plain(tokens(value)), []).append(f"X-{slot}")
    return triples, _replace(tokens(text), values)


def _plain(words: Sequence[str]) -> str:
    """Letters and digits of some tokens, streets written out."""
    return "".join(_INSIDE.sub("", _STREETS.get(word, word)) for word in words)


def _replace(words: list[str], values: dict[str, list[str]]) -> list[str]:
    """Tokens with each span that makes a value replaced by that value's placeholders in turn."""
    for value in sorted(filter(None, values), key=len, reverse=True):
        waiting = list(values[value])
        position, done = 0, []
        while position < len(words):
            end = _span(words, position, value)
            if end == position:
                done.append(words[position])
                position += 1
            else:
                done.append(waiting.pop(0) if len(waiting) > 1 else waiting[0])
                position = end
        words = done
    return words


def _span(words: Sequence[str], start: int, value: str) -> int:
    """Where the tokens from ``start`` on that make ``value`` end; ``start`` if they do not. A value
    begins with a word, not with a mark."""
    made, end = "", start
    while end < len(words) and len(made) < len(value) and not words[end].startswith("X-"):
        made += _plain(words[end : end + 1])
        end += 1
        if not made or not value.startswith(made):
            return start
    return end if made == value else start
