"""Trained models of RNN-QE as files, to rate outputs of other systems.

Stage: prediction (RNN-QE). In: a few networks, whose mean predicts, and how they read. Out: a
sealed file of numbers, and ratings of texts. A file holds words as 64-bit sums, never as words.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refless.data.wording import wording
from refless.models.rnn_qe.batches import Encoded, numbered
from refless.models.rnn_qe.meaning import tokens_of
from refless.models.rnn_qe.model_file import read_model
from refless.models.rnn_qe.network import Network, predict, torch
from refless.models.rnn_qe.scale import Scale
from refless.store import sealed

Array = np.ndarray
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
    meanings : what it reads beside a text, ``acts``, ``slots`` or ``text``
    seen : `word_sum` of the `spellings` of its training texts

    Methods raise FormatError for an MR that cannot be read; ``line`` is its number, from 1.
    """

    networks: Sequence[Network]
    words: Sequence[tuple[Words, Words]]
    about: Mapping[str, Any]
    scale: Scale
    meanings: str
    seen: frozenset[int]

    @property
    def reads_meanings(self) -> bool:
        """Whether it was trained with MRs or contexts."""
        return any(mr for mr, _ in self.words)

    def has_seen(self, meanings: Sequence[str], texts: Sequence[str]) -> list[bool]:
        """Whether each text, in any spelling, is one of those that it was trained on."""
        every = spellings(meanings, texts, self.meanings)
        return [not self.seen.isdisjoint(map(word_sum, own)) for own in every]

    def strange(self, meanings: Sequence[str], texts: Sequence[str]) -> list[bool]:
        """Of which texts a third of the tokens or more stood nowhere in training."""
        known = set().union(*(text for _, text in self.words))
        read = tokens_of(meanings, texts, self.meanings)
        return [
            3 * sum(word_sum(one) in known for one in text) <= 2 * len(text) for _, text in read
        ]

    def rate(self, meanings: Sequence[str], texts: Sequence[str]) -> tuple[Array, Array]:
        """Ratings as the networks give them, and rounded within the scale; shape (texts,) each.
        Words that training never saw are vectors of zeros."""
        read = tokens_of(meanings, texts, self.meanings)
        sides = [[[word_sum(word) for word in row[side]] for row in read] for side in (0, 1)]
        found = [
            predict(network, *map(numbered, sides, own))
            for network, own in zip(self.networks, self.words, strict=True)
        ]
        raw = self.scale.given_back(np.mean(found, axis=0))
        return raw, self.scale.rounded(raw)


def spellings(meanings: Sequence[str], texts: Sequence[str], kind: str) -> list[tuple[str, str]]:
    """The `wording` of each text, as it is written and with values of its MR as slots; a network
    remembers either."""
    read = tokens_of(meanings, texts, kind)
    return [
        (wording(text), wording(" ".join(words)))
        for text, (_, words) in zip(texts, read, strict=True)
    ]


def vocabularies(data: Encoded) -> tuple[Words, Words]:
    """The vocabularies of a network's training data, without the words."""
    mr, text = data.mr_words, data.text_words
    return {word_sum(w): n for w, n in mr.items()}, {word_sum(w): n for w, n in text.items()}


def save_model(model: Model, path: str | Path) -> None:
    """Write a model, whole or not at all, in half precision. Raises OutputError: the file cannot be
    written."""
    arrays = {"seen": np.array(sorted(model.seen), np.uint64)}
    for number, (network, (mr, text)) in enumerate(zip(model.networks, model.words, strict=True)):
        # words in the order of their numbers, from 1
        arrays[f"{number}.mr.words"] = np.array(list(mr), np.uint64)
        arrays[f"{number}.text.words"] = np.array(list(text), np.uint64)
        for name, value in network.state_dict().items():
            arrays[f"{number}.{name}"] = value.cpu().numpy().astype(np.float16)
    settings = {
        "networks": len(model.networks),
        "width": model.networks[0].width,
        "scale": asdict(model.scale),
        "meanings": model.meanings,
    }
    sealed.write(path, arrays, {**model.about, "settings": settings})


def load_model(path: str | Path) -> Model:
    """Read a model; nothing in the file is executed. Raises FormatError: no such file, or not a
    model of RNN-QE."""
    file = read_model(path)
    facts, arrays = dict(file.about["facts"]), file.content
    settings = facts.pop("settings")
    networks, words = [], []
    for number in range(settings["networks"]):
        sums = [arrays[f"{number}.{side}.words"].tolist() for side in ("mr", "text")]
        network = Network(len(sums[0]), len(sums[1]), settings["width"])
        state = {
            name: torch.from_numpy(arrays[f"{number}.{name}"]).float()
            for name in network.state_dict()
        }
        network.load_state_dict(state)
        networks.append(network)
        mr, text = ({word: place for place, word in enumerate(own, start=1)} for own in sums)
        words.append((mr, text))
    return Model(
        networks,
        words,
        facts,
        Scale(**settings["scale"]),
        settings["meanings"],
        frozenset(arrays["seen"].tolist()),
    )
