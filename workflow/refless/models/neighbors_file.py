"""Fitted neighbors models in files: rated texts and settings, indexed anew when loaded.

Stage: outside the workflow. In: a fitted model. Out: a file of JSON with its own sum.
"""

import json
from pathlib import Path
from typing import Any

from refless.citation import data_sum, signature
from refless.errors import FormatError, SettingError
from refless.kernels import signature as kernel_signature
from refless.models.neighbors import NeighborsRegressor
from refless.store.records import read_signed, write_signed

_REMEDY = "fit it again: refless fit --ratings RATED --out FILE"


def save_neighbors(model: NeighborsRegressor, path: str | Path) -> None:
    """Write a fitted model; the same training texts and settings give the same bytes. Raises
    OutputError: the file cannot be written."""
    settings = _settings(model)
    # a path is written as text
    settings["options"] = json.loads(json.dumps(dict(model.options or {}), default=str))
    rated = {"texts": model.texts_, "quality": model.quality_.tolist()}
    write_signed(path, {"model": settings, "tau": model.tau_, **rated})


def _settings(model: NeighborsRegressor) -> dict[str, Any]:
    """What decides the predictions of a model besides its training texts."""
    return {name: value for name, value in model.get_params().items() if name != "threads"}


def load_neighbors(path: str | Path, *, threads: int | None = None) -> NeighborsRegressor:
    """The fitted model of a file. Raises FormatError: the file is no such model, was damaged, or
    is of another version. Raises KernelError: there is no such kernel here, or a file of it is
    missing.

    >>> from tempfile import TemporaryDirectory
    >>> model = NeighborsRegressor(tau=0.3, min_neighbors=1).fit(["a cat", "no"], [0.5, 1.0])
    >>> with TemporaryDirectory() as folder:
    ...     save_neighbors(model, f"{folder}/model")
    ...     load_neighbors(f"{folder}/model").predict(["the cat"])
    array([0.5])
    """
    stored = read_signed(path, _REMEDY)
    settings = stored.get("model")
    if not isinstance(settings, dict):
        raise FormatError("is no model of refless fit", path=path, remedy=_REMEDY)
    try:
        if settings.keys() != _settings(NeighborsRegressor()).keys():
            raise ValueError(f"its settings are {', '.join(sorted(settings))}")
        if stored.keys() != {"model", "tau", "texts", "quality"}:
            raise ValueError(f"it has {', '.join(sorted(stored))}")
        model = NeighborsRegressor(**settings | {"tau": stored["tau"]}, threads=threads)
        fitted = model.fit(stored["texts"], stored["quality"])
    except (SettingError, TypeError, ValueError) as error:
        why = error.message if isinstance(error, SettingError) else error
        message = f"does not fit this version of refless: {why}"
        raise FormatError(message, path=path, remedy=_REMEDY) from error
    return fitted.set_params(tau=settings["tau"])  # auto, if it was chosen


def signature_line(model: NeighborsRegressor, **more: Any) -> str:
    """All that decides the predictions of a fitted model, in one line: ``kernel:...|tau:...``; of
    files of the kernel (WordNet, an encoder), the beginning of their sums.

    >>> signature_line(NeighborsRegressor().fit(["a cat", "no"], [0.5, 1.0])).split("|")[:4]
    ['kernel:bleu.char', 'tau:0.08', 'a:5', 'b:0.66']
    """
    signed = kernel_signature(model.kernel, **dict(model.options or {}))
    return signature(
        kernel=model.kernel,
        tau=repr(model.tau_) + ("(auto)" if model.tau == "auto" else ""),
        a=model.min_neighbors,
        b=model.max_share,
        **signed["options"],
        **more,
        n=len(model.texts_),
        data=data_sum([model.texts_, model.quality_.tolist()]),
        **{name: value[:12] for name, value in signed["resources"].items()},
    )
