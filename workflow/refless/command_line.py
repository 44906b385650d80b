"""What was typed, option by option, so that a remedy can repeat a command without some of it."""

from __future__ import annotations

import re
from argparse import Action, ArgumentParser
from collections.abc import Iterator, Sequence


def options(words: Sequence[str], parser: ArgumentParser) -> Iterator[tuple[str, list[str]]]:
    """The words of a command that ``parser`` accepts, as it reads them.

    Yields
    ------
    The `dest` of an option and its words: the name and the values. For a word that belongs to no
    option, "" and the word. A name may be abbreviated; of letters in one word, each is an option.
    """
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            yield from (("", [one]) for one in left)
            return
        if not _names(word):
            yield "", [word]
            continue
        for action, own, at_most in _named(word, parser._option_string_actions):
            while left and at_most > 0 and not _names(left[0]):
                own.append(left.pop(0))
                at_most -= 1
            yield action.dest, own


def _names(word: str) -> bool:
    """Whether a word is the name of an option, or ends them; a negative number is a value."""
    return re.match(r"-[^\d.]", word) is not None


def _named(word: str, known: dict[str, Action]) -> Iterator[tuple[Action, list[str], float]]:
    """Each option that a word names, what it says of it, and how many values may follow."""
    if word.startswith("--"):
        name, given, _ = word.partition("=")
        exact = [known[name]] if name in known else []
        for action in exact or [known[one] for one in known if one.startswith(name)][:1]:
            yield action, [word], 0 if given else _values(action)
        return
    for place, letter in enumerate(word[1:], 1):
        option = known.get(f"-{letter}")
        if option is None:
            return
        if option.nargs != 0:
            behind = word[place + 1 :]
            yield option, [f"-{letter}{behind}"], 0 if behind else _values(option)
            return
        yield option, [f"-{letter}"], 0


def _values(action: Action) -> float:
    if action.nargs in (None, "?"):
        return 1
    return action.nargs if isinstance(action.nargs, int) else float("inf")
