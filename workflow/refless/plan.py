"""The plan: what each result is made from, and where it comes from.

Stage: none. In: settings, the table of sources, what lies on the disk, the manifest of shipped
files. Out: of each path its place (`Plan.find`) or one reason why there is none (`Plan.why_not`).
No address is asked. Tested without Snakemake.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from refless import encoders
from refless.data.fetch import WORDNET, Places, Source
from refless.errors import FormatError, Reason, ReflessError
from refless.kernels.encoder import in_package, model_name
from refless.models.rnn_qe.names import NAMES
from refless.settings import Settings
from refless.shipping import BACK, read_manifest
from refless.store.files import file_sum
from refless.store.sealed import read_beside


@dataclass(frozen=True)
class Result:
    """What decides a kind of result.

    tasks : data sets, by the wildcards of the path; or an experiment, for all that take part in it
    kernels : kernels computed on the way, from the settings and the wildcards
    settings : dotted paths of settings
    optional : whether the result does without kernels that cannot be computed; if not, each
        kernel's tau decides, too
    trained : whether it is of networks that a run may leave to what is shipped
    """

    tasks: tuple[str, ...]
    kernels: Callable[[Settings, Mapping[str, str]], Iterable[str]] = lambda *_: ()
    settings: tuple[str, ...] = ()
    optional: bool = False
    trained: bool = False


def _bleu(settings: Settings, _: Mapping[str, str]) -> list[str]:
    return settings.bleu_neighbors.models["bleu"].kernels


def _compared(settings: Settings, names: Mapping[str, str]) -> list[str]:
    skipped = settings.data[names["task"]].skip_kernels
    return [kernel for kernel in settings.comparison.kernels if kernel not in skipped]


NEIGHBORS = "bleu_neighbors.min_neighbors", "bleu_neighbors.max_share"
RNN_QE = Result(("rnn_qe",), settings=("rnn_qe.seed",))
RESULTS = {
    "ratings/{task}/texts.csv": Result(("{task}",)),
    "ratings/{task}/ratings.csv": Result(("{task}",)),
    "neighbors/{task}/{kernel}.csv": Result(("{task}",), lambda _, names: [names["kernel"]]),
    "curves/{task}/data_size.csv": Result(
        ("{task}",), lambda *of: _bleu(*of)[:1], (*NEIGHBORS, "bleu_neighbors.seed")
    ),
    "cross_task/{source}.{target}.csv": Result(("{source}", "{target}"), _bleu),
    "essays/estimates.csv": Result(("essays",)),
    "delta_bleu/{task}/units.csv": Result(
        ("{task}",), settings=("delta_bleu", "data.{task}.experiments.delta_bleu")
    ),
    "comparison/{task}.csv": Result(
        ("{task}",),
        _compared,
        ("comparison.draws", "comparison.repeats", "comparison.seed"),
        optional=True,
    ),
    "comparison/networks/{task}.csv": Result(
        ("{task}",), settings=("comparison.seed",), trained=True
    ),
    "rnn_qe/outputs.csv": RNN_QE,
    "rnn_qe/curve.csv": RNN_QE,
    "rnn_qe/predictions/{name}/{seed}.csv.gz": replace(RNN_QE, trained=True),
}
"""Pattern of a path in ``results`` -> what decides it. A result of others alone is not here."""


@dataclass(frozen=True)
class Plan:
    """Where each result comes from, and why some cannot be had.

    shipped : folder with what comes with refless, whose file ``manifest.csv`` lists it
    """

    settings: Settings
    sources: Mapping[str, Source]
    places: Places
    shipped: Path = Path("resources/shipped")

    # ---- results ------------------------------------------------------------------------------

    def find(self, path: str) -> str | None:
        """Where a path of ``results`` lies or will lie: there, among what is shipped, or nowhere.
        Raises FormatError: the shipped file is not the one that the manifest lists."""
        found = self._where(path)
        return found if isinstance(found, str) else None

    def why_not(self, path: str) -> Reason | None:
        """Why a result cannot be had; None if it can."""
        found = self._where(path)
        return None if isinstance(found, str) else found

    def _where(self, path: str) -> str | Reason:
        below, names, result = self._match(path)
        against = self._against(names, result)
        if against is None:
            return path
        if against.code in ("left_out", "no_data_set") or below not in self._manifest:
            return against
        sha256, digest = self._manifest[below]
        if digest != self.digest(path):
            remedy = f"set them back, or compute it: {against.remedy}"
            return Reason("settings", "what comes with refless is of other settings", remedy)
        return str(_whole(self.shipped / below, sha256))

    def there(self, paths: Iterable[str]) -> list[str]:
        """Where those of the results lie that this run has."""
        return [found for path in paths if (found := self.find(path))]

    def missing(self, paths: Iterable[str]) -> list[dict[str, Any]]:
        """Why the others cannot be had, as plain data: ``of`` has the wildcards of a path; the
        rest is the reason's."""
        return [
            {"of": self._match(path)[1], **asdict(reason)}
            for path in paths
            if (reason := self.why_not(path))
        ]

    def lacking(self, kernels: Iterable[str]) -> dict[str, Reason]:
        """Those of the kernels that cannot be computed, and why."""
        return {kernel: reason for kernel in kernels if (reason := self.kernel(kernel))}

    def compared(self, task: str) -> list[str]:
        """The kernels with which methods are compared on a data set."""
        return [k for k in _compared(self.settings, {"task": task}) if not self.kernel(k)]

    def left_out(self, task: str) -> list[tuple[str, str]]:
        """Method and kernel of what the comparison on a data set is without."""
        compared = self.compared(task)
        lost = [("neighbors", k) for k in self.settings.comparison.kernels if k not in compared]
        untrained = self.why_not(f"comparison/networks/{task}.csv")
        return [*lost, ("rnn_qe", "")] if untrained else lost

    def recipe(self, path: str) -> dict[str, Any]:
        """All that decides a result, but for code: how data sets are read, kernels, settings."""
        _, names, result = self._match(path)
        settings: dict[str, Any] = {}
        for dotted in result.settings:
            value: Any = self.settings
            for part in dotted.format(**names).split("."):
                value = value[part] if isinstance(value, Mapping) else getattr(value, part)
            settings[dotted] = value.model_dump() if isinstance(value, BaseModel) else value
        options = {k: self.settings.options(k) for k in result.kernels(self.settings, names)}
        if not result.optional:
            options = {k: own | {"tau": self.settings.taus()[k]} for k, own in options.items()}
        return {
            "data": {task: self._read(task, result) for task in self._tasks(names, result)},
            "kernels": options,
            "settings": settings,
        }

    def digest(self, path: str) -> str:
        """SHA-256 of the recipe."""
        return hashlib.sha256(json.dumps(self.recipe(path), sort_keys=True).encode()).hexdigest()

    def shippable(self) -> dict[str, str]:
        """What this run computes of what may be shipped -> its digest; ratings, where tables are
        made from them and nothing else."""
        tasks = self.settings.tasks("bleu_neighbors")
        values: dict[str, Sequence[Any]] = {
            "source": tasks,
            "target": tasks,
            "kernel": self.settings.kernels(),
            "name": list(NAMES),
            "seed": range(self.settings.rnn_qe.seeds),
        }
        found = {}
        for pattern in RESULTS:
            values["task"] = tasks if pattern.startswith("ratings/") else list(self.settings.data)
            names = re.findall(r"\{(\w+)\}", pattern)
            for chosen in product(*(values[name] for name in names)):
                path = "results/" + pattern.format(**dict(zip(names, chosen, strict=True)))
                if self.find(path) == path:
                    found[path] = self.digest(path)
        return found

    def _read(self, task: str, result: Result) -> dict[str, Any]:
        entry = self.settings.data[task]
        sums = {path: source.sha256 or path for path, source in self.sources.items()}
        files = {name: sums.get(path, path) for name, path in entry.files.items()}
        named = [name for name in result.tasks if "{" not in name]
        return {
            "loader": entry.loader,
            "options": entry.options,
            "files": files,
            **{name: self.settings.experiment(task, name).model_dump() for name in named},
        }

    def _match(self, path: str) -> tuple[str, dict[str, str], Result]:
        below = path.removeprefix("results/")
        for pattern, result in RESULTS.items():
            if found := _pattern(pattern).fullmatch(below):
                return below, found.groupdict(), result
        raise KeyError(f"{path}: no entry of refless.plan.RESULTS says what decides it")

    def _tasks(self, names: Mapping[str, str], result: Result) -> list[str]:
        return [
            task
            for one in result.tasks
            for task in ([one.format(**names)] if "{" in one else self.settings.tasks(one))
        ]

    def _against(self, names: Mapping[str, str], result: Result) -> Reason | None:
        """The first reason why a result cannot be computed."""
        tasks = self._tasks(names, result)
        if not tasks or not set(tasks) <= set(self.settings.data):
            remedy = "add it to the `experiments` of one under `data`"
            return Reason("no_data_set", "no data set of the configuration takes part", remedy)
        kernels = [] if result.optional else list(result.kernels(self.settings, names))
        for task in tasks:
            if set(kernels) & set(self.settings.data[task].skip_kernels):
                remedy = "take it off the data set's `skip_kernels`"
                return Reason("left_out", "the configuration leaves this kernel out", remedy)
        if result.trained and (reason := self._untrained(names)):
            return reason
        for task in tasks:
            for path in self.settings.data[task].files.values():
                if reason := self.raw_file(path):
                    return reason
        return next(iter(self.lacking(kernels).values()), None)

    def _untrained(self, names: Mapping[str, str]) -> Reason | None:
        if "name" not in names:
            trained = self.settings.comparison.networks == "run"
            remedy = "set `comparison: {networks: run}`, which needs torch"
        else:
            trained = "seed" in names and names["name"] in self.settings.trained_now()
            remedy = "set `rnn_qe: {train: auto}`, with torch (`make torch`)"
        return None if trained else Reason("not_trained", "its networks are not trained", remedy)

    @cached_property
    def _manifest(self) -> dict[str, tuple[str, str]]:
        return read_manifest(self.shipped)

    # ---- raw files and kernels ----------------------------------------------------------------

    def place(self, path: str) -> str:
        """Where a raw file is read: placed by hand, else fetched to the data directory; a user's
        own where it lies."""
        if path not in self.sources:
            return path
        placed = self.places.manual / path
        return (placed if placed.is_file() else self.places.data / path).as_posix()

    def raw_file(self, path: str) -> Reason | None:
        """Why a raw file cannot be had, at hand or fetched on the way; None if it can."""
        if path not in self.sources:
            if Path(path).is_file():
                return None
            remedy = "put it there, or mend its path under `data` in the configuration"
            return Reason("raw_file_missing", f"the file {path} is missing", remedy)
        source, places = self.sources[path], self.places
        here = any((folder / path).is_file() for folder in (places.data, *places.folders))
        if here or (source.url and places.addresses(source)):
            return None
        also = ", or run with `network: true`, which fetches it" if source.url else ""
        remedy = f"put it at {places.manual / path} ({source.about}){also}"
        return Reason("raw_file_missing", f"the raw file {path} is missing", remedy)

    def sums(self, task: str) -> dict[str, str]:
        """Sums of a data set's raw files: the published ones, else of what lies here."""
        found = {}
        for path in self.settings.data[task].files.values():
            source = self.sources.get(path)
            local = [folder / path for folder in self.places.folders] if source else []
            here = [one for one in (Path(self.place(path)), *local) if one.is_file()]
            if source and source.sha256:
                found[path] = source.sha256
            elif here:
                found[path] = file_sum(here[0])
        return found

    def kernel(self, name: str) -> Reason | None:
        """Why a kernel cannot be computed; None if it can."""
        if encoders.has_encoder(name):
            folder = self.settings.options(name).get("model")
            return encoders.why_not(name, self.places, Path(folder) if folder else None)
        if reason := encoders.lacking(name):
            return reason
        if name.startswith("meteor.") and (reason := self.raw_file(WORDNET)):
            return Reason("wordnet_missing", f"METEOR needs {WORDNET}", reason.remedy)
        return None

    def resources(self, kernel: str) -> tuple[list[str], dict[str, str]]:
        """What a kernel needs besides texts: files to wait for, and options that say where they
        lie."""
        if kernel.startswith("meteor."):
            path = self.place(WORDNET)
            return [path], {"wordnet": path}
        if not encoders.has_encoder(kernel):
            return [], {}
        options = self.settings.options(kernel)
        beside = [options["baseline"]] if "baseline" in options else []
        folder = encoders.folder_of(model_name(kernel), self.places)
        if "model" in options or folder is None:
            own = encoders.files_of(Path(options["model"])) if "model" in options else []
            return own + beside, {}
        return encoders.files_of(folder) + beside, {"model": folder.as_posix()}

    def options(self, kernel: str) -> dict[str, Any]:
        """A kernel's options of the configuration, and those of `resources`."""
        return self.settings.options(kernel) | self.resources(kernel)[1]

    def downloads(self) -> list[str]:
        """All that can be fetched: raw files, and encoders where torch is installed."""
        models = {
            model_name(kernel)
            for kernel in [*self.settings.kernels(), *self.settings.comparison.kernels]
            if encoders.has_encoder(kernel)
            and not encoders.lacking(kernel)
            and "model" not in self.settings.options(kernel)
        }
        return [*self.sources, *sorted(f"models/{one}" for one in models if not in_package(one))]

    def own_encoder(self, kernel: str) -> dict[str, str]:
        """Sums of what a kernel is computed with and nothing fetches: a user's own encoder, one
        that is part of a package, a baseline."""
        if not encoders.has_encoder(kernel):
            return {}
        options = self.settings.options(kernel)
        own = options.get("model") or in_package(model_name(kernel))
        # by their names in the folder: a package may lie anywhere
        files = encoders.files_of(Path(own)) if own else []
        named = {Path(path).relative_to(str(own)).as_posix(): path for path in files}
        if "baseline" in options:
            named["baseline"] = options["baseline"]
        return {name: _sum(path) for name, path in named.items() if Path(path).is_file()}


@cache
def _pattern(path: str) -> re.Pattern[str]:
    """A path with wildcards as a regular expression; a wildcard holds anything but a slash."""
    parts = re.split(r"\{(\w+)\}", path)
    named = [f"(?P<{part}>[^/]+)" if i % 2 else re.escape(part) for i, part in enumerate(parts)]
    return re.compile("".join(named))


_sum = cache(file_sum)  # a model has gigabytes


@cache
def _whole(path: Path, sha256: str) -> Path:
    if not path.is_file() or file_sum(path) != sha256:
        raise FormatError("is not the file that manifest.csv lists", path=path, remedy=BACK)
    return path


def opening_line(trained: Collection[str]) -> str:
    """What a run says before it trains RNN-QE: an entry of `NAMES` for each job."""
    each = [NAMES[name] for name in trained]
    networks, hours = sum(one.networks for one in each), sum(one.hours for one in each)
    return (
        f"refless: trains {networks} networks of RNN-QE in {len(trained)} jobs, about"
        f" {hours:.1f} hours of one core (without: make, or train: never below rnn_qe)"
    )


def closing_lines(
    asked: Sequence[str], made: Collection[str], absent: Sequence[Mapping[str, Any]], seconds: float
) -> list[str]:
    """What a run says in the end: where the files are, and where their numbers came from.

    asked, made : files of its targets, and all that these hang on
    absent : `Plan.missing`, as it came up
    """
    records = [path for path in made if re.fullmatch(r"results/tables/.*\.json", path)]
    figures = [path for path in made if re.fullmatch(r"results/figures/.*\.pdf", path)]
    rows = Counter(computed=0, shipped=0, absent=0)
    try:
        for path in records:
            rows.update(read_beside(path)["source"])
    except ReflessError as error:
        return [f"error: {error}"]
    first = f" (first: {absent[0]['sentence']})" if rows["absent"] and absent else ""
    counts = ", ".join(f"{n} {name}" for name, n in rows.items())
    lines = {
        "report": str(Path("results/report.html").resolve()) * ("results/report.html" in made),
        "tables": f"{len(records)} in {Path('results/tables').resolve()}" * bool(records),
        "figures": f"{len(figures)} in {Path('results/figures').resolve()}" * bool(figures),
        "rows": f"{counts}{first}" * bool(records),
        "files": str(Path(asked[0]).resolve().parent) * (not records and not figures),
        "time": f"{seconds:.0f} s",
        "next": "change config/config.yaml and run again; `refless compare` takes your own ratings",
    }
    return [f"{name:8} {said}" for name, said in lines.items() if said]
