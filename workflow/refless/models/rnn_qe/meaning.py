"""What stands beside a text: an MR in one of its spellings, a context in plain words, or nothing.

Stage: prediction (RNN-QE). In: meanings and texts as written. Out: their tokens, delexicalised
where a meaning has slots with values.
"""

from collections.abc import Sequence

from refless.data.sources.mr import ACTS, SLOTS, parse, plain_name
from refless.data.wording import wording
from refless.errors import FormatError
from refless.models.rnn_qe.delex import delexicalise, tokens

TEXT = "text"
"""Beside `ACTS` and `SLOTS`: anything else, such as the context of a reply, of which nothing is
delexicalised."""


def kind_of(meanings: Sequence[str]) -> str:
    """How these are written, `ACTS` or `SLOTS` if all of them are, else `TEXT`."""
    written = [meaning for meaning in meanings if meaning.strip()]
    for kind in (ACTS, SLOTS):
        if written and all(_readable(meaning, kind) for meaning in written):
            return kind
    return TEXT


def tokens_of(
    meanings: Sequence[str], texts: Sequence[str], kind: str
) -> list[tuple[list[str], list[str]]]:
    """Tokens of each meaning and text, delexicalised; an empty meaning has none. Raises
    FormatError: a meaning is not of this kind; ``line`` is its number, from 1."""
    found = []
    for row, (meaning, text) in enumerate(zip(meanings, texts, strict=True), start=1):
        if kind == TEXT or not meaning.strip():
            found.append((tokens(meaning), tokens(text)))
            continue
        try:
            found.append(delexicalise(parse(meaning, kind), text))
        except FormatError as error:
            raise FormatError(error.message, line=row) from error
    return found


def told_apart(meanings: Sequence[str], kind: str) -> list[str]:
    """By what meanings differ, values and all: act and slots in one order, or the `wording`."""
    found = []
    for meaning in meanings:
        if kind == TEXT or not meaning.strip():
            found.append(wording(meaning))
            continue
        act, slots = parse(meaning, kind)
        found.append(str((act, sorted((slot, wording(value)) for slot, value in slots))))
    return found


def unordered(triples: Sequence[str]) -> str:
    """By what MRs differ, values aside: their triples, delexicalised, in one order, however slots
    are spelt."""
    return ";".join(
        sorted(plain_name(" ".join(triples[k : k + 3])) for k in range(0, len(triples), 3))
    )


def _readable(meaning: str, kind: str) -> bool:
    try:
        parse(meaning, kind)
    except FormatError:
        return False
    return True
