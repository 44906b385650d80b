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
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from refless.availability import Reason
from refless.data.fetch import AbsentError, copy, download
from refless.data.places import Places
from refless.data.raw_files import Source, verify
from refless.errors import FormatError, KernelError, SourceError
from refless.kernels import bertscore
from refless.store.files import file_sum, partial_path, read_json, sum_now, write_json, writing

SUMS = "sums.json"
HUB = "model hub"
_WEIGHTS = "model.safetensors"
_DEADLINE = 4 * 3600.0  # seconds for one file of a model; weights have gigabytes
_LIMIT = 64 * 2**30  # bytes of one


def has_encoder(kernel: str) -> bool:
    """Whether a kernel is computed with an encoder, and so with torch."""
    return kernel.startswith(("bertscore.", "embedding."))


def folder_of(model: str, places: Places) -> Path:
    """Where a fetched model lies."""
    return places.data / "models" / model


def _elsewhere(model: str, places: Places) -> list[Path]:
    mirror, models = places.mirror_directory(), os.environ.get("REFLESS_MODELS")
    folders = [places.manual / "models" / model]
    folders += [] if mirror is None else [mirror / "models" / model]
    return folders + ([Path(models) / model] if models else [])


def why_not(
    kernel: str, places: Places, answers: Callable[[str], bool] | None = None
) -> Reason | None:
    """Why a kernel with an encoder cannot be computed here; None if it can.

    It is asked while jobs are planned, so neither torch nor a model is loaded.

    Parameters
    ----------
    answers : whether an address answers; without it, only what is at hand counts
    """
    if reason := lacking(kernel):
        return reason
    model = bertscore.model_name(kernel)
    if bertscore.in_package(model) is not None:
        return fault(kernel)
    if (folder_of(model, places) / "config.json").is_file():
        return fault(kernel, folder_of(model, places))
    faults = [fault(kernel, path) for path in _elsewhere(model, places) if path.is_dir()]
    if None in faults or (answers and any(map(answers, addresses(model, places)))):
        return None
    if faults:
        return faults[0]
    sentence = f"the encoder {model} is not at hand"
    if answers is not None:
        sentence += " and no hub answers" if places.network else " and the network is switched off"
    remedy = f"put its folder at {places.manual / 'models' / model}"
    return Reason("encoder_missing", sentence, remedy)


def fault(kernel: str, folder: Path | None = None) -> Reason | None:
    """Why a folder is not the encoder that a kernel is named after; None if it is.

    Without a folder, the one is meant that the kernel itself finds.
    """
    try:
        bertscore.find(kernel, folder)
    except KernelError as error:
        sentence = (
            f"the folder given for {bertscore.model_name(kernel)} does not hold it: {error.message}"
        )
        return Reason("encoder_missing", sentence, error.remedy)
    return None


def lacking(kernel: str) -> Reason | None:
    """Which package that a kernel with an encoder needs is not installed; None if all are."""
    for name in bertscore.PACKAGES["bertscore.*"]:
        if importlib.util.find_spec(name) is None:
            sentence = f"{kernel} needs {name}, which is not installed"
            return Reason("package_missing", sentence, "make torch")
    return None


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
    KernelError : the folder that is in the data directory already is not that model.
    SourceError : it has other sums than it had; or no place has the model.
    OutputError : the data directory cannot be written.
    """
    target = folder_of(model, places)
    if (target / SUMS).is_file():
        verify_encoder(target)
    elif (target / "config.json").is_file():
        bertscore.find(f"bertscore.{model}", target)
        _record(target)
    else:
        partial = partial_path(target)
        try:
            # Under the model's own name, for the kernel takes no other for a published model.
            with writing(target):
                (partial / model).mkdir(parents=True)
            _bring(model, places, partial / model)
            _record(partial / model)
            with writing(target):
                os.replace(partial / model, target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return target


def require_same(model: str, places: Places) -> None:
    """Make sure that a fetched model is still what lies where it may have come from.

    Raises
    ------
    SourceError : the first folder that has the model (placed by hand, in the mirror, in
        REFLESS_MODELS) holds another one than was taken.
    """
    target = folder_of(model, places)
    if not (target / SUMS).is_file():
        return
    for folder in _elsewhere(model, places):
        try:
            if fault(f"bertscore.{model}", folder):  # it is no place that has the model
                continue
            there = {path.name: sum_now(path) for path in _files(folder)}
        except OSError as error:
            raise SourceError(f"cannot be read: {error.strerror}", path=folder) from error
        except KernelError:  # an index of weights that is none
            continue
        taken = read_json(target / SUMS)
        if there != taken:
            names = sorted({*there, *taken})
            other = [name for name in names if there.get(name) != taken.get(name)]
            raise SourceError(
                f"is another model than {target}, which was taken from there or elsewhere:"
                f" {', '.join(other)} differ",
                path=folder,
                remedy=f"delete {target}, and it is taken anew; or move the other one away",
            )
        return


def _bring(model: str, places: Places, folder: Path) -> None:
    """Fill a folder with a model's files, from the first place that has the model."""
    everywhere: list[Path | str] = [*_elsewhere(model, places)]
    if mirror := places.mirror_address(f"models/{model}"):
        everywhere.append(mirror)
    if places.network:
        everywhere.append(HUB)
    tried = []
    for place in everywhere:
        try:
            if place == HUB:
                bertscore.download(model, folder)
                shutil.rmtree(folder / ".cache", ignore_errors=True)  # notes of the hub's client
            else:
                _take(place, folder)
            if (folder / SUMS).is_file():
                verify_encoder(folder)
            bertscore.find(f"bertscore.{model}", folder)
            return
        except (SourceError, KernelError) as error:
            tried.append(f"{place}: {error.message}")
            shutil.rmtree(folder)
            folder.mkdir()
    if not places.network:
        tried.append(f"{HUB}: not asked, the network is switched off in the settings")
    raise SourceError(
        "the encoder could not be had. Tried:\n  " + "\n  ".join(tried),
        path=model,
        remedy=f"put its folder at {places.manual / 'models' / model}, or into the mirror as"
        f" models/{model}, or point REFLESS_MODELS at the folder around it",
    )


def _take(place: Path | str, folder: Path) -> None:
    """Copy a model's files from a folder, or download them from below a URL.

    Raises
    ------
    SourceError : it is not whole there.
    KernelError : its index of weights is none.
    """

    def get(name: str) -> None:
        source = Source("model", f"models/{folder.name}/{name}")
        if isinstance(place, Path):
            copy(place / name, folder / name, source)
        else:
            download(f"{place}/{name}", folder / name, source, deadline=_DEADLINE, limit=_LIMIT)

    get("config.json")
    for name in (SUMS, *bertscore.TOKENIZER_FILES):
        with suppress(AbsentError):
            get(name)
    with suppress(AbsentError):
        get(_WEIGHTS)
        return
    with suppress(AbsentError):
        get(f"{_WEIGHTS}.index.json")
        for part in bertscore.weight_parts(folder / f"{_WEIGHTS}.index.json"):
            get(part)
        return
    raise SourceError("it has no weights, or not all")


def _record(folder: Path) -> None:
    write_json({path.name: file_sum(path) for path in _files(folder)}, folder / SUMS)


def _files(folder: Path) -> list[Path]:
    """The files of a model that are read: configuration, tokenizer, weights."""
    names = ["config.json", *bertscore.TOKENIZER_FILES]
    if not (folder / _WEIGHTS).is_file():
        names.append(f"{_WEIGHTS}.index.json")
    found = [path for name in names if (path := folder / name).is_file()]
    return found + bertscore.weight_files(folder)


def verify_encoder(folder: str | Path) -> str:
    """Compare a fetched model with the sums that were recorded when it was fetched (`verify`).

    Whoever reads the model calls it right before.

    Raises
    ------
    SourceError : a file is missing, new, or another than it was.
    """
    folder = Path(folder)
    meant = f"if the change is meant, delete {SUMS} alone"
    again = f"delete {folder} and fetch it again; {meant}"
    try:
        recorded = read_json(folder / SUMS)
        new = {path.name for path in _files(folder)} - set(recorded)
    except (FormatError, KernelError) as error:
        message = f"cannot be verified: {error.message}"
        raise SourceError(message, path=folder, remedy=again) from error
    if new:
        raise SourceError(f"{min(new)} is new since it was fetched", path=folder, remedy=again)
    return verify(folder, Source("model", folder.name, description=meant, members=recorded))
