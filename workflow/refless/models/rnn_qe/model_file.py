"""The file of a trained model, as anybody reads it: no torch is needed to say what a model is.

Stage: none. In: a file by `refless.models.rnn_qe.saved.save_model`. Out: its record and arrays.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from refless.errors import FormatError
from refless.store import signed

KIND = "rnn_qe model"
REMEDY = "`refless train-qe` writes such files, and so does training in results/rnn_qe/models"


def shipped_model() -> Path:
    """The model that comes with refless; its card is docs/qe_model.md."""
    return Path(__file__).with_name("shipped.npz")


def read_model(path: str | Path) -> signed.Signed:
    """A model's record and arrays; nothing in the file is executed.

    Raises
    ------
    FormatError : no such file, or not a model of RNN-QE.
    """
    if Path(path).exists() and not Path(path).is_file():
        raise FormatError("is no file", path=path, remedy="name the file of a model")
    if Path(path).exists() and Path(path).suffix != ".npz":
        raise FormatError("a model's file ends in .npz", path=path, remedy="name it so")
    try:
        return signed.read(path, KIND)
    except FormatError as error:
        message = f"cannot be read as a model of RNN-QE: {error.message}"
        raise FormatError(message, path=path, remedy=REMEDY) from error


def card(file: signed.Signed) -> dict[str, Any]:
    """What a model is: settings, whence it comes, what it is worth."""
    settings, arrays = file.about["settings"], file.content
    count = sum(name.startswith("text.words") for name in arrays)
    reads = any(len(arrays[f"mr.words{number}"]) for number in range(count))
    return {
        "models": count,
        "architecture": settings["architecture"],
        "scale": settings["scale"],
        "meanings": settings["meanings"] if reads else None,
        **file.about["facts"],
    }
