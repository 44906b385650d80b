"""The encoders of kernels: where one lies, and how it is fetched. Stage: fetch, planning."""

import importlib.util
import os
import tempfile
from pathlib import Path

from refless.data.fetch import Places
from refless.errors import KernelError, Reason, SourceError
from refless.kernels import encoder, entry
from refless.store.files import writing


def has_encoder(kernel: str) -> bool:
    """Whether a kernel is computed with an encoder, and so with torch."""
    return kernel.startswith(("bertscore.", "embedding."))


def lacking(kernel: str) -> Reason | None:
    """Which package that a kernel needs is not installed; None if all are. KernelError if no kernel
    is called so."""
    for name in entry(kernel).packages:
        if importlib.util.find_spec(name) is None:
            remedy = "make torch" if has_encoder(kernel) else f"pip install {name}"
            sentence = f"{kernel} needs {name}, which is not installed"
            return Reason("package_missing", sentence, remedy)
    return None


def folder_of(model: str, places: Places) -> Path | None:
    """The folder in which a model lies; None if that is a package, or nowhere."""
    folders = [root / "models" / model for root in (places.data, *places.folders)]
    if models := os.environ.get("REFLESS_MODELS"):
        folders.append(Path(models) / model)
    return next((folder for folder in folders if folder.is_dir()), None)


def files_of(folder: Path) -> list[str]:
    """The files that an encoder is loaded from; its configuration, if there is none."""
    found = sorted(path.as_posix() for pattern in encoder.FILES for path in folder.glob(pattern))
    return found or [f"{folder.as_posix()}/config.json"]


def why_not(kernel: str, places: Places, folder: Path | None = None) -> Reason | None:
    """Why a kernel with an encoder, from this folder or wherever it lies on disk or in a package,
    cannot be computed here; None if it can. Neither torch nor a model is loaded."""
    model = encoder.model_name(kernel)
    folder = folder or folder_of(model, places)
    if (reason := lacking(kernel)) or (folder is None and encoder.in_package(model)):
        return reason
    if folder is None:
        remedy = f"run `snakemake fetch`, or put its folder at {places.manual / 'models' / model}"
        return Reason("encoder_missing", f"the encoder {model} is not at hand", remedy)
    try:
        encoder.find(kernel, folder)
    except KernelError as error:
        sentence = f"the folder given for {model} does not hold it: {error.message}"
        return Reason("encoder_missing", sentence, error.remedy)
    return None


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
