"""Fitted neighbors models in files: settings, texts and ratings, indexed anew when loaded.

Stage: outside the workflow. The first line is a mark with the SHA-256 of the second, which is JSON.
So a file holds the training texts, and loading it runs nothing that came with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from refless import __version__
from refless.data.wording import among
from refless.errors import FormatError, StaleError
from refless.kernels import signature
from refless.models.neighbors import NeighborsRegressor
from refless.store.files import whole_file

MARK = "# refless neighbors "
AGAIN = "fit it again: refless fit --ratings RATED --out FILE"


def save(model: NeighborsRegressor, path: str | Path) -> None:
    """Write a fitted model; the same training examples and settings give the same bytes.

    Raises
    ------
    SettingError : the model is not fitted, or its kernel was set since.
    OutputError : the file cannot be written.
    """
    texts, settings = model.training_texts(), model.get_params()
    del settings["threads"]
    content = {
        "settings": {**settings, "options": dict(model.options or {})},
        "resources": _signed(model)["resources"],
        "tau": model.tau_,
        "texts": texts,
        "quality": model.quality_.tolist(),
    }
    line = _line(content)
    with whole_file(path) as partial:
        partial.write_bytes(f"{MARK}{_sum(line)}\n".encode() + line)


def load(
    path: str | Path, *, threads: int | None = None, options: dict[str, Any] | None = None
) -> NeighborsRegressor:
    """The fitted model of a file.

    Parameters
    ----------
    options : where files of the kernel are on this machine (``wordnet``, ``model``, ``device``),
        instead of where they were; what is in them must be the same

    Raises
    ------
    FormatError : the file is no model of this version, or was damaged.
    StaleError : it was fitted with other files of the kernel.
    KernelError : a file of the kernel is missing.
    """
    content = _read(path)
    settings, tau = content["settings"], content["settings"].pop("tau")
    settings["options"] |= options or {}
    model = NeighborsRegressor(**settings, tau=content["tau"], threads=threads)
    if _signed(model)["resources"] != content["resources"]:
        raise StaleError(
            f"was fitted with other files of {model.kernel} than there are now",
            path=path,
            remedy=AGAIN,
        )
    model.fit(content["texts"], content["quality"])
    return model.set_params(tau=tau)


def kernel_of(path: str | Path) -> str:
    """The kernel of a fitted model in a file; errors as of `load`."""
    return str(_read(path)["settings"]["kernel"])


def _read(path: str | Path) -> dict[str, Any]:
    try:
        head, _, line = Path(path).read_bytes().partition(b"\n")
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=path, remedy=AGAIN) from error
    if head.decode("latin-1") != MARK + _sum(line):
        message = "is no model of this version of refless, or was damaged"
        raise FormatError(message, path=path, remedy=AGAIN)
    return dict(json.loads(line))


def signature_line(model: NeighborsRegressor, **more: Any) -> str:
    """All that decides the predictions of a fitted model, in one line: ``kernel:...|tau:...``.

    Of files of the kernel (WordNet, an encoder), it has the beginning of their sums.
    """
    signed = _signed(model)
    facts = {
        "kernel": model.kernel,
        "tau": repr(model.tau_) + ("(auto)" if model.tau == "auto" else ""),
        "a": model.min_neighbors,
        "b": model.max_share,
        **signed["options"],
        **more,
        "n": len(model.texts_),
        "data": _sum(_line([model.texts_, model.quality_.tolist()]))[:12],
        "version": f"refless.{__version__}",
        **{name: value[:12] for name, value in signed["resources"].items()},
    }
    return "|".join(f"{name}:{value}" for name, value in facts.items())


def require_unchanged(model: NeighborsRegressor) -> None:
    """Nothing: a loaded model needs its file no more."""


def standing_in(model: NeighborsRegressor, texts: Sequence[str]) -> np.ndarray:
    """Which texts are among the training texts, by `wording`: bool, shape (texts,)."""
    return np.array(among(texts, model.texts_), bool)


def _signed(model: NeighborsRegressor) -> dict[str, Any]:
    """Sums of the kernel's files, and its options but for the places of these files."""
    return signature(model.kernel, "", **dict(model.options or {}))


def _line(content: Any) -> bytes:
    """As JSON in ASCII, which keeps a lone surrogate."""
    return json.dumps(content, default=str).encode("ascii")


def _sum(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()
