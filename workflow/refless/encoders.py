"""The encoders of kernels: where one lies, and how it is fetched. Stage: fetch, planning."""

import os
import tempfile
from pathlib import Path

from refless.data.places import Places
from refless.errors import SourceError
from refless.kernels import encoder, entry
from refless.machine import installed
from refless.store.files import writing

WITH_ENCODERS = "bertscore.", "embedding."


def has_encoder(kernel: str) -> bool:
    """Whether a kernel is computed with an encoder, and so with torch."""
    return kernel.startswith(WITH_ENCODERS)


def lacking(kernel: str) -> str | None:
    """The package that a kernel needs and that is not installed; None if all are. KernelError if no
    kernel is called so."""
    packages = entry(kernel).packages
    return next((name for name in packages if not installed(name)), None)


def folder_of(model: str, places: Places) -> Path | None:
    """The folder in which a model lies on disk or in a package; None if there is none."""
    folders = [root / "models" / model for root in (places.data, *places.folders)]
    if named := encoder.named_folder(model):
        folders.append(named)
    return next(filter(encoder.is_model, folders), None) or encoder.in_package(model)


def fetch_encoder(model: str, places: Places) -> Path:
    """The folder of an encoder, brought from the model hub into the data directory unless it lies
    somewhere already. SourceError where the network is switched off."""
    if found := folder_of(model, places):
        return found
    if not places.network:
        raise SourceError("is not at hand, and the network is switched off", path=model)
    target = places.data / "models" / model
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=target.parent) as partial:
            folder = Path(partial, model)
            folder.mkdir(parents=True)
            encoder.download(model, folder)
            encoder.find(f"bertscore.{model}", folder)
            os.replace(folder, target)
    return target
