"""The plan: what each result is made from, and where it comes from.

Stage: none. In: settings, the table of sources, what lies on the disk, the manifest of shipped
files. Out: of each path its place (`Plan.find`) or one reason why there is none (`Plan.why_not`).
No address is asked.
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
from refless.data.places import WORDNET, Places, Source
from refless.errors import FormatError, Reason, ReflessError, SettingError
from refless.kernels.encoder import FILES, is_model, model_name
from refless.models.rnn_qe.names import NAMES
from refless.settings import Settings
from refless.shipping import BACK, read_manifest
from refless.store.files import file_sum
from refless.store.sealed import read_record, recorded_sum


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
    skipped = settings.data[names["dataset"]].skip_kernels
    return [kernel for kernel in settings.comparison.kernels if kernel not in skipped]


NEIGHBORS = "bleu_neighbors.min_neighbors", "bleu_neighbors.max_share"
RNN_QE = Result(("rnn_qe",), settings=("rnn_qe.seed",))
RESULTS = {
    "ratings/{dataset}/texts.csv": Result(("{dataset}",)),
    "ratings/{dataset}/ratings.csv": Result(("{dataset}",)),
    "neighbors/{dataset}/{kernel}.csv": Result(("{dataset}",), lambda _, names: [names["kernel"]]),
    "curves/{dataset}/data_size.csv": Result(
        ("{dataset}",), lambda *of: _bleu(*of)[:1], (*NEIGHBORS, "bootstrap.seed")
    ),
    "cross_task/{source_dataset}.{target_dataset}.csv": Result(
        ("{source_dataset}", "{target_dataset}"), _bleu
    ),
    "essays/estimates.csv": Result(("essays",)),
    "delta_bleu/{dataset}/units.csv": Result(
        ("{dataset}",), settings=("delta_bleu", "data.{dataset}.experiments.delta_bleu")
    ),
    "comparison/{dataset}.csv": Result(
        ("{dataset}",),
        _compared,
        (
            *("comparison.draws", "comparison.repeats", "comparison.seed"),
            "data.{dataset}.experiments.comparison",
        ),
        optional=True,
    ),
    "comparison/networks/{dataset}.csv": Result(
        ("{dataset}",), settings=("comparison.seed",), trained=True
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
        below, names, result = self._match(path)
        if self.why_not(path):
            return None
        if not self._against(names, result):
            return path
        return str(_whole(self.shipped / below, self._manifest[below][0]))

    def why_not(self, path: str) -> Reason | None:
        """Why a result can be neither computed nor read from what is shipped; None if it can."""
        below, names, result = self._match(path)
        against = self._against(names, result)
        never = against and against.code in ("left_out", "no_data_set")
        if not against or never or below not in self._manifest:
            return against
        if self._manifest[below][1] != self.digest(path):
            return Reason("settings", "what comes with refless is of other settings")
        return None

    def available(self, paths: Iterable[str]) -> list[str]:
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

    def compared(self, dataset: str) -> list[str]:
        """The kernels with which methods are compared on a data set."""
        return [k for k in _compared(self.settings, {"dataset": dataset}) if not self.kernel(k)]

    def digest(self, path: str) -> str:
        """SHA-256 of all that decides a result but for code: how data sets are read, kernels,
        settings."""
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
        data = {dataset: self._read(dataset, result) for dataset in self._tasks(names, result)}
        recipe = {"data": data, "kernels": options, "settings": settings}
        return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()

    def shippable(self) -> dict[str, str]:
        """What this run computes of what may be shipped -> its digest; ratings, where tables are
        made from them and nothing else."""
        tasks = self.settings.tasks("bleu_neighbors")
        values: dict[str, Sequence[Any]] = {
            "source_dataset": tasks,
            "target_dataset": tasks,
            "kernel": self.settings.kernels(),
            "name": list(NAMES),
            "seed": range(self.settings.rnn_qe.seeds),
        }
        found = {}
        for pattern in RESULTS:
            values["dataset"] = (
                tasks if pattern.startswith("ratings/") else list(self.settings.data)
            )
            names = re.findall(r"\{(\w+)\}", pattern)
            for chosen in product(*(values[name] for name in names)):
                path = "results/" + pattern.format(**dict(zip(names, chosen, strict=True)))
                if self.find(path) == path:
                    found[path] = self.digest(path)
        return found

    def _read(self, dataset: str, result: Result) -> dict[str, Any]:
        entry = self.settings.data[dataset]
        sums = {path: source.sha256 or path for path, source in self.sources.items()}
        files = {name: sums.get(path, path) for name, path in entry.files.items()}
        named = [name for name in result.tasks if "{" not in name]
        return {
            "loader": entry.loader,
            "options": entry.options,
            "files": files,
            **{name: getattr(entry.experiments, name).model_dump() for name in named},
        }

    def _match(self, path: str) -> tuple[str, dict[str, str], Result]:
        below = path.removeprefix("results/")
        for pattern, result in RESULTS.items():
            if found := _pattern(pattern).fullmatch(below):
                return below, found.groupdict(), result
        raise KeyError(f"{path}: no entry of refless.plan.RESULTS says what decides it")

    def _tasks(self, names: Mapping[str, str], result: Result) -> list[str]:
        return [
            dataset
            for one in result.tasks
            for dataset in ([one.format(**names)] if "{" in one else self.settings.tasks(one))
        ]

    def _against(self, names: Mapping[str, str], result: Result) -> Reason | None:
        """The first reason why a result cannot be computed."""
        tasks = self._tasks(names, result)
        if not tasks or not set(tasks) <= set(self.settings.data):
            return Reason("no_data_set", "no data set of the configuration takes part")
        entries = [self.settings.data[dataset] for dataset in tasks]
        kernels = [] if result.optional else list(result.kernels(self.settings, names))
        if any(set(kernels) & set(entry.skip_kernels) for entry in entries):
            return Reason("left_out", "the configuration leaves this kernel out")
        if result.trained and not self._trains(names):
            return Reason("not_trained", "its networks are not trained")
        files = [path for entry in entries for path in entry.files.values()]
        reasons = [*map(self.raw_file, files), *map(self.kernel, kernels)]
        return next(filter(None, reasons), None)

    def _trains(self, names: Mapping[str, str]) -> bool:
        """Whether this run trains these networks: RNN-QE's by name, else those of `comparison`."""
        if "name" in names:
            return names["name"] in self.settings.trained_now()
        return self.settings.comparison.networks == "run"

    @cached_property
    def _manifest(self) -> dict[str, tuple[str, str]]:
        return read_manifest(self.shipped)

    # ---- findings -----------------------------------------------------------------------------

    def digest_of_findings(self) -> str:
        """SHA-256 of the settings that the findings hang on: not of where raw files come from, how
        data sets look and how networks are trained; nor of a user's own data sets, unless they are
        put together with others."""
        left_out: dict[str, Any] = {
            "mirror": True,
            "network": True,
            "rnn_qe": {"train", "device"},
            "comparison": {"networks"},
            "data": {"__all__": {"name", "colour", "blocks"}},
        }
        recipe = self.settings.model_dump(exclude=left_out)
        pooled = {*self.settings.tasks("rnn_qe"), *self.settings.tasks("essays")}
        for dataset, entry in self.settings.data.items():
            if not pooled & {dataset} and not set(entry.files.values()) <= set(self.sources):
                del recipe["data"][dataset]
        return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()

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
        source = self.sources.get(path)
        fetched = source and self.places.addresses(source)
        if fetched or self._at_hand(path):
            return None
        return Reason("raw_file_missing", f"the raw file {path} is missing")

    def check(self) -> None:
        """Raises SettingError: a user's own file, or a mirror's folder, is not there."""
        remedy = "mend the path in the configuration, or put it there"
        for folder in self.places.folders[1:]:
            if not folder.is_dir():
                raise SettingError("is no folder", path=f"mirror {folder}", remedy=remedy)
        for dataset, entry in self.settings.data.items():
            for name, path in entry.files.items():
                if path not in self.sources and not Path(path).is_file():
                    where = f"data.{dataset}.files.{name}"
                    raise SettingError(f"there is no file {path}", path=where, remedy=remedy)

    def sums(self, dataset: str) -> dict[str, str]:
        """Sums of a data set's raw files: the published ones, else of what lies here."""
        found = {}
        for path in self.settings.data[dataset].files.values():
            source, here = self.sources.get(path), self._at_hand(path)
            if source and source.sha256:
                found[path] = source.sha256
            elif here:
                found[path] = file_sum(here)
        return found

    def _at_hand(self, path: str) -> Path | None:
        """Where a raw file lies: where it is read, placed by hand, or in a mirror's folder."""
        folders = self.places.folders if path in self.sources else []
        found = [Path(self.place(path)), *(folder / path for folder in folders)]
        return next(filter(Path.is_file, found), None)

    def kernel(self, name: str) -> Reason | None:
        """Why a kernel cannot be computed; None if it can."""
        if package := encoders.lacking(name):
            return Reason("package_missing", f"{name} needs {package}, which is not installed")
        if name.startswith("meteor.") and self.raw_file(WORDNET):
            return Reason("wordnet_missing", f"METEOR needs {WORDNET}")
        folder = self.options(name).get("model")
        if encoders.has_encoder(name) and not (folder and is_model(Path(folder))):
            return Reason("encoder_missing", f"the encoder {model_name(name)} is not at hand")
        return None

    def options(self, kernel: str) -> dict[str, Any]:
        """A kernel's options: those of the configuration, and where its files lie."""
        found = self.settings.options(kernel)
        if kernel.startswith("meteor."):
            found["wordnet"] = self.place(WORDNET)
        elif encoders.has_encoder(kernel):
            folder = found.get("model") or encoders.folder_of(model_name(kernel), self.places)
            if folder:
                found["model"] = str(folder)
        return found

    def files(self, kernel: str) -> list[str]:
        """The files that a kernel needs besides texts."""
        options = self.options(kernel)
        found = [options[name] for name in ("wordnet", "baseline") if name in options]
        if "model" in options:
            folder = Path(options["model"])
            found += sorted(str(path) for pattern in FILES for path in folder.glob(pattern))
        return found

    def downloads(self) -> list[str]:
        """All that can be fetched: raw files, and encoders where torch is installed."""
        models = {
            f"models/{model_name(kernel)}"
            for kernel in [*self.settings.kernels(), *self.settings.comparison.kernels]
            if encoders.has_encoder(kernel)
            and not encoders.lacking(kernel)
            and "model" not in self.options(kernel)
        }
        return [*self.sources, *sorted(models)]


@cache
def _pattern(path: str) -> re.Pattern[str]:
    """A path with wildcards as a regular expression; a wildcard holds anything but a slash."""
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path)))


@cache
def _whole(path: Path, sha256: str) -> Path:
    if not path.is_file() or {file_sum(path), recorded_sum(path)} != {sha256}:
        message = "is not the file that manifest.csv lists, or its record is missing or another"
        raise FormatError(message, path=path, remedy=BACK)
    return path


def opening_line(trained: Collection[str]) -> str:
    """What a run says before it trains RNN-QE: an entry of `NAMES` for each job."""
    each = [NAMES[name] for name in trained]
    networks, hours = sum(one.networks for one in each), sum(one.hours for one in each)
    return (
        f"refless: trains {networks} networks of RNN-QE in {len(trained)} jobs, about"
        f" {hours:.1f} hours of one core (without: make, or train: never below rnn_qe)"
    )


def closing_lines(asked: Sequence[str], made: Collection[str], seconds: float) -> list[str]:
    """What a run says in the end: where the files are, and where their numbers came from.

    asked, made : files of its targets, and all that these hang on
    """
    records = [path for path in made if re.fullmatch(r"results/tables/.*\.csv", path)]
    figures = [path for path in made if re.fullmatch(r"results/figures/.*\.pdf", path)]
    rows, absent = Counter(computed=0, shipped=0, absent=0), Counter[str]()
    try:
        for metadata in (read_record(path)["metadata"] for path in records):
            rows.update(metadata["provenance_counts"])
            absent.update(metadata["reason"])
    except ReflessError as error:
        return [f"error: {error}"]
    # what a changed setting took away comes first
    reasons = sorted(absent, key=lambda word: (word != "settings", -absent[word], word))
    counts = ", ".join(f"{n} {name}" for name, n in rows.items())
    counts += " (" * bool(reasons) + ", ".join(f"{absent[word]} {word}" for word in reasons)
    report = Path("results/report.html")
    lines = {
        "report": _report_line(report, [*records, *figures], str(report) in made),
        "tables": f"{len(records)} in {Path('results/tables').resolve()}" * bool(records),
        "figures": f"{len(figures)} in {Path('results/figures').resolve()}" * bool(figures),
        "rows": (counts + ")" * bool(reasons)) * bool(records),
        "files": str(Path(asked[0]).resolve().parent) * (not records and not figures),
        "time": f"{seconds:.0f} s",
        "next": "change config/config.yaml and run again; `refless compare` takes your own ratings",
    }
    return [f"{name:8} {text}" for name, text in lines.items() if text]


def _report_line(report: Path, items: Iterable[str], made: bool) -> str:
    """Where the report is, if it was asked for; that it shows earlier tables, if it does."""
    if made:
        return str(report.resolve())
    newest = max((Path(path).stat().st_mtime for path in items), default=0.0)
    if not report.is_file() or report.stat().st_mtime >= newest:
        return ""
    return f"{report} is older than these files; the target report makes it anew"
