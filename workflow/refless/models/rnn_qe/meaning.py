"""The meaning of a text: an MR in one of its spellings, a context in plain words, or nothing.

Stage: prediction (RNN-QE). In: meanings and texts as written. Out: their tokens, delexicalised
where a meaning has slots with values. Source: Dušek, Novikova & Rieser (2017), section 3.2.
"""

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress

from refless.data.mr import ACTS, SLOTS, MeaningRepresentation, parse, plain_name
from refless.errors import FormatError

TEXT = "text"
"""Beside `ACTS` and `SLOTS`: anything else, such as the context of a reply, of which nothing is
delexicalised."""
CONTEXT_WORDS = 50
"""The last words of a context that are read; the authors' code reads as many of a text."""


def kind_of_meanings(meanings: Sequence[str]) -> str:
    """How these are written, `ACTS` or `SLOTS` if all of them are, else `TEXT`.

    >>> [kind_of_meanings([meaning]) for meaning in ("inform(food=thai)", "food[thai]", "hungry?")]
    ['acts', 'slots', 'text']
    """
    written = [meaning for meaning in meanings if meaning.strip()]
    for kind in (ACTS, SLOTS) if written else ():
        with suppress(FormatError):
            for meaning in written:
                parse(meaning, kind)
            return kind
    return TEXT


def tokens_of(
    meanings: Sequence[str], texts: Sequence[str], kind: str
) -> list[tuple[list[str], list[str]]]:
    """Tokens of each meaning and text, delexicalised; an empty meaning has none. Raises
    FormatError: a meaning is not of this kind; ``line`` is its number, from 1.

    >>> tokens_of(["name[Old Mill]"], ["The old mill is nice."], SLOTS)
    [(['inform', 'name', 'X-name'], ['the', 'X-name', 'is', 'nice', '.'])]
    """
    pairs = []
    for row, (meaning, text) in enumerate(zip(meanings, texts, strict=True), start=1):
        if kind == TEXT or not meaning.strip():
            pairs.append((tokens(" ".join(meaning.split()[-CONTEXT_WORDS:])), tokens(text)))
            continue
        try:
            pairs.append(delexicalise(parse(meaning, kind), text))
        except FormatError as error:
            raise FormatError(error.message, line=row) from error
    return pairs


_NO_SLOT = "<none>"
# Values that say something by themselves and stay as they are.
_SPECIAL = {"": _NO_SLOT, "yes": "yes", "no": "no", "none": "none", "?": "?"}
_SPECIAL |= dict.fromkeys(
    ("dontcare", "dont_care", "dont care", "don't care", "don’t care"), "dontcare"
)
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|\w+(?:['’]\w+)*|[^\w\s]")
_STREETS = {"st": "street", "ave": "avenue"}


def tokens(text: str) -> list[str]:
    """Words, numbers and single marks of a text, lower case, letters composed (NFC).

    >>> tokens("It's 2.50, OK?")
    ["it's", '2.50', ',', 'ok', '?']
    """
    return _TOKEN.findall(unicodedata.normalize("NFC", text).lower())


def delexicalise(meaning: MeaningRepresentation, text: str) -> tuple[list[str], list[str]]:
    """An MR as triples ``act slot value`` and a text, both with values as ``X-<slot>``.

    Only values of this MR are replaced in the text, longer ones first: a wrong value stays a word.
    Blanks and marks inside a value do not count. Where slots share a value, its occurrences go to
    them in their order, and what is left over to the last. Source: Dušek et al. (2017), section
    3.2.

    >>> from refless.data.mr import parse
    >>> delexicalise(parse("inform(name='Old Mill')"), "The old mill is nice.")
    (['inform', 'name', 'X-name'], ['the', 'X-name', 'is', 'nice', '.'])
    """
    act, slots = meaning
    triples: list[str] = []
    values: dict[str, list[str]] = {}
    for slot, value in slots or [(_NO_SLOT, "")]:
        special = _SPECIAL.get(value.lower())
        triples += [act, slot, special or f"X-{slot}"]
        if special is None:
            values.setdefault(_joined(tokens(value)), []).append(f"X-{slot}")
    words = tokens(text)
    for value in sorted(filter(None, values), key=len, reverse=True):
        waiting, position = values[value], 0
        while position < len(words):
            end = _span(words, position, value)
            if end > position:
                words[position:end] = [waiting.pop(0) if len(waiting) > 1 else waiting[0]]
            position += 1
    return triples, words


def _joined(words: Sequence[str]) -> str:
    """Letters and digits of some tokens, streets written out."""
    return re.sub(r"[\W_]+", "", "".join(_STREETS.get(word, word) for word in words))


def _span(words: Sequence[str], start: int, value: str) -> int:
    """Where the tokens from ``start`` on that make ``value`` end; ``start`` if they do not. A value
    begins with a word, not with a mark."""
    joined, end = "", start
    while end < len(words) and len(joined) < len(value) and not words[end].startswith("X-"):
        joined += _joined(words[end : end + 1])
        end += 1
        if not joined or not value.startswith(joined):
            return start
    return end if joined == value else start


def unordered(triples: Sequence[str]) -> str:
    """An MR without values: its triples, delexicalised, in one order, however slots are spelt.

    >>> unordered(["inform", "near", "X-near", "inform", "area", "X-area"])
    'informareaxarea;informnearxnear'
    """
    return ";".join(
        sorted(plain_name(" ".join(triples[k : k + 3])) for k in range(0, len(triples), 3))
    )
