"""Which of a text's letters a kernel reads. Stage: none."""

import re
from collections.abc import Set

LONGEST_WORD = 8
"""Letters of a word in a script without blanks between words: more are several words."""
# Thai, Lao, Tibetan, Burmese, Khmer, kana, Chinese characters
_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)


def share_of_letters(text: str, known: Set[str]) -> float:
    """Which share of a text's letters, in lower case, is among those that are known; of a text
    without letters, which share of its digits. 0 of a text without either.

    >>> share_of_letters("A 5", frozenset("abc")), share_of_letters("Да", frozenset("abc"))
    (1.0, 0.0)
    """
    lower = text.lower()
    letters = [c for c in lower if c.isalpha()] or [c for c in lower if c.isdigit()]
    return sum(c in known for c in letters) / len(letters) if letters else 0.0


def share_in_words(text: str) -> float:
    """Which share of a text's letters stands in words between blanks, and not in runs of several
    words, as Chinese and Thai have them unless blanks are put between; 0 of a text of blanks.

    >>> share_in_words("two words"), share_in_words("一二三四五六七八九十")
    (1.0, 0.0)
    """
    words = text.split()
    letters = in_runs = 0
    for word in words:
        number = sum(map(str.isalpha, word))
        letters += number
        if len(_WITHOUT_BLANKS.findall(word)) > LONGEST_WORD:
            in_runs += number
    return 1 - in_runs / letters if letters else float(bool(words))
