"""The file of a trained model, as anybody reads it: no torch is needed to say what a model is.

Stage: none. In: a file by `refless.models.rnn_qe.saved.save_model`. Out: its record and arrays.
"""

from pathlib import Path
from typing import Any

from refless.errors import FormatError
from refless.store import sealed


def shipped_model() -> Path:
    """The model that comes with refless; docs/methods.md says what it is."""
    return Path(__file__).with_name("shipped.npz")


def read_model(path: str | Path) -> sealed.Sealed:
    """A model's record and arrays; nothing in the file is executed. Raises FormatError: no such
    file, or not a model of RNN-QE."""
    remedy = "`refless train-qe` writes such files"
    try:
        file = sealed.read(path)
    except FormatError as error:
        message = f"cannot be read as a model of RNN-QE: {error.message}"
        raise FormatError(message, path=path, remedy=remedy) from error
    if "settings" not in file.about["facts"]:
        raise FormatError("is no model of RNN-QE", path=path, remedy=remedy)
    return file


def card(file: sealed.Sealed) -> dict[str, Any]:
    """What a model is: settings, whence it comes, what it is worth."""
    facts = dict(file.about["facts"])
    return {**facts.pop("settings"), **facts}
