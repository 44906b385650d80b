"""The plan: what each result is made from, and where it comes from.

Stage: none. In: which raw files and kernels can be had (`refless.availability`), the manifest of
shipped files. Out: of each path where it lies (`Plan.find`), or one reason why it cannot be had
(`Plan.why_not`). No address is asked.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from refless.availability import Availability
from refless.errors import FormatError, Reason
from refless.models.rnn_qe.names import RUNS
from refless.settings import Settings
from refless.store.files import file_sum
from refless.store.manifest import BACK, read_manifest
from refless.store.records import recorded_sum


@dataclass(frozen=True)
class Recipe:
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


def _compared(settings: Settings, wildcards: Mapping[str, str]) -> list[str]:
    skipped = settings.data[wildcards["dataset"]].skip_kernels
    return [kernel for kernel in settings.comparison.kernels if kernel not in skipped]


_NEIGHBORS = "bleu_neighbors.min_neighbors", "bleu_neighbors.max_share"
_RNN_QE = Recipe(("rnn_qe",), settings=("rnn_qe.seed",))
RESULTS = {
    "ratings/{dataset}/texts.csv": Recipe(("{dataset}",)),
    "ratings/{dataset}/ratings.csv": Recipe(("{dataset}",)),
    "neighbors/{dataset}/{kernel}.csv": Recipe(("{dataset}",), lambda _, of: [of["kernel"]]),
    "curves/{dataset}/data_size.csv": Recipe(
        ("{dataset}",), lambda *of: _bleu(*of)[:1], (*_NEIGHBORS, "bootstrap.seed")
    ),
    "cross_task/{source_dataset}.{target_dataset}.csv": Recipe(
        ("{source_dataset}", "{target_dataset}"), _bleu
    ),
    "essays/estimates.csv": Recipe(("essays",)),
    "delta_bleu/{dataset}/units.csv": Recipe(
        ("{dataset}",), settings=("delta_bleu", "data.{dataset}.experiments.delta_bleu")
    ),
    "comparison/{dataset}.csv": Recipe(
        ("{dataset}",),
        _compared,
        (
            "comparison.draws",
            "comparison.repeats",
            "comparison.seed",
            "data.{dataset}.experiments.comparison",
        ),
        optional=True,
    ),
    "comparison/networks/{dataset}.csv": Recipe(
        ("{dataset}",), settings=("comparison.seed",), trained=True
    ),
    "rnn_qe/outputs.csv": _RNN_QE,
    "rnn_qe/curve.csv": _RNN_QE,
    "rnn_qe/predictions/{name}/{seed}.csv.gz": replace(_RNN_QE, trained=True),
}
"""Pattern of a path in ``results`` -> what decides it. A result of others alone is not here."""


@dataclass(frozen=True)
class Plan(Availability):
    """Where each result comes from, and why some cannot be had.

    shipped : folder with what comes with refless, whose file ``manifest.csv`` lists it
    """

    shipped: Path = Path("resources/shipped")

    def find(self, path: str) -> str | None:
        """Where a path of ``results`` lies or will lie: the path itself if it can be computed, else
        the shipped file, else None.
        Raises FormatError: the shipped file is not the one that the manifest lists."""
        if self.why_not(path):
            return None
        below, wildcards, recipe = self._match(path)
        if not self._obstacle(wildcards, recipe):
            return path
        return str(_whole(self.shipped / below, self._manifest[below][0]))

    def why_not(self, path: str) -> Reason | None:
        """Why a result can be neither computed nor read from what is shipped; None if it can."""
        below, wildcards, recipe = self._match(path)
        reason = self._obstacle(wildcards, recipe)
        if not reason or reason.code in ("left_out", "no_data_set") or below not in self._manifest:
            return reason
        if self._manifest[below][1] != self.digest(path):
            return Reason("settings", "what comes with refless is of other settings")
        return None

    def available(self, paths: Iterable[str]) -> list[str]:
        """Where those of the results lie that this run has."""
        return [path for result in paths if (path := self.find(result))]

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
        kernels = _compared(self.settings, {"dataset": dataset})
        return [kernel for kernel in kernels if not self.kernel(kernel)]

    def digest(self, path: str) -> str:
        """SHA-256 of all that decides a result but for code: how data sets are read, kernels,
        settings."""
        _, wildcards, recipe = self._match(path)
        settings: dict[str, Any] = {}
        for dotted in recipe.settings:
            value: Any = self.settings
            for part in dotted.format(**wildcards).split("."):
                value = value[part] if isinstance(value, Mapping) else getattr(value, part)
            settings[dotted] = value.model_dump() if isinstance(value, BaseModel) else value
        kernels = {k: self.settings.options(k) for k in recipe.kernels(self.settings, wildcards)}
        if not recipe.optional:
            taus = self.settings.taus()
            kernels = {k: options | {"tau": taus[k]} for k, options in kernels.items()}
        data = {
            dataset: self._reading(dataset, recipe) for dataset in self._tasks(wildcards, recipe)
        }
        return _digest({"data": data, "kernels": kernels, "settings": settings})

    def shippable(self) -> dict[str, str]:
        """What this run computes of what may be shipped -> its digest; ratings, where tables are
        made from them and nothing else."""
        tasks = self.settings.tasks("bleu_neighbors")
        values: dict[str, Sequence[Any]] = {
            "source_dataset": tasks,
            "target_dataset": tasks,
            "kernel": self.settings.kernels(),
            "name": list(RUNS),
            "seed": range(self.settings.rnn_qe.seeds),
        }
        digests = {}
        for pattern in RESULTS:
            of_ratings = pattern.startswith("ratings/")
            values["dataset"] = tasks if of_ratings else list(self.settings.data)
            wildcards = re.findall(r"\{(\w+)\}", pattern)
            for combination in product(*(values[name] for name in wildcards)):
                below = pattern.format(**dict(zip(wildcards, combination, strict=True)))
                if self.find(path := f"results/{below}") == path:
                    digests[path] = self.digest(path)
        return digests

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
        settings = self.settings.model_dump(exclude=left_out)
        pooled = {*self.settings.tasks("rnn_qe"), *self.settings.tasks("essays")}
        for dataset, entry in self.settings.data.items():
            if dataset not in pooled and not set(entry.files.values()) <= set(self.sources):
                del settings["data"][dataset]
        return _digest(settings)

    def _match(self, path: str) -> tuple[str, dict[str, str], Recipe]:
        """The path below ``results``, its wildcards, and what decides it."""
        below = path.removeprefix("results/")
        for pattern, recipe in RESULTS.items():
            if match := _pattern(pattern).fullmatch(below):
                return below, match.groupdict(), recipe
        raise KeyError(f"{path}: no entry of refless.plan.RESULTS says what decides it")

    def _tasks(self, wildcards: Mapping[str, str], recipe: Recipe) -> list[str]:
        """The data sets that a result is made from."""
        tasks = []
        for name in recipe.tasks:
            tasks += [name.format(**wildcards)] if "{" in name else self.settings.tasks(name)
        return tasks

    def _obstacle(self, wildcards: Mapping[str, str], recipe: Recipe) -> Reason | None:
        """The first reason why a result cannot be computed; None if it can."""
        tasks = self._tasks(wildcards, recipe)
        if not tasks or not set(tasks) <= set(self.settings.data):
            return Reason("no_data_set", "no data set of the configuration takes part")
        entries = [self.settings.data[dataset] for dataset in tasks]
        kernels = [] if recipe.optional else list(recipe.kernels(self.settings, wildcards))
        if any(set(kernels) & set(entry.skip_kernels) for entry in entries):
            return Reason("left_out", "the configuration leaves this kernel out")
        if recipe.trained and not self._trains(wildcards):
            return Reason("not_trained", "its networks are not trained")
        files = [path for entry in entries for path in entry.files.values()]
        reasons = [*map(self.raw_file, files), *map(self.kernel, kernels)]
        return next(filter(None, reasons), None)

    def _trains(self, wildcards: Mapping[str, str]) -> bool:
        """Whether this run trains these networks: RNN-QE's by name, else those of `comparison`."""
        if "name" in wildcards:
            return wildcards["name"] in self.trained_now()
        return self.settings.comparison.networks == "run"

    def _reading(self, dataset: str, recipe: Recipe) -> dict[str, Any]:
        """What decides how a data set is read for a result."""
        entry = self.settings.data[dataset]
        sums = {path: source.sha256 or path for path, source in self.sources.items()}
        experiments = [name for name in recipe.tasks if "{" not in name]
        return {
            "loader": entry.loader,
            "options": entry.options,
            "files": {name: sums.get(path, path) for name, path in entry.files.items()},
            **{name: getattr(entry.experiments, name).model_dump() for name in experiments},
        }

    @cached_property
    def _manifest(self) -> dict[str, tuple[str, str]]:
        return read_manifest(self.shipped)


def _digest(recipe: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()


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
