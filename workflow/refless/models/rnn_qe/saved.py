"""Trained models of RNN-QE as files, to rate outputs of other systems.

Stage: prediction (RNN-QE). In: a few networks, whose mean predicts, and how they read. Out: a
file of numbers, and ratings of texts. A file holds words as 64-bit sums, never as words.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np
import pandas as pd

from refless.data.text_ids import fold_key
from refless.errors import FormatError
from refless.models.rnn_qe.batches import token_numbers
from refless.models.rnn_qe.data import tokenised
from refless.models.rnn_qe.meaning import ACTS, SLOTS, TEXT
from refless.models.rnn_qe.scale import clip_to_scale, to_unit_interval
from refless.store.files import whole_file

if TYPE_CHECKING:
    from refless.models.rnn_qe.network import Network

SHIPPED_MODEL = Path(__file__).with_name("shipped.npz")
"""The model that comes with refless; docs/methods.md says what it is."""
Vocabulary = Mapping[int, int]
"""A vocabulary: `word_sum` -> number."""


def word_sum(word: str) -> int:
    """The 64-bit sum by which a file knows a word.

    >>> word_sum("pub")
    10646128663084456771
    """
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")


def sums_of(words: Mapping[str, int]) -> Vocabulary:
    """A vocabulary without its words.

    >>> sums_of({"pub": 2})
    {10646128663084456771: 2}
    """
    return {word_sum(word): number for word, number in words.items()}


def sentence_sums(sentences: Iterable[str]) -> list[int]:
    """The numbers by which a file knows texts, in any spelling.

    >>> sentence_sums(["A pub."]) == sentence_sums(["a PUB"])
    True
    """
    return [word_sum(fold_key(sentence)) for sentence in sentences]


@dataclass(frozen=True)
class QEModel:
    """A few trained networks, whose mean predicts.

    vocabularies : of the MRs and of the texts of each network
    cross_validation : how well its networks predict the fold that each has not seen, as by
        `refless.statistics.agreement`
    metadata : how it was trained, on what; of numbers, strings, lists and dictionaries
    scale : the lowest and the highest rating
    meanings : what it reads beside a text, ``acts``, ``slots`` or ``text``
    training_texts : `sentence_sums` of its training texts, delexicalised
    """

    networks: Sequence["Network"]
    vocabularies: Sequence[tuple[Vocabulary, Vocabulary]]
    cross_validation: Mapping[str, float | None]
    metadata: Mapping[str, Any]
    scale: tuple[float, float]
    meanings: str
    training_texts: frozenset[int]

    @property
    def reads_meanings(self) -> bool:
        """Whether the model was trained with MRs or contexts."""
        return any(mr for mr, _ in self.vocabularies)

    def rate(self, meanings: Sequence[str], texts: Sequence[str]) -> pd.DataFrame:
        """The ``prediction`` for each text, within the scale, and whether it is one of the training
        texts, in any spelling (``in_training``). Words of no training text are vectors of zeros.
        Raises FormatError: an MR that cannot be read; ``line`` is its number, from 1.
        """
        from refless.models.rnn_qe.network import predict

        tokens = tokenised(meanings, texts, self.meanings)
        mr_sums = [list(map(word_sum, words.split())) for words in tokens["mr"]]
        text_sums = [list(map(word_sum, words.split())) for words in tokens["words"]]
        ratings = [
            predict(network, token_numbers(mr_sums, mr), token_numbers(text_sums, text))
            for network, (mr, text) in zip(self.networks, self.vocabularies, strict=True)
        ]
        low, high = self.scale
        prediction = low + to_unit_interval(clip_to_scale(np.mean(ratings, axis=0))) * (high - low)
        in_training = [number in self.training_texts for number in sentence_sums(tokens["words"])]
        return pd.DataFrame({"prediction": prediction, "in_training": in_training})


def save_model(model: QEModel, path: str | Path) -> None:
    """Write a model, whole or not at all, in half precision. Raises OutputError: the file cannot be
    written."""
    arrays: dict[str, Any] = {"seen": np.array(sorted(model.training_texts), np.uint64)}
    pairs = zip(model.networks, model.vocabularies, strict=True)
    for number, (network, (mr, text)) in enumerate(pairs):
        # words in the order of their numbers, from 1
        arrays[f"{number}.mr.words"] = np.array(list(mr), np.uint64)
        arrays[f"{number}.text.words"] = np.array(list(text), np.uint64)
        for name, value in network.state_dict().items():
            arrays[f"{number}.{name}"] = value.cpu().numpy().astype(np.float16)
    settings = {
        "networks": len(model.networks),
        "width": model.networks[0].width,
        "scale": dict(zip(("low", "high"), model.scale, strict=True)),
        "meanings": model.meanings,
    }
    metadata = {**model.metadata, "worth": model.cross_validation, "settings": settings}
    about = json.dumps(metadata, sort_keys=True, ensure_ascii=False)
    buffer = BytesIO()  # in a file, the archive would hold its size twice
    np.savez_compressed(buffer, about=about, **arrays)
    with whole_file(path) as partial:
        partial.write_bytes(buffer.getvalue())


def load_model(path: str | Path) -> QEModel:
    """Read a model; nothing in the file is executed. Raises FormatError: no such file, not a model
    of RNN-QE, or one of another version."""
    from refless.models.rnn_qe.network import Network, torch

    try:
        with ZipFile(path) as archive:
            if damaged := archive.testzip():
                raise ValueError(f"{damaged} is damaged")
        with np.load(path, allow_pickle=False) as stored:
            arrays = dict(stored)
        metadata = json.loads(str(arrays.pop("about")))
        cross_validation = metadata.pop("worth")
        settings = metadata.pop("settings")
        # the model that comes with refless has the longer key
        cross_validation.setdefault("mse_of_mean", cross_validation.get("mse_of_the_mean"))
        if set(settings) != {"networks", "width", "scale", "meanings"}:
            raise ValueError(f"its settings are {', '.join(sorted(settings))}")
        scale = settings["scale"]["low"], settings["scale"]["high"]
        kind = settings["meanings"]
        if kind not in (ACTS, SLOTS, TEXT):
            raise ValueError(f"it reads {kind}")
        training_texts = frozenset(arrays.pop("seen").tolist())
        networks = []
        vocabularies = []
        for number in range(settings["networks"]):
            sums = [arrays.pop(f"{number}.{side}.words").tolist() for side in ("mr", "text")]
            network = Network(len(sums[0]), len(sums[1]), settings["width"])
            state = {name: arrays.pop(f"{number}.{name}") for name in network.state_dict()}
            network.load_state_dict({name: torch.from_numpy(a) for name, a in state.items()})
            networks.append(network)
            mr, text = ({word: k for k, word in enumerate(words, start=1)} for words in sums)
            vocabularies.append((mr, text))
        if arrays or not networks:
            raise ValueError(f"it has {len(networks)} networks, and {len(arrays)} other arrays")
    except Exception as error:  # whatever a file that is something else makes its readers raise
        why = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
        why = f"it lacks {why}" if isinstance(error, KeyError) else why
        message = f"is no model of RNN-QE that this version of refless reads: {why}"
        remedy = "`refless train-qe` writes such files"
        raise FormatError(message, path=path, remedy=remedy) from error
    return QEModel(networks, vocabularies, cross_validation, metadata, scale, kind, training_texts)
