"""Trained models of RNN-QE as files, to rate outputs of other systems.

Stage: prediction (RNN-QE). In: a few networks, whose mean predicts, and how they read. Out: a
sealed file of numbers, and ratings of texts. A file holds words as 64-bit sums, never as words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from refless.data.wording import wording
from refless.errors import FormatError
from refless.models.rnn_qe.batches import Encoded, numbered
from refless.models.rnn_qe.delex import tokens
from refless.models.rnn_qe.meaning import ACTS, tokens_of
from refless.models.rnn_qe.model_file import read_model
from refless.models.rnn_qe.network import Network, predict, torch
from refless.models.rnn_qe.scale import Scale
from refless.store import sealed

Words = Mapping[int, int]
"""A vocabulary: `word_sum` -> number."""


def word_sum(word: str) -> int:
    """The number by which a file knows a word."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")


@dataclass(frozen=True)
class Model:
    """A few trained networks, whose mean predicts.

    words : vocabularies of the MRs and of the texts of each network
    about : whence it comes and what it is worth; of numbers, strings, lists and dictionaries
    meanings : what it reads beside a text, of `refless.models.rnn_qe.meaning.KINDS`
    seen : `sums_of` its training texts
    """

    networks: Sequence[Network]
    words: Sequence[tuple[Words, Words]]
    about: Mapping[str, Any]
    scale: Scale = field(default_factory=Scale)
    meanings: str = ACTS
    seen: frozenset[int] = frozenset()

    @property
    def reads_meanings(self) -> bool:
        """Whether it was trained with MRs or contexts."""
        return any(mr for mr, _ in self.words)

    def has_seen(self, meanings: Sequence[str], texts: Sequence[str]) -> list[bool]:
        """Whether each text, under any MR and in any spelling, is one of those that it was trained
        on; FormatError as `rate`."""
        every = sums_of(meanings, texts, self.meanings)
        return [not self.seen.isdisjoint(own) for own in every]

    def strange(self, meanings: Sequence[str], texts: Sequence[str]) -> list[bool]:
        """Of which texts, or what they answer, a third of the words or more stood nowhere in
        training; FormatError as `rate`."""
        mr_known, text_known = (set().union(*own) for own in zip(*self.words, strict=True))

        def rare(words: Sequence[str], known: set[int]) -> bool:
            found = [word_sum(word) in known for word in words if wording(word).isalnum()]
            return 3 * sum(found) <= 2 * len(found)

        read = tokens_of(meanings, texts, self.meanings)
        return [
            rare(text, text_known) or (self.reads_meanings and bool(mr) and rare(mr, mr_known))
            for mr, text in read
        ]

    def rate(self, meanings: Sequence[str], texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Ratings as the networks give them, and rounded within the scale; shape (texts,) each.
        Words that training never saw are vectors of zeros.

        Raises
        ------
        FormatError : an MR that cannot be read; ``line`` is its number, from 1.
        """
        read = tokens_of(meanings, texts, self.meanings)
        sides = [[[word_sum(word) for word in row[side]] for row in read] for side in (0, 1)]
        found = [
            predict(network, *map(numbered, sides, own))
            for network, own in zip(self.networks, self.words, strict=True)
        ]
        raw = self.scale.given_back(np.mean(found, axis=0))
        return raw, self.scale.rounded(raw)


def sums_of(meanings: Sequence[str], texts: Sequence[str], kind: str) -> list[list[int]]:
    """What each text is known by, as it is written and delexicalised: `word_sum` of its tokens, and
    of its `wording`.

    Raises
    ------
    FormatError : a meaning that cannot be read; ``line`` is its number, from 1.
    """
    read = tokens_of(meanings, texts, kind)
    ways = [
        (" ".join(tokens(t)), " ".join(words)) for t, (_, words) in zip(texts, read, strict=True)
    ]
    return [[word_sum(way) for one in own for way in (one, wording(one))] for own in ways]


def vocabularies(data: Encoded) -> tuple[Words, Words]:
    """The vocabularies of a network's training data, without the words."""
    mr, text = data.mr_words, data.text_words
    return {word_sum(w): n for w, n in mr.items()}, {word_sum(w): n for w, n in text.items()}


def save_model(model: Model, path: str | Path, half: bool = False) -> None:
    """Write a model, whole or not at all; ``half`` keeps numbers in half precision.

    Raises
    ------
    OutputError : the file cannot be written.
    """
    arrays = {"seen": np.array(sorted(model.seen), np.uint64)}
    for number, (network, (mr, text)) in enumerate(zip(model.networks, model.words, strict=True)):
        # words in the order of their numbers, from 1
        arrays |= {f"{number}.mr.words": np.array(list(mr), np.uint64)}
        arrays |= {f"{number}.text.words": np.array(list(text), np.uint64)}
        for name, value in network.state_dict().items():
            dtype = np.float16 if half else np.float32
            arrays[f"{number}.{name}"] = value.cpu().numpy().astype(dtype)
    settings = {
        "networks": len(model.networks),
        "width": model.networks[0].width,
        "scale": asdict(model.scale),
        "meanings": model.meanings,
    }
    sealed.write(path, arrays, {**model.about, "settings": settings})


def load_model(path: str | Path) -> Model:
    """Read a model; nothing in the file is executed.

    Raises
    ------
    FormatError : no such file, or not a model of RNN-QE.
    """
    file = read_model(path)
    facts, arrays = dict(file.about["facts"]), file.content
    settings = facts.pop("settings")
    networks, words = [], []
    try:
        for number in range(settings["networks"]):
            own = [arrays[f"{number}.{side}.words"].tolist() for side in ("mr", "text")]
            network = Network(len(own[0]), len(own[1]), settings["width"])
            state = {name: arrays[f"{number}.{name}"] for name in network.state_dict()}
            network.load_state_dict({n: torch.from_numpy(v).float() for n, v in state.items()})
            networks.append(network)
            mr, text = ({word: place for place, word in enumerate(w, start=1)} for w in own)
            words.append((mr, text))
        seen = frozenset(arrays["seen"].tolist())
    except (KeyError, RuntimeError) as error:
        message = "is a model of RNN-QE of another version"
        raise FormatError(message, path=path, remedy="train it anew: `refless train-qe`") from error
    scale = Scale(**settings["scale"])
    return Model(networks, words, facts, scale, settings["meanings"], seen)
