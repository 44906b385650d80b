"""Trained models of RNN-QE as files, to rate outputs of other systems.

Stage: prediction (RNN-QE). In: parameters of a few models, whose mean predicts, and how they read.
Out: a signed file of numbers, and ratings of texts.

A file holds the parameters as a stack, vocabularies as 64-bit sums of words, never as words, and in
its record all that rating needs: architecture, kind of MRs, scale. Nothing in it is
executed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from refless.data.wording import wording
from refless.errors import FormatError
from refless.models.rnn_qe.batches import Encoded, numbered
from refless.models.rnn_qe.delex import tokens
from refless.models.rnn_qe.meaning import ACTS, tokens_of
from refless.models.rnn_qe.model_file import KIND, REMEDY, read_model

# torch by way of network, which says what to do where it is missing
from refless.models.rnn_qe.network import ENCODERS, Architecture, Parameters, predict, torch
from refless.models.rnn_qe.scale import Scale
from refless.store import signed

SUMS = ("seen", "answered")
"""What a file knows of the training texts, as `word_sum`."""


def word_sum(word: str) -> int:
    """The number by which a file knows a word."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")


@dataclass(frozen=True)
class Model:
    """A few trained models, whose mean predicts.

    parameters : a stack of the models
    words : by encoder, the vocabulary of each model: `word_sum` -> number
    about : whence it comes and what it is worth; of numbers, strings, lists and dictionaries
    meanings : what it reads beside a text, of `refless.models.rnn_qe.meaning.KINDS`
    seen : `word_sum` of its training texts, as they are written and with values as slots; empty
        where nobody says
    answered : the same of the MRs and contexts, by `refless.models.rnn_qe.own.Groups`
    """

    architecture: Architecture
    parameters: Parameters
    words: Mapping[str, Sequence[Mapping[int, int]]]
    about: Mapping[str, Any]
    scale: Scale = field(default_factory=Scale)
    meanings: str = ACTS
    seen: frozenset[int] = frozenset()
    answered: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls,
        architecture: Architecture,
        parameters: Sequence[Parameters],
        data: Sequence[Encoded],
        about: Mapping[str, Any],
        **others: Any,
    ) -> Model:
        """From what `refless.models.rnn_qe.training.train` gives, and the data of each model.

        ``others`` are ``scale``, ``meanings``, ``seen`` and ``answered``.
        """
        words = {
            side: [
                {word_sum(w): n for w, n in getattr(one, f"{side}_words").items()} for one in data
            ]
            for side in ENCODERS
        }
        stacked = {name: _stacked([one[name] for one in parameters]) for name in parameters[0]}
        return cls(architecture, stacked, words, about, **others)

    @property
    def reads_meanings(self) -> bool:
        """Whether it was trained with MRs or contexts."""
        return any(map(len, self.words["mr"]))

    def has_seen(self, meanings: Sequence[str], texts: Sequence[str]) -> list[bool]:
        """Whether each text, under any MR and in any spelling, is one of those that it was trained
        on.

        Raises
        ------
        FormatError : as `rate`.
        """
        every = sums_of(meanings, texts, self.meanings)
        return [not self.seen.isdisjoint(own) for own in every]

    def has_answered(self, answered: Sequence[Sequence[str]]) -> list[bool]:
        """Whether each text answers what training texts answered, by
        `refless.models.rnn_qe.own.Groups`."""
        rows = zip(*answered, strict=True)
        return [any(word_sum(one) in self.answered for one in own if one) for own in rows]

    def strange(self, meanings: Sequence[str], texts: Sequence[str]) -> list[bool]:
        """Of which texts, or what they answer, a third of the words or more stood nowhere in
        training; or there are none (of what they answer: for all texts).

        Raises
        ------
        FormatError : as `rate`.
        """
        read = tokens_of(meanings, texts, self.meanings)
        sides = {"text": [text for _, text in read]}
        if self.reads_meanings:
            sides["mr"] = [mr for mr, _ in read]
        # some training texts may have none, but not all
        blank = any(sides.get("mr", []))
        found = np.zeros(len(texts), bool)
        for side, rows in sides.items():
            known = set().union(*self.words[side])
            for k, row in enumerate(rows):
                words = [word_sum(word) in known for word in row if wording(word).isalnum()]
                none = side == "mr" and blank and not row
                found[k] |= not none and 3 * sum(words) <= 2 * len(words)
        return found.tolist()

    def rate(self, meanings: Sequence[str], texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Ratings of texts as they are written: see `predict`.

        Raises
        ------
        FormatError : an MR that cannot be read; ``line`` is its number, from 1.
        """
        read = tokens_of(meanings, texts, self.meanings)
        return self.predict([mr for mr, _ in read], [text for _, text in read])

    def predict(
        self, mrs: Sequence[Sequence[str]], texts: Sequence[Sequence[str]]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ratings as the networks give them, and rounded within the scale; shape (texts,) each.

        Parameters
        ----------
        mrs, texts : tokens, delexicalised (`refless.models.rnn_qe.meaning.tokens_of`). Tokens
            that training never saw are vectors of zeros, an empty sequence is a state of zeros.
        """
        if not texts:
            return np.empty(0), np.empty(0)
        given = {
            "mr": [[word_sum(word) for word in mr] for mr in mrs],
            "text": [[word_sum(word) for word in text] for text in texts],
        }
        sequences = {
            side: [numbered(given[side], own) for own in self.words[side]] for side in given
        }
        rows = [np.arange(len(texts)) for _ in self.words["text"]]
        found = predict(self.architecture, self.parameters, sequences, rows)
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


def _stacked(values: Sequence[Any]) -> Any:
    """Stacks of one as a stack of all, as wide as the widest."""
    shape = np.max([value.shape[1:] for value in values], axis=0).tolist()
    whole = values[0].new_zeros(len(values), *shape)
    for model, value in enumerate(values):
        whole[(model, *map(slice, value.shape[1:]))] = value[0]
    return whole


def save_model(model: Model, path: str | Path, half: bool = False) -> None:
    """Write a model, whole or not at all.

    ``half`` keeps numbers in half precision, which halves the file.

    Raises
    ------
    OutputError : the file cannot be written.
    """
    dtype = np.float16 if half else np.float32
    arrays: dict[str, np.ndarray] = {
        name: value.cpu().numpy().astype(dtype) for name, value in model.parameters.items()
    }
    for side, vocabularies in model.words.items():
        for number, words in enumerate(vocabularies):
            # in the order of their numbers, from 1
            arrays[f"{side}.words{number}"] = np.array(list(words), np.uint64)
    for name in SUMS:
        if sums := getattr(model, name):
            arrays[name] = np.array(sorted(sums), np.uint64)
    settings = {
        "architecture": asdict(model.architecture),
        "scale": asdict(model.scale),
        "meanings": model.meanings,
    }
    about = {"kind": KIND, "settings": settings, "facts": dict(model.about)}
    signed.write(path, arrays, about)


def load_model(path: str | Path, device: str = "cpu") -> Model:
    """Read a model; nothing in the file is executed.

    Raises
    ------
    FormatError : no such file, or not a model of RNN-QE.
    """
    file = read_model(path)
    settings, arrays = file.about["settings"], file.content
    made = settings["architecture"]
    architecture = Architecture(**{one.name: made[one.name] for one in fields(Architecture)})
    words: dict[str, list[dict[int, int]]] = {side: [] for side in ENCODERS}
    count = sum(name.startswith("text.words") for name in arrays)
    for side, vocabularies in words.items():
        for number in range(count):
            own = arrays[f"{side}.words{number}"].tolist()
            vocabularies.append({word: place for place, word in enumerate(own, start=1)})
    sizes = [max(map(len, words[side])) + 1 for side in ENCODERS]
    parameters = {}
    for name, shape in architecture.shapes(*sizes).items():
        if name not in arrays or arrays[name].shape != (count, *shape):
            raise FormatError(f"{name} has another shape than {shape}", path=path, remedy=REMEDY)
        parameters[name] = torch.from_numpy(arrays[name].astype(np.float32)).to(
            device, architecture.dtype
        )
    others = {
        "scale": Scale(**settings["scale"]),
        "meanings": settings["meanings"],
        **{name: frozenset(arrays[name].tolist()) for name in SUMS if name in arrays},
    }
    return Model(architecture, parameters, words, file.about["facts"], **others)
