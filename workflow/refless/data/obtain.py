"""What this run can have: raw data, encoders, shipped numbers. The one place that looks.

Stage: none; asked once, when the rules are read. In: settings, the table of sources, the places to
look. Out: `refless.availability.Facts`, and the files that come with refless.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from refless.availability import COMPARED, COMPUTED, SHIPPED, TRAINED, WHOLE, Facts, Reason
from refless.data import encoders
from refless.data.fetch import Places, Source, read_sources, verify
from refless.data.task import read_with
from refless.errors import SourceError
from refless.kernels._registry import constants, module_path
from refless.kernels.bertscore import in_package, model_name
from refless.models.rnn_qe.names import PAPER, SHORT, trainings
from refless.store import signed
from refless.store.code import PACKAGE, decisive_sum
from refless.store.files import file_sum, files_below, require_as_listed, sum_now
from refless.store.shipping import DATA_SETS

WORDNET = "nltk/wordnet.zip"
NOTHING_COMPUTED = Reason(
    "numbers_shipped",
    "it is not shipped, and the setting numbers: shipped computes nothing",
    "set numbers: computed, or auto",
)
ENCODER_FILES = (".json", ".safetensors", ".bin", ".txt", ".model")
"""Endings of what an encoder is loaded from."""


@dataclass(frozen=True)
class ShippedFile:
    """A file that stands in for a computed one.

    result : its place in ``results``
    source : where it lies
    sum : SHA-256 of its bytes
    code : sum of the code that could make it stale
    group : the data set or experiment that it belongs to
    about : its record
    """

    result: str
    source: str
    sum: str
    code: str
    group: str
    about: dict[str, Any]


def shipped_files(shipped: str | Path, *own: str | Path) -> dict[str, ShippedFile]:
    """The files of folders that mirror ``results``, by their place there; later folders win.

    Parameters
    ----------
    shipped : what comes with refless, with a list of sums
    own : what was made here, without one

    Raises
    ------
    FormatError : a shipped file is missing, damaged or not listed: nothing would be missed where
        it is not there, and what it says of others would not be asked.
    """
    found = {}
    for folder in map(Path, (shipped, *own)):
        sums = {below: file_sum(folder / below) for below in files_below(folder)}
        if folder == Path(shipped) and folder.is_dir():
            require_as_listed(folder, {p.as_posix(): value for p, value in sums.items()})
        for below, content in sums.items():
            result = Path("results", below).as_posix()
            about = signed.record_of(folder / below)
            code = sorted({name for one in about["signatures"] for name in one["code"]})
            found[result] = ShippedFile(
                result,
                (folder / below).as_posix(),
                content,
                decisive_sum(*(name for name in code if (PACKAGE / name).is_file())),
                about["of"].get("task", below.parts[0]),
                about,
            )
    return found


def fitting(shipped: Mapping[str, ShippedFile], settings: Any) -> dict[str, ShippedFile]:
    """Those shipped files that were made under the choices of the configuration: from which raw
    files and how a data set is read, and what makes a neighbor.
    Others do not stand in; readers check all other settings.
    """
    read: dict[str, Any] = {}
    outputs: set[str] = set()
    for file in shipped.values():
        if file.about["kind"] == "texts":
            read[file.about["of"]["task"]] = file.about["settings"]
        elif file.about["kind"] == DATA_SETS:
            read |= file.about["facts"]["read"]
        elif file.result == "results/rnn_qe/outputs.csv":
            outputs = _named(file.about, "texts")
    other = {
        task
        for task, made in read.items()
        if (entry := settings.data.get(task)) is not None
        and made != read_with(entry.loader, entry.options, entry.files)
    }
    without_networks = bool(outputs & other) or outputs != set(settings.tasks("rnn_qe"))

    def fits(file: ShippedFile) -> bool:
        about = file.about
        if file.group == "rnn_qe" and without_networks and about["provenance"] == "shipped":
            return False
        hangs_on = set(map(str, about["of"].values()))
        return not other & hangs_on and _same_neighbors(about, settings)

    return {path: file for path, file in shipped.items() if fits(file)}


def _named(about: Mapping[str, Any], what: str) -> set[str]:
    """The data sets that a record's sums name: those of ``texts nem`` or ``references nem``."""
    keys = (key.partition(" ") for key in about["made_from"])
    return {name for first, _, name in keys if first == what and name}


def _same_neighbors(about: Mapping[str, Any], settings: Any) -> bool:
    """Whether a record's tau, a and b are those of the configuration."""
    neighbors, taus = settings.bleu_neighbors, settings.taus()
    named = about["of"].get("kernel", neighbors.models["bleu"].kernels[0])
    tau = taus.get(named)
    asked = {
        "kernel": neighbors.models["bleu"].kernels[0],
        "tau": tau,
        **dict.fromkeys(("a", "min_neighbors"), neighbors.min_neighbors),
        **dict.fromkeys(("b", "max_share"), neighbors.max_share),
    }
    found = about["settings"]
    kernels = found.get("kernels")
    used = kernels.items() if isinstance(kernels, Mapping) else ()
    pairs = [value if isinstance(value, list) else [kernel, value] for kernel, value in used]
    return all(found[name] == value for name, value in asked.items() if name in found) and all(
        taus.get(kernel) == value for kernel, value in pairs
    )


def groups(files: Iterable[ShippedFile]) -> dict[str, list[ShippedFile]]:
    """Files by their group: one job takes each."""
    found: dict[str, list[ShippedFile]] = {}
    for file in files:
        found.setdefault(file.group, []).append(file)
    return found


def places_of(settings: Any, resources: Path) -> Places:
    """Where to look for raw files; the environment goes before the settings."""
    return Places(
        data=resources / "data",
        manual=resources / "manual",
        mirror=os.environ.get("REFLESS_MIRROR") or settings.mirror,
        network=settings.network,
    )


def gather_facts(settings: Any, numbers: str, sources: dict[str, Source], places: Places) -> Facts:
    """What can be had, known from the disk and the settings alone.

    Raises
    ------
    SourceError : a user's own file is dated in the future.
    """

    def raw_file(path: str) -> Reason | None:
        if path in sources:
            return why_not(sources[path], places, numbers)
        if Path(path).is_file():
            if os.path.getmtime(path) > time.time() + 1:  # results would count as older than it
                message = "is dated in the future, so that no result of it would be up to date"
                raise SourceError(
                    message,
                    path=path,
                    remedy=f"touch {shlex.quote(path)}, or set this machine's clock",
                )
            return None
        remedy = "put it there, or mend its path under `data` in the configuration"
        return Reason("raw_file_missing", f"the file {path} is missing", remedy)

    def kernel(name: str) -> Reason | None:
        if name.startswith("meteor."):
            reason = why_not(sources[WORDNET], places, numbers)
            if reason is None or reason is NOTHING_COMPUTED:
                return reason
            sentence = f"METEOR needs {WORDNET}, which is missing"
            return replace(reason, code="wordnet_missing", sentence=sentence)
        if not encoders.has_encoder(name):
            return _lacking(name)
        folder = settings.options(name).get("model")
        if folder is not None:
            return encoders.why_not(name, places, Path(folder))
        return NOTHING_COMPUTED if numbers == SHIPPED else encoders.why_not(name, places)

    tasks = {
        task: [reason for path in entry.files.values() if (reason := raw_file(path))]
        for task, entry in settings.data.items()
    }
    kernels = {name: [reason] for name in every_kernel(settings) if (reason := kernel(name))}
    for name in {WHOLE, *trainings(SHORT, PAPER)} - set(settings.trained_now()):
        remedy = "set `rnn_qe: {train: auto}`, with torch (`make torch`)"
        kernels[f"{TRAINED}{name}"] = [Reason("not_trained", "not run", remedy)]
    if settings.comparison.networks != "run":
        remedy = "set `comparison: {networks: run}`, which needs torch"
        kernels[f"{TRAINED}{COMPARED}"] = [Reason("not_trained", "not run", remedy)]
    if not settings.tasks("rnn_qe"):
        kernels[TRAINED] = [
            Reason(
                "no_data_set",
                "no data set takes part in rnn_qe",
                "give one the role rated and others the role references",
            )
        ]
    left_out = {task: list(entry.skip_kernels) for task, entry in settings.data.items()}
    return Facts(numbers, tasks, kernels, left_out)


def at_hand(source: Source, places: Places) -> bool:
    """Whether a raw file lies on this machine."""
    return any(path.is_file() for path in (places.data / source.path, *places.local(source)))


def why_not(source: Source, places: Places, numbers: str) -> Reason | None:
    """Why a run cannot have a raw file, at hand or fetched on the way; None if it can."""
    if numbers == SHIPPED:
        return NOTHING_COMPUTED
    # a mirror behind a URL is taken at its word for files that have a public source
    mirrored = source.url and places.mirror and places.mirror_directory is None
    fetched = source.url and places.network and numbers == COMPUTED
    if mirrored or fetched or at_hand(source, places):
        return None
    also = "" if places.network else " and `network: true`"
    return Reason(
        "raw_file_missing",
        f"the raw file {source.path} is missing",
        f"put it at {places.manual / source.path} ({source.about})"
        + (f", or set `numbers: computed`{also}, which fetches it" if source.url else ""),
    )


def every_kernel(settings: Any) -> list[str]:
    """The kernels of all models, and those of the comparison."""
    return list(dict.fromkeys([*settings.kernels(), *settings.comparison.kernels]))


def _lacking(kernel: str) -> Reason | None:
    """Which package that a kernel names is not installed."""
    stated = constants(module_path(kernel)).get("PACKAGES", {})
    for package in stated.get(kernel) or stated.get(kernel.partition(".")[0] + ".*", ()):
        if find_spec(package) is None:
            sentence = f"{kernel} needs {package}, which is not installed"
            return Reason("package_missing", sentence, f"pip install {package}")
    return None


def resources_of(kernel: str, settings: Any, places: Places) -> tuple[list[str], dict[str, str]]:
    """What a kernel needs besides texts: files to wait for, and options that say where they lie."""
    if kernel.startswith("meteor."):
        path = (places.data / WORDNET).as_posix()
        return [path], {"wordnet": path}
    options = settings.options(kernel)
    if not encoders.has_encoder(kernel):
        return [], {}
    beside = [options["baseline"]] if "baseline" in options else []
    if "model" in options:
        return _encoder_files(Path(options["model"])) + beside, {}
    folder = encoders.folder_of(model_name(kernel), places)
    if folder is None:
        return beside, {}
    return _encoder_files(folder) + beside, {"model": folder.as_posix()}


def _encoder_files(folder: Path) -> list[str]:
    found = sorted(
        path.as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in ENCODER_FILES
    )
    return found or [f"{folder.as_posix()}/config.json"]


def as_it_lies(kernel: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Sums of what a kernel is computed with and nothing fetches: a user's own encoder, one that is
    part of a package, a baseline. Others in their place are others, whatever their times say.
    """
    if not encoders.has_encoder(kernel):
        return {}
    own = options.get("model") or in_package(model_name(kernel))
    # by their names in the folder: a package may lie anywhere
    named = (
        {Path(path).relative_to(own).as_posix(): path for path in _encoder_files(Path(own))}
        if own
        else {}
    )
    if "baseline" in options:
        named["baseline"] = options["baseline"]
    return {n: sum_now(p) for n, p in named.items() if Path(p).is_file()}


def verify_resources(options: Mapping[str, Mapping[str, Any]]) -> None:
    """Check the files that kernels are computed with, right before they are read.

    Parameters
    ----------
    options : kernel -> its options, of which ``wordnet`` says where that lies

    Raises
    ------
    SourceError : it is not what the table of sources says.
    """
    for own in options.values():
        if "wordnet" in own:
            verify(own["wordnet"], read_sources()[WORDNET])
