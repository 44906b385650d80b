"""The configuration, checked once: every setting, its type, its limits and what it means.

Stage: none. In: the mapping that Snakemake read from config/config.yaml and ``--config``. Out:
`Settings`, or a `SettingError` of one line. Only the Snakefile reads settings; jobs get plain
values, so pydantic is not imported in them. ``python -m refless.settings`` prints docs/settings.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from refless.errors import KernelError, SettingError
from refless.kernels.bertscore import layer_and_offset
from refless.models.rnn_qe.names import EXPERIMENTS, PAPER, names
from refless.settings._base import Name, Section, Seed, require_known, sentence
from refless.settings.bleu_neighbors import BleuNeighbors
from refless.settings.comparison import Comparison
from refless.settings.data import DataSet, with_looks
from refless.settings.delta_bleu import DeltaBleu
from refless.settings.rnn_qe import RnnQe

__all__ = ["Settings", "read_settings", "require_plain", "typed"]

LOOKS = ("name", "colour", "line", "marker", "published")


class KernelOptions(Section):
    """Options of one kernel of BERTScore; no other kernel takes any."""

    model: str | None = Field(
        None, description="A folder with the encoder, instead of a fetched one."
    )
    layer: Seed | None = Field(None, description="The layer whose output the embeddings are.")
    rescale: bool | None = Field(None, description="Whether values are rescaled with a baseline.")
    baseline: str | None = Field(
        None, description="A file of baselines with the columns LAYER,P,R,F."
    )
    prefix_space: bool | None = Field(
        None, description="Whether RoBERTa reads a blank before the text."
    )


class Settings(Section):
    """All settings. They are what science may vary; threads, memory and time live in the profiles.

    ``kernels`` is the attribute `kernel_options` here, since `kernels` lists the kernels.
    """

    mirror: str = Field(
        "",
        description="A directory or base URL with the raw files under the paths of"
        " resources/sources.csv; empty for none. It is tried before the public URLs. The"
        " environment variable REFLESS_MIRROR goes before this setting.",
    )
    network: bool = Field(True, description="Whether public URLs may be asked for raw files.")
    numbers: Literal["", "computed", "auto", "shipped"] = Field(
        "",
        description="Where numbers come from. `computed`: from raw data, fetched if need be."
        " `auto`: the same where the raw data is at hand, shipped numbers where it is not."
        " `shipped`: shipped numbers only. Empty: `computed`, and `auto` for the target"
        " `quickstart`.",
    )
    data: dict[Name, DataSet] = Field(
        min_length=1, description="The data sets, in the order of rows, columns and legends."
    )
    kernel_options: dict[str, KernelOptions] = Field(
        default={}, alias="kernels", description="Options of single kernels, by the kernel's name."
    )
    bleu_neighbors: BleuNeighbors = Field(description="BLEU Neighbors.")
    delta_bleu: DeltaBleu = Field(description="ΔBLEU.")
    rnn_qe: RnnQe = Field(description="RNN quality estimation.")
    comparison: Comparison = Field(description="Every method on every data set.")

    # ---- questions ----------------------------------------------------------------------------

    def tasks(self, experiment: str) -> list[str]:
        """The data sets that take part in an experiment, in order."""
        return [
            task
            for task, entry in self.data.items()
            if getattr(entry.experiments, experiment) is not None
        ]

    def experiment(self, task: str, name: str) -> Any:
        """What a data set says about an experiment that it takes part in.

        Raises
        ------
        KeyError : it does not take part.
        """
        found = getattr(self.data[task].experiments, name)
        if found is None:
            raise KeyError(f"{task} takes no part in {name}")
        return found

    def needs_ratings(self, task: str) -> list[str]:
        """The experiments that a data set takes part in with its ratings."""
        experiments = type(self.data[task].experiments).model_fields
        found = [name for name in experiments if task in self.tasks(name)]
        if "rnn_qe" in found and self.experiment(task, "rnn_qe").role != "rated":
            found.remove("rnn_qe")
        return found

    def kernels(self) -> list[str]:
        """Every kernel of every model of BLEU Neighbors."""
        return [kernel for model in self.bleu_neighbors.models.values() for kernel in model.kernels]

    def taus(self) -> dict[str, float]:
        """The tau of every kernel of `kernels`."""
        return {
            kernel: model.taus.get(kernel, model.tau)
            for model in self.bleu_neighbors.models.values()
            for kernel in model.kernels
        }

    def options(self, kernel: str) -> dict[str, Any]:
        """What the configuration tells a kernel."""
        found = self.kernel_options.get(kernel)
        return found.model_dump(exclude_none=True) if found else {}

    def looks(self) -> dict[str, dict[str, str]]:
        """Task -> how tables and figures show it: `LOOKS`."""
        return {
            task: {key: getattr(entry, key) for key in LOOKS} for task, entry in self.data.items()
        }

    def trainings(self) -> list[str]:
        """The names of everything that RNN-QE may be trained on, and how."""
        sizes = self.rnn_qe.curve.sizes
        long = [f"{PAPER}_{name}" for one in EXPERIMENTS[:-1] for name in names(one)]
        return [*(name for one in EXPERIMENTS for name in names(one, sizes)), *long]

    def trained_now(self) -> list[str]:
        """Those that a run trains: see `rnn_qe.train`. The paper's schedule takes days: by name
        alone."""
        if self.rnn_qe.train != "run":
            return []
        return [name for one in EXPERIMENTS for name in names(one, self.rnn_qe.curve.sizes)]

    # ---- names that must exist elsewhere ------------------------------------------------------

    @field_validator("data")
    @classmethod
    def _looks_are_filled_in(cls, data: dict[str, DataSet]) -> dict[str, DataSet]:
        return with_looks(data)

    @model_validator(mode="after")
    def _kernels_exist(self) -> Settings:
        for task, entry in self.data.items():
            where = f"data.{task}.skip_kernels"
            require_known(
                where, entry.skip_kernels, self.kernels(), "the kernels of bleu_neighbors"
            )
        for kernel in self.kernel_options:
            if kernel not in self.kernels():
                raise ValueError(
                    f"kernels has options for {kernel!r}, which no model of bleu_neighbors.models"
                    f" has ({', '.join(self.kernels())})"
                )
            if not kernel.startswith("bertscore."):
                raise ValueError(
                    f"kernels has options for {kernel!r}; only the kernels of BERTScore take any"
                )
        for kernel in self.kernels():
            if kernel.startswith("bertscore."):
                own = self.options(kernel)
                try:
                    layer_and_offset(kernel, *map(own.get, ("layer", "rescale", "baseline")))
                except KernelError as error:
                    raise ValueError(
                        f"kernels.{kernel}: {error.message}; {error.remedy}".rstrip("; ")
                    ) from error
        return self

    @model_validator(mode="after")
    def _data_sets_fit_together(self) -> Settings:
        if len(self.tasks("essays")) > 1:
            raise ValueError(
                f"data: {' and '.join(self.tasks('essays'))} take part in essays; one data set can"
            )
        roles = [self.experiment(task, "rnn_qe").role for task in self.tasks("rnn_qe")]
        if roles and (roles.count("rated") != 1 or len(roles) < 2):
            raise ValueError(
                f"data: in rnn_qe, {roles.count('rated')} data sets have the role rated and"
                f" {roles.count('references')} the role references; it needs one that is rated, and"
                " references"
            )
        published: dict[str, str] = {}
        for task, entry in self.data.items():
            if entry.published and entry.published in published:
                raise ValueError(
                    f"data.{task}.published is {entry.published!r}, as is that of"
                    f" {published[entry.published]}; a column of the paper is one data set's"
                )
            published[entry.published] = task
        shown: dict[str, str] = {}
        reads: dict[str, str] = {}
        for task, entry in self.data.items():
            if (before := shown.setdefault(entry.name, task)) != task:
                raise ValueError(
                    f"data.{task}.name is {entry.name!r}, as is that of {before}; legends would not"
                    " tell them apart"
                )
            read = f"{entry.loader} {sorted(entry.files.items())} {sorted(entry.options.items())}"
            if (before := reads.setdefault(read, task)) != task:
                raise ValueError(
                    f"data.{task} is {before} once more: loader, files and options are the same"
                )
        return self


PLAIN_NUMBER = re.compile(
    r"[-+]?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
READ_AS = "is a number that YAML reads as another one"
WRITE = "write it like 8 or 0.25, or in quotes if it is a name"


def typed(value: Any) -> Any:
    """Settings of the command line with the types that they would have in a file.

    Snakemake hands on nested numbers and truth values of ``--config`` as strings.

    Raises
    ------
    SettingError : a number that is written otherwise than in decimals.
    """
    if isinstance(value, Mapping):
        return {key: typed(one) for key, one in value.items()}
    if isinstance(value, list):
        return [typed(one) for one in value]
    if isinstance(value, str):
        with suppress(yaml.YAMLError):
            read = yaml.safe_load(value)
            number = isinstance(read, int | float) and not isinstance(read, bool)
            if number and not PLAIN_NUMBER.fullmatch(value.strip()):
                raise SettingError(f"--config: {value} {READ_AS}", remedy=WRITE)
            return read if number or isinstance(read, bool) else value
    return value


class _Plain(yaml.SafeLoader):
    """YAML in which no key stands twice, and a number is what a reader takes it for: YAML's older
    rules read 010 as 8 and 1:30 as 90."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise _Fault(key, "stands twice in its group", "leave one of the two")
            seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_number(self, node: Any) -> float:
        if not PLAIN_NUMBER.fullmatch(node.value):
            raise _Fault(node, READ_AS, WRITE)
        return 0.0  # nobody looks: Snakemake reads the settings


for _kind in ("int", "float"):
    _Plain.add_constructor(f"tag:yaml.org,2002:{_kind}", _Plain.construct_number)


class _Fault(Exception):
    def __init__(self, node: Any, message: str, remedy: str) -> None:
        super().__init__(f"{node.value} {message}")
        self.line, self.remedy = node.start_mark.line + 1, remedy


def require_plain(path: str | Path) -> None:
    """Make sure that Snakemake reads a file of settings as a person does.

    Raises
    ------
    SettingError : with the line of the first setting that stands twice in its group, where the last
        would win without a word, or of the first number that is written otherwise than in decimals;
        it is not UTF-8.
    """
    content = Path(path).read_bytes()
    try:
        yaml.load(content.decode("utf-8"), _Plain)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SettingError(
            f"is not UTF-8: {error.reason}", path=path, line=line, remedy="save it as UTF-8"
        ) from None
    except _Fault as fault:
        raise SettingError(str(fault), path=path, line=fault.line, remedy=fault.remedy) from None
    except yaml.YAMLError:
        pass  # Snakemake says it


def read_settings(raw: Mapping[str, Any]) -> Settings:
    """The settings, checked.

    Raises
    ------
    SettingError : the first fault, in one line: the setting's path, its value, what is allowed.
    """
    try:
        return Settings.model_validate(dict(raw))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise SettingError(f"config: {sentence(fault)}") from None
