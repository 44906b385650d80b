"""Trained models of RNN-QE as files, to rate outputs of other systems.

Stage: prediction (RNN-QE). In: a model's parameters and words. Out: a file, and ratings of texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refless.errors import FormatError
from refless.models.rnn_qe.batches import Encoded, numbered, rounded

# torch by way of network, which says what to do where it is missing
from refless.models.rnn_qe.network import UNREADABLE, Architecture, Parameters, predict, torch
from refless.store.files import whole_file


@dataclass(frozen=True)
class Model:
    """One trained model: its parameters are a stack of one.

    mr_words, text_words : the vocabularies' numbers
    about : whence it comes; of numbers, strings, lists and dictionaries
    """

    architecture: Architecture
    parameters: Parameters
    mr_words: dict[str, int]
    text_words: dict[str, int]
    about: dict[str, Any]

    @classmethod
    def of(
        cls,
        architecture: Architecture,
        parameters: Parameters,
        data: Encoded,
        about: dict[str, Any],
    ) -> Model:
        """From what `refless.models.rnn_qe.training.train` gives, and the data of its fold."""
        return cls(architecture, parameters, data.mr_words, data.text_words, about)

    def predict(
        self, mrs: Sequence[Sequence[str]], texts: Sequence[Sequence[str]]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ratings as the network gives them, and rounded to 1, 1.5, ... 6; shape (texts,) each.

        Parameters
        ----------
        mrs, texts : tokens, delexicalised (`refless.models.rnn_qe.delex.delexicalise`). Tokens
            that training never saw are vectors of zeros, an empty sequence is a state of zeros.
        """
        if not texts:
            return np.empty(0), np.empty(0)
        sequences = {
            "mr": [numbered(mrs, self.mr_words)],
            "text": [numbered(texts, self.text_words)],
        }
        raw = predict(self.architecture, self.parameters, sequences, [np.arange(len(texts))])[0]
        return raw, rounded(raw)


def save_model(model: Model, path: str | Path) -> None:
    """Write a model, whole or not at all.

    Raises
    ------
    OutputError : the file cannot be written.
    """
    content = {
        "architecture": asdict(model.architecture),
        "parameters": {name: value.cpu() for name, value in model.parameters.items()},
        "mr_words": list(model.mr_words),
        "text_words": list(model.text_words),
        "about": model.about,
    }
    # By a handle: torch writes a path's name into the file.
    with whole_file(path) as partial, open(partial, "wb") as handle:
        torch.save(content, handle)


def load_model(path: str | Path, device: str = "cpu") -> Model:
    """Read a model; nothing in the file is executed.

    Raises
    ------
    FormatError : no such file, or not a model of RNN-QE.
    """
    try:
        content = torch.load(path, map_location=device, weights_only=True)
        words = [
            {word: number for number, word in enumerate(content[f"{side}_words"], start=1)}
            for side in ("mr", "text")
        ]
        architecture = Architecture(**content["architecture"])
        for name, shape in architecture.shapes(len(words[0]) + 1, len(words[1]) + 1).items():
            if content["parameters"][name].shape != (1, *shape):
                raise FormatError(f"{name} has another shape than {shape}", path=path)
        return Model(architecture, content["parameters"], words[0], words[1], content["about"])
    except UNREADABLE as error:
        raise FormatError(
            f"cannot be read as a model of RNN-QE: {str(error).splitlines()[0]}",
            path=path,
            remedy="training leaves such files in results/rnn_qe/models",
        ) from error
