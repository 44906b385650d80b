"""What this run can have: raw data, encoders, shipped numbers. The one place that looks.

Stage: none; asked once, when the rules are read. In: settings, the table of sources, the places to
look. Out: `refless.availability.Facts`, and the files that come with refless.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from refless.availability import COMPUTED, TRAINED, Facts, Reason
from refless.data import encoders, fetch
from refless.data.fetch import Places, Source
from refless.store import signed
from refless.store.code import decisive_sum
from refless.store.files import file_sum

WORDNET = "nltk/wordnet.zip"


@dataclass(frozen=True)
class ShippedFile:
    """A file that stands in for a computed one.

    result : its place in ``results``
    source : where it lies
    sum : SHA-256 of its bytes
    code : sum of the code that could make it stale
    group : the data set or experiment that it belongs to
    """

    result: str
    source: str
    sum: str
    code: str
    group: str


def shipped_files(*folders: str | Path) -> dict[str, ShippedFile]:
    """The files of folders that mirror ``results``, by their place there; later folders win."""
    found = {}
    for folder in map(Path, folders):
        for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.name[0] != "."):
            below = path.relative_to(folder)
            result = Path("results", below).as_posix()
            about = signed.record_of(path)
            code = sorted({name for one in about["signatures"] for name in one["code"]})
            found[result] = ShippedFile(
                result,
                path.as_posix(),
                file_sum(path),
                decisive_sum(*(name for name in code if _is_there(name))),
                about["of"].get("task", below.parts[0]),
            )
    return found


def _is_there(name: str) -> bool:
    from refless.store.code import PACKAGE

    return (PACKAGE / name).is_file()


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
    """What can be had; addresses are asked where only an answer tells, each once."""
    answers = cache(fetch.answers)
    tasks = {
        task: [
            reason
            for path in entry.files.values()
            if (reason := _raw(path, numbers, sources, places, answers))
        ]
        for task, entry in settings.data.items()
    }
    kernels = {
        kernel: [reason]
        for kernel in settings.all_kernels()
        if (reason := _kernel(kernel, settings, numbers, sources, places, answers))
    }
    if settings.rnn_qe.train != "run":
        for name in settings.trainings():
            command = f"snakemake --cores 8 resources/trained/rnn_qe/predictions/{name}.csv.gz"
            kernels[f"{TRAINED}{name}"] = [
                Reason("not_trained", "not run", f"`{command}` trains it, then run again")
            ]
    left_out = {task: list(entry.skip_kernels) for task, entry in settings.data.items()}
    return Facts(numbers, tasks, kernels, left_out)


def _raw(
    path: str,
    numbers: str,
    sources: dict[str, Source],
    places: Places,
    answers: Callable[[str], bool],
) -> Reason | None:
    if path in sources:
        return fetch.obtainable(sources[path], places, numbers, answers)
    if Path(path).is_file():
        return None
    return Reason(
        "raw_file_missing",
        f"the file {path} is missing",
        "put it there, or mend its path under `data` in the configuration",
    )


def _kernel(
    kernel: str,
    settings: Any,
    numbers: str,
    sources: dict[str, Source],
    places: Places,
    answers: Callable[[str], bool],
) -> Reason | None:
    if kernel.startswith("meteor."):
        reason = fetch.obtainable(sources[WORDNET], places, numbers, answers)
        if reason is None:
            return None
        return Reason("wordnet_missing", f"METEOR needs WordNet: {reason.sentence}", reason.remedy)
    if not encoders.has_encoder(kernel):
        return None
    folder = settings.options(kernel).get("model")
    if folder is not None:
        return encoders.lacking(kernel) or encoders.fault(kernel, Path(folder))
    return encoders.why_not(kernel, places, answers if numbers == COMPUTED else None)


def resources_of(kernel: str, settings: Any, places: Places) -> tuple[list[str], dict[str, str]]:
    """What a kernel needs besides texts: files to wait for, and options that say where they lie."""
    if kernel.startswith("meteor."):
        path = (places.data / WORDNET).as_posix()
        return [path], {"wordnet": path}
    options = settings.options(kernel)
    if not encoders.has_encoder(kernel):
        return [], {}
    if "model" in options:
        files = [f"{options['model']}/config.json"]
        return files + ([options["baseline"]] if "baseline" in options else []), {}
    model = encoders.fetched_model(kernel)
    if not model:
        return [], {}
    folder = (places.data / "models" / model).as_posix()
    return [f"{folder}/sums.json"], {"model": folder}
