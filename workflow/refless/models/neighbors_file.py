"""Fitted neighbors models in files: settings, texts and ratings, indexed anew when loaded.

Stage: outside the workflow. The first line is a mark with the SHA-256 of the second, which is JSON.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from refless import __version__
from refless.errors import FormatError
from refless.kernels import signature
from refless.models.neighbors import NeighborsRegressor
from refless.store.files import whole_file

MARK = "# refless neighbors "
AGAIN = "fit it again: refless fit --ratings RATED --out FILE"


def save(model: NeighborsRegressor, path: str | Path) -> None:
    """Write a fitted model; the same training examples and settings give the same bytes. Raises
    OutputError: the file cannot be written."""
    settings = model.get_params() | {"options": dict(model.options or {})}
    del settings["threads"]
    content = {
        "texts": model.texts_,
        "quality": model.quality_.tolist(),
        "settings": settings,
        "tau": model.tau_,
    }
    line = _line(content)
    with whole_file(path) as partial:
        partial.write_bytes(f"{MARK}{_sum(line)}\n".encode() + line)


def load(
    path: str | Path, *, threads: int | None = None, options: dict[str, Any] | None = None
) -> NeighborsRegressor:
    """The fitted model of a file; ``options`` say where files of the kernel are on this machine
    (``wordnet``, ``model``, ``device``). Raises FormatError: the file is no model of this version,
    or was damaged. Raises KernelError: a file of the kernel is missing."""
    try:
        head, _, line = Path(path).read_bytes().partition(b"\n")
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=path, remedy=AGAIN) from error
    if head.decode("latin-1") != MARK + _sum(line):
        message = "is no model of this version of refless, or was damaged"
        raise FormatError(message, path=path, remedy=AGAIN)
    content = json.loads(line)
    settings = content["settings"]
    tau, settings["tau"] = settings["tau"], content["tau"]  # as it was chosen, if it was
    settings["options"] |= options or {}
    model = NeighborsRegressor(**settings, threads=threads)
    return model.fit(content["texts"], content["quality"]).set_params(tau=tau)


def signature_line(model: NeighborsRegressor, **more: Any) -> str:
    """All that decides the predictions of a fitted model, in one line: ``kernel:...|tau:...``; of
    files of the kernel (WordNet, an encoder), the beginning of their sums."""
    signed = signature(model.kernel, **dict(model.options or {}))
    facts = {
        "kernel": model.kernel,
        "tau": repr(model.tau_) + ("(auto)" if model.tau == "auto" else ""),
        "a": model.min_neighbors,
        "b": model.max_share,
        **signed["options"],
        **more,
        "n": len(model.texts_),
        "data": data_sum([model.texts_, model.quality_.tolist()]),
        "version": f"refless.{__version__}",
        **{name: value[:12] for name, value in signed["resources"].items()},
    }
    return "|".join(f"{name}:{value}" for name, value in facts.items())


def data_sum(content: Any) -> str:
    """By which a signature knows training examples."""
    return _sum(_line(content))[:12]


def _line(content: Any) -> bytes:
    """As JSON in ASCII, which keeps a lone surrogate."""
    return json.dumps(content, default=str).encode("ascii")


def _sum(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()
