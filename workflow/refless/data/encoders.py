"""Bring the encoders of kernels here, so that no job that computes needs a network.

Stage: fetch. In: a model's name and the places to look. Out: the folder models/<model> under the
data directory, whole or not at all, with the model's files and their sums (sums.json); or an error
that names every place that was tried.

Order of places: the data directory itself, the folder for what is placed by hand, the mirror, the
folder REFLESS_MODELS, the model hub. No sums of models were published that could be checked here,
so the sums of the first fetch are kept and decide from then on.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from refless.data.fetch import Places, Source, copy, download, file_sum
from refless.errors import FormatError, KernelError, ReflessError, SourceError
from refless.kernels import bertscore
from refless.store.files import partial_path, read_json, write_json, writing

log = logging.getLogger(__name__)

SUMS = "sums.json"
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_INDEXES = tuple(f"{name}.index.json" for name in _WEIGHTS)


def has_encoder(kernel: str) -> bool:
    """Whether a kernel is computed with an encoder, and so with torch."""
    return kernel.startswith(("bertscore.", "embedding."))


def model_of(kernel: str) -> str:
    """The model that a kernel with an encoder is named after."""
    return bertscore.model_name(kernel)


def folder_of(model: str, places: Places) -> Path:
    """Where a fetched model lies."""
    return places.data / "models" / model


def local_folder(model: str, places: Places) -> Path | None:
    """The first of the local places that has a folder of that name; what is in it is not asked."""
    here = folder_of(model, places)
    if (here / "config.json").is_file():
        return here
    return next((folder for folder in _elsewhere(model, places) if folder.is_dir()), None)


def _elsewhere(model: str, places: Places) -> list[Path]:
    mirror, models = places.mirror_directory(), os.environ.get("REFLESS_MODELS")
    folders = [places.manual / "models" / model]
    folders += [] if mirror is None else [mirror / "models" / model]
    return folders + ([Path(models) / model] if models else [])


def why_not(kernel: str, places: Places, ask: Callable[[str], bool] | None = None) -> str:
    """Why a kernel with an encoder cannot be computed here, in one line; empty if it can.

    It is asked while jobs are planned, so neither torch nor a model is loaded.

    Parameters
    ----------
    ask : whether an address answers; without it, only what is at hand counts
    """
    if reason := lacking(kernel):
        return reason
    model = model_of(kernel)
    if bertscore.in_package(model) is not None:
        return fault(kernel)
    folder = local_folder(model, places)
    if folder is not None:
        return fault(kernel, folder)
    if ask is not None and any(ask(url) for url in addresses(model, places)):
        return ""
    reason = f"the encoder {model} is not at hand"
    if ask is not None:
        reason += " and no hub answers" if places.network else " and the network is switched off"
    return f"{reason} (put its folder at {places.manual / 'models' / model})"


def fault(kernel: str, folder: Path | None = None) -> str:
    """Why a folder is not the encoder that a kernel is named after; empty if it is.

    Without a folder, the one is meant that the kernel itself finds.
    """
    try:
        bertscore.find(kernel, folder)
    except KernelError as error:
        return f"the folder given for {model_of(kernel)} does not hold it: {error.message}"
    return ""


def lacking(kernel: str) -> str:
    """Which package that a kernel with an encoder needs is not installed; empty if all are."""
    packages = bertscore.PACKAGES["bertscore.*"]
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return f"{kernel} needs {missing[0]}, which is not installed (make torch)" if missing else ""


def addresses(model: str, places: Places) -> list[str]:
    """The addresses that have a model's configuration if they have the model."""
    mirror = places.mirror_address(f"models/{model}/config.json")
    known = bertscore.MODELS.get(model)
    name = model if known is None else known.hub
    found = [mirror] if mirror else []
    if places.network and name and importlib.util.find_spec("huggingface_hub"):
        from huggingface_hub import constants, hf_hub_url

        if not constants.HF_HUB_OFFLINE:
            revision = None if known is None else known.revision
            found.append(hf_hub_url(name, "config.json", revision=revision))
    return found


def fetch_encoder(model: str, places: Places) -> Path:
    """Bring one encoder into the data directory and return its folder there.

    Raises
    ------
    SourceError : a folder at hand is not that model or has other sums; or there is none.
    OutputError : the data directory cannot be written.
    """
    target = folder_of(model, places)
    if (target / SUMS).is_file():
        verify_encoder(target)
        return target
    if (target / "config.json").is_file():
        _refuse(model, target)
        _write_sums(target)
        return target
    partial = partial_path(target)
    try:
        # Under the model's own name, for the kernel takes no other for a published model.
        folder = partial / model
        with writing(target):
            folder.mkdir(parents=True)
        _bring(model, places, folder)
        _refuse(model, folder)
        _write_sums(folder)
        with writing(target):
            if target.is_dir() and not any(target.iterdir()):
                target.rmdir()
            os.replace(folder, target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    log.info("%s: sums recorded in %s", target, SUMS)
    return target


def _bring(model: str, places: Places, folder: Path) -> None:
    """Copy or download a model's files into a folder."""
    found = local_folder(model, places)
    if found is not None:
        _refuse(model, found)
        if (found / SUMS).is_file():
            verify_encoder(found)
        for path in _files(found):
            copy(path, folder / path.name, Source("model", f"models/{model}/{path.name}"), True)
        return
    tried = [f"{path}: not there" for path in _elsewhere(model, places)]
    base = places.mirror_address(f"models/{model}")
    if base:
        reason = _from_mirror(base, folder)
        if reason is None:
            return
        tried.append(f"{base}: {reason}")
    if places.network:
        try:
            bertscore.download(model, folder)
            shutil.rmtree(folder / ".cache", ignore_errors=True)  # notes of the hub's client
            return
        except KernelError as error:
            tried.append(f"model hub: {error.message}")
    else:
        tried.append("model hub: not asked, the network is switched off in the settings")
    raise SourceError(
        "the encoder could not be had. Tried:\n  " + "\n  ".join(tried),
        path=model,
        remedy=f"put its folder at {places.manual / 'models' / model}, or into the mirror as"
        f" models/{model}, or point REFLESS_MODELS at the folder around it",
    )


def _from_mirror(base: str, folder: Path) -> str | None:
    """Download a model from a mirror behind a URL: None if it is whole, else why it is not."""
    for name in ("config.json", *bertscore.TOKENIZER_FILES, *_WEIGHTS, *_INDEXES):
        if name == _WEIGHTS[1] and (folder / _WEIGHTS[0]).is_file():
            return None
        reason = _one(base, name, folder)
        if reason is not None and (name == "config.json" or " 404 " not in f"{reason} "):
            return reason
        if reason is None and name in _INDEXES:
            parts = json.loads((folder / name).read_bytes())["weight_map"].values()
            return next(filter(None, (_one(base, part, folder) for part in sorted({*parts}))), None)
    return None if (folder / _WEIGHTS[1]).is_file() else "it has no weights"


def _one(base: str, name: str, folder: Path) -> str | None:
    source = Source("model", f"models/{folder.name}/{name}")
    return download(f"{base}/{name}", folder / name, source, 3, (10.0, 30.0), 1.0, True)


def _files(folder: Path) -> list[Path]:
    """The files of a model that are read: configuration, tokenizer, weights."""
    names = ("config.json", *bertscore.TOKENIZER_FILES, *_INDEXES)
    return [path for name in names if (path := folder / name).is_file()] + (
        bertscore.weight_files(folder)
    )


def _refuse(model: str, folder: Path) -> None:
    try:
        bertscore.find(f"bertscore.{model}", folder)
    except KernelError as error:
        raise SourceError(
            f"is not the encoder {model}: {error.message}", path=folder, remedy=error.remedy
        ) from error


def _write_sums(folder: Path) -> None:
    write_json({path.name: file_sum(path) for path in _files(folder)}, folder / SUMS)


def verify_encoder(folder: str | Path) -> None:
    """Compare a fetched model with the sums that were recorded when it was fetched.

    Raises
    ------
    SourceError : a file is missing, new, or another than it was.
    """
    folder = Path(folder)
    again = f"delete {folder} and fetch it again; if the change is meant, delete {SUMS} alone"
    try:
        recorded = read_json(folder / SUMS)
        found = {path.name: file_sum(path) for path in _files(folder)}
    except (FormatError, KernelError, OSError) as error:
        message = error.message if isinstance(error, ReflessError) else str(error)
        raise SourceError(f"cannot be verified: {message}", path=folder, remedy=again) from error
    for name in sorted({*recorded, *found}):
        if recorded.get(name) != found.get(name):
            raise SourceError("is not the file that was fetched", path=folder / name, remedy=again)
