"""Synthetic training examples: errors put into a text, and the rating that is left.

Stage: prediction (data of RNN-QE). In: the tokens of a text, how many errors, words to draw from.
Out: other tokens and a lower rating. Everything follows from a generator's state.

Source: Dušek, Novikova & Rieser (2017), section 3.3.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from refless.models.rnn_qe.scale import LOWEST

T = TypeVar("T")

AFTER_ONE = 4.0  # the most that a text with an error can be worth
UNTOUCHED = frozenset(["the", "a", "an", *".,:;!?"])
ACTIONS = ("duplicate", "duplicate_elsewhere", "insert", "replace", "remove")


def lowered(rating: float, errors: int) -> float:
    """What a rating on 1..6 becomes with some errors: a point less for each, never below 1.

    From 5.5 or 6, the first error leads to 4.
    """
    if errors == 0:
        return rating
    return max(LOWEST, min(AFTER_ONE, rating - 1) - (errors - 1))


def distort(
    words: Sequence[str], errors: int, dictionary: Sequence[str], generator: np.random.Generator
) -> list[str]:
    """A text with ``errors`` errors, each put in after the one before.

    An error falls on any word but an article or a mark, unless there is nothing else, and is one
    of `ACTIONS` with equal chances; the last word left is not removed.

    words : tokens, at least one
    dictionary : tokens to draw from; one that stands there twice is drawn twice as often
    """
    result = list(words)
    for _ in range(errors):
        content = [i for i, word in enumerate(result) if word not in UNTOUCHED]
        place = _pick(content or range(len(result)), generator)
        action = ACTIONS[generator.integers(len(ACTIONS) - (len(result) == 1))]
        if action == "remove":
            del result[place]
        elif action == "replace":
            result[place] = _other(result[place], dictionary, generator)
        elif action == "insert":
            result.insert(place, _pick(dictionary, generator))
        elif action == "duplicate":
            result.insert(place, result[place])
        else:
            result.insert(int(generator.integers(len(result) + 1)), result[place])
    return result


def _pick(values: Sequence[T], generator: np.random.Generator) -> T:
    return values[int(generator.integers(len(values)))]


def _other(word: str, dictionary: Sequence[str], generator: np.random.Generator) -> str:
    """A word of the dictionary that is not this one, if a hundred draws find it."""
    for _ in range(100):
        other = _pick(dictionary, generator)
        if other != word:
            return other
    return word
