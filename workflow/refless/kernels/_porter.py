"""Porter's stemmer with the extensions that nltk's has by default.

Stage: kernels (helper). In: a word. Out: its stem, the same as nltk's ``PorterStemmer().stem``.

Written out here because nltk's comes with all of nltk: 0.95 s more for each process that stems,
where a kernel's own imports take 1.1 s; the tests compare the two on every word of WordNet. Source of the algorithm: Porter (1980), An algorithm for
suffix stripping; the extensions are nltk's (irregular words, ``-ies`` and ``-ied`` of four-letter
words, ``y`` after a consonant, ``-fulli``, ``-logi``, two-letter stems before ``e``).
"""

from __future__ import annotations

from collections.abc import Callable

_IRREGULAR = {
    "skies": "sky",
    "sky": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}
# Suffix -> replacement. Of several that fit, the first decides, whether its condition holds or not.
_STEP_1A = {"sses": "ss", "ies": "i", "ss": "ss", "s": ""}
_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "fulli": "ful",
}
_STEP_3 = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_STEP_4 = ["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"]
_STEP_4 += ["ou", "ism", "ate", "iti", "ous", "ive", "ize"]


def stem(word: str) -> str:
    """The stem of a word, in lower case."""
    lower = word.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if len(word) <= 2:
        return lower
    for step in (
        _plural,
        _past,
        _final_y,
        _double_suffix,
        _suffix,
        _last_suffix,
        _final_e,
        _final_l,
    ):
        lower = step(lower)
    return lower


def _shape(word: str) -> str:
    """``c`` and ``v`` for consonants and vowels; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        if letter == "y":
            shape += "v" if shape.endswith("c") else "c"
        else:
            shape += "v" if letter in "aeiou" else "c"
    return shape


def _measure(word: str) -> int:
    """Porter's m: how many times a consonant follows a vowel."""
    return _shape(word).count("vc")


def _is_short(word: str) -> bool:
    """Whether a dropped e is put back: consonant, vowel, consonant other than w, x, y."""
    shape = _shape(word)
    if len(word) == 2:
        return shape == "vc"
    return shape.endswith("cvc") and word[-1] not in "wxy"


def _replace(word: str, rules: dict[str, str], condition: Callable[[str], bool]) -> str:
    for suffix, replacement in rules.items():
        if word.endswith(suffix):
            rest = word[: len(word) - len(suffix)]
            return rest + replacement if condition(rest) else word
    return word


def _positive(rest: str) -> bool:
    return _measure(rest) > 0


def _plural(word: str) -> str:
    if len(word) == 4 and word.endswith("ies"):
        return word[:-1]
    return _replace(word, _STEP_1A, lambda rest: True)


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _positive(word[:-3]) else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and "v" in _shape(rest):
            return _repair(rest)
    return word


def _repair(rest: str) -> str:
    """What is left without -ed or -ing, made a word again."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if len(rest) > 1 and rest[-1] == rest[-2] and _shape(rest).endswith("c"):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _is_short(rest) else rest


def _final_y(word: str) -> str:
    rest = word[:-1]
    if word.endswith("y") and len(rest) > 1 and _shape(rest).endswith("c"):
        return rest + "i"
    return word


def _double_suffix(word: str) -> str:
    if word.endswith("alli") and _positive(word[:-4]):
        return _double_suffix(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _positive(word[:-3]) else word
    return _replace(word, _STEP_2, _positive)


def _suffix(word: str) -> str:
    return _replace(word, _STEP_3, _positive)


def _last_suffix(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            rest = word[: len(word) - len(suffix)]
            long = _measure(rest) > 1
            return rest if long and (suffix != "ion" or rest[-1] in "st") else word
    return word


def _final_e(word: str) -> str:
    rest = word[:-1]
    if word.endswith("e"):
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _is_short(rest)):
            return rest
    return word


def _final_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
