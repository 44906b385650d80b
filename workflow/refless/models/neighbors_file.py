"""Fitted neighbors models in files: training texts made ready, opened without being read.

Stage: outside the workflow. In: a fitted `NeighborsRegressor`. Out: a mapped file
(`refless.store.mapped`) with its settings, texts, ratings and index; later, a model that gives the
same predictions to the bit. The file has the training texts in it: who gets it can read them.

The file also says by which code the index was made. Other code might give other numbers, so a
model from another version of the kernel is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np

from refless import __version__
from refless.data.wording import among, wording
from refless.errors import StaleError
from refless.kernels import opened, signature
from refless.kernels._registry import constants, module_path
from refless.kernels._texts import starts_of
from refless.models.neighbors import NeighborsRegressor
from refless.store import mapped

Array = np.ndarray
KIND = "fitted neighbors"
AGAIN = "fit it again: refless fit --ratings RATED --out FILE"


_CHANGED = {"fingerprint": "code", "packages": "versions of packages", "resources": "files"}


class StoredTexts(Sequence[str]):
    """Texts in UTF-8, end to end, and where each starts: decoded when they are asked for."""

    def __init__(self, content: Array, starts: Array) -> None:
        self._content, self._starts = content, starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, which: int) -> str: ...
    @overload
    def __getitem__(self, which: slice) -> Sequence[str]: ...
    def __getitem__(self, which: int | slice) -> str | Sequence[str]:
        if isinstance(which, slice):
            return [self[i] for i in range(*which.indices(len(self)))]
        row = range(len(self))[which]
        part = self._content[self._starts[row] : self._starts[row + 1]]
        return part.tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (self[row] for row in range(len(self)))


def save(model: NeighborsRegressor, path: str | Path) -> None:
    """Write a fitted model; the same training examples and settings give the same bytes.

    Raises
    ------
    SettingError : the model is not fitted, or its kernel was set since.
    KernelError : an option that no file can hold.
    OutputError : the file cannot be written.
    """
    content, starts = _stored(model._fitted())
    data = data_sum(model)
    settings = {k: v for k, v in model.get_params().items() if k != "threads"}
    options = dict(model.options or {})
    about = {
        "kind": KIND,
        "version": __version__,
        "settings": {**settings, "options": {k: _plain(v) for k, v in options.items()}},
        "tau": model.tau_,
        "texts": len(model.texts_),
        "data": data,
        "signature": signature(model.kernel, data, **options),
    }
    digests = _digests(map(wording, model.texts_))
    order = np.argsort(digests, kind="stable")
    arrays = {
        "quality": [model.quality_],
        "texts": [content],
        "starts": [starts],
        "digests": [digests[order]],
        "digest_rows": [order],
        **{f"index.{name}": pieces for name, pieces in model.index_.arrays().items()},
    }
    mapped.write(path, about, arrays)


def load(
    path: str | Path,
    *,
    threads: int | None = None,
    check: bool = True,
    options: dict[str, Any] | None = None,
) -> NeighborsRegressor:
    """The fitted model of a file.

    Parameters
    ----------
    check : whether every byte is compared with its sum, see `refless.store.mapped`
    options : where files of the kernel lie on this machine (``wordnet``, ``model``, ``device``),
        instead of where they lay; what is in them must be the same

    Raises
    ------
    FormatError : the file is none of a fitted model, was cut short, or a byte of it has changed.
    StaleError : it was made by other code, or with other files of the kernel.
    KernelError : a file of the kernel is not there.
    """
    before = mapped.state(path) if Path(path).is_file() else ()
    about, arrays = mapped.read(path, KIND, check=check, remedy=AGAIN)
    settings = dict(about["settings"])
    settings["options"] = {**settings["options"], **(options or {})}
    model = NeighborsRegressor(**settings, threads=threads)
    now = signature(model.kernel, about["data"], **settings["options"])
    changed = [name for name in now if now[name] != about["signature"].get(name)]
    if changed:
        raise StaleError(
            f"was fitted by refless {about['version']} with other"
            f" {' and '.join(_CHANGED.get(name, name) for name in changed)} than there is now",
            path=path,
            remedy=AGAIN,
        )
    model.quality_ = arrays["quality"]
    model.tau_ = about["tau"]
    texts = StoredTexts(arrays["texts"], arrays["starts"])
    model.texts_ = texts
    model.kernel_ = model._kernel()
    index = {name[6:]: array for name, array in arrays.items() if name.startswith("index.")}
    model.index_ = opened(model.kernel, texts, index, **settings["options"])
    model.stored_ = {"data": about["data"], "file": (path, before), **arrays}
    return model


def require_unchanged(model: NeighborsRegressor) -> None:
    """Make sure, after predicting, that nothing was written into a model's file since `load`.

    Raises
    ------
    StaleError : the file is the same one, and somebody wrote into it.
    """
    path, before = model.stored_.get("file", ("", ()))
    if not before or not Path(path).is_file():
        return
    now = mapped.state(path)
    if now != before and now[0] == before[0]:
        raise StaleError(
            "was written into while it was used", path=path, remedy="make it whole, and run again"
        )


def kernel_of(path: str | Path) -> str:
    """The kernel of a fitted model in a file; errors as of `load`."""
    about, _ = mapped.read(path, KIND, check=False, remedy=AGAIN)
    return str(about["settings"]["kernel"])


def data_sum(model: NeighborsRegressor) -> str:
    """SHA-256 of the training texts and their ratings, in their order."""
    if model.stored_:
        return str(model.stored_["data"])
    digest = hashlib.sha256()
    for array in (*_stored(model.texts_), model.quality_):
        digest.update(mapped.as_bytes(array))
    return digest.hexdigest()


def signature_line(model: NeighborsRegressor, **more: Any) -> str:
    """All that decides the predictions of a fitted model, in one line: ``kernel:...|tau:...``.

    Of files of the kernel (WordNet, an encoder), it has the beginning of their sums.
    """
    options = dict(model.options or {})
    files = signature(model.kernel, "", **options).get("resources", {})
    facts = {
        "kernel": model.kernel,
        "tau": repr(model.tau_) + ("(auto)" if model.tau == "auto" else ""),
        "a": model.min_neighbors,
        "b": model.max_share,
        **{name: _plain(value) for name, value in sorted(options.items())},
        **more,
        "n": len(model.texts_),
        "data": data_sum(model)[:12],
        "version": f"refless.{__version__}",
    }
    places = constants(module_path(model.kernel)).get("LOCATIONS", ())
    stated = {name: value for name, value in facts.items() if name not in places}
    stated |= {name: value[:12] for name, value in files.items()}
    return "|".join(f"{name}:{value}" for name, value in stated.items())


def standing_in(model: NeighborsRegressor, texts: Sequence[str]) -> Array:
    """Which texts stand among the training texts, by `wording`: bool, shape (texts,)."""
    stored = model.stored_
    if not stored:
        return np.array(among(texts, model.texts_), bool)
    words = list(map(wording, texts))
    places = np.searchsorted(stored["digests"], _digests(words))
    # the digest is short, so the text itself decides
    rows = (stored["digest_rows"][place : place + 1] for place in places)
    pairs = zip(rows, words, strict=True)
    return np.array([len(k) > 0 and wording(model.texts_[int(k[0])]) == w for k, w in pairs], bool)


def _digests(words: Iterable[str]) -> Array:
    """A number of 64 bits for each `wording`."""
    parts = (
        hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for word in words
    )
    return np.frombuffer(b"".join(parts), np.uint64)


def _stored(texts: Sequence[str]) -> tuple[Array, Array]:
    starts = starts_of((len(text.encode("utf-8", "surrogatepass")) for text in texts), len(texts))
    return np.frombuffer("".join(texts).encode("utf-8", "surrogatepass"), np.uint8), starts


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value
