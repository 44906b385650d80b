"""The configuration, checked once: every setting, its type, its limits and what it means.

Stage: none. In: the mapping that Snakemake read from config/config.yaml and ``--config``. Out:
`Settings`, or a `SettingError`. ``python -m refless.settings`` prints docs/settings.md.
"""

from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from pydantic import Field, ValidationError, model_validator

from refless.errors import SettingError
from refless.settings._base import EntryName, Group, Seed, UserPath
from refless.settings.data import DataSet
from refless.settings.papers import BleuNeighbors, Bootstrap, ComparisonSection, DeltaBleu, RnnQe

__all__ = ["Settings", "read_settings", "typed"]

_RENAMED = {
    "delta_bleu.unit": "contexts_per_unit",
    "delta_bleu.units": "figure_unit_sizes",
    "delta_bleu.times": "assignments_per_draw",
    "bleu_neighbors.draws": "bootstrap.draws",
    "bleu_neighbors.seed": "bootstrap.seed",
}
"""Group and former name of a setting -> its name."""


class KernelOptions(Group):
    """Options of one kernel of BERTScore; no other kernel takes any."""

    model: UserPath | None = Field(
        None, description="A folder with the encoder, instead of a fetched one."
    )
    layer: Seed | None = Field(None, description="The layer whose output the embeddings are.")
    rescale: bool | None = Field(None, description="Whether values are rescaled with a baseline.")
    baseline: UserPath | None = Field(
        None, description="A file of baselines with the columns LAYER,P,R,F."
    )


class Settings(Group):
    """All settings that affect results. Threads, memory and time are in the profiles."""

    mirror: str = Field(
        "",
        description="A directory or base URL with the raw files under the paths of"
        " resources/sources.csv; tried before the public URLs. REFLESS_MIRROR takes precedence.",
    )
    network: bool = Field(True, description="Whether public URLs may be asked for raw files.")
    data: dict[EntryName, DataSet] = Field(
        min_length=1, description="The data sets, in the order of rows, columns and legends."
    )
    kernel_options: dict[str, KernelOptions] = Field(
        default={}, alias="kernels", description="Options of single kernels, by the kernel's name."
    )
    bootstrap: Bootstrap
    bleu_neighbors: BleuNeighbors
    delta_bleu: DeltaBleu
    rnn_qe: RnnQe
    comparison: ComparisonSection

    # ---- questions ----------------------------------------------------------------------------

    def tasks(self, experiment: str) -> list[str]:
        """The data sets that take part in an experiment, in order."""
        return [
            dataset for dataset in self.data if getattr(self.data[dataset].experiments, experiment)
        ]

    def needs_ratings(self, dataset: str) -> list[str]:
        """The experiments that a data set takes part in with its ratings."""
        experiments = self.data[dataset].experiments
        names = [name for name, experiment in experiments if experiment]
        if experiments.rnn_qe and experiments.rnn_qe.role != "rated":
            names.remove("rnn_qe")
        return names

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
        options = self.kernel_options.get(kernel)
        return options.model_dump(exclude_none=True) if options else {}

    # ---- names that must exist elsewhere ------------------------------------------------------

    @model_validator(mode="after")
    def _kernels_exist(self) -> "Settings":
        kernels = {*self.kernels(), *self.comparison.kernels}
        for dataset, entry in self.data.items():
            if other := set(entry.skip_kernels) - kernels:
                raise ValueError(f"data.{dataset}.skip_kernels: no model has {min(other)}")
        for kernel in self.kernel_options:
            if kernel not in self.kernels() or not kernel.startswith("bertscore."):
                raise ValueError(f"kernels.{kernel}: no model has such a kernel of BERTScore")
        return self

    @model_validator(mode="after")
    def _data_sets_fit_together(self) -> "Settings":
        if len(self.tasks("essays")) > 1:
            raise ValueError(f"data: {' and '.join(self.tasks('essays'))} take part in essays")
        experiments = [entry.experiments.rnn_qe for entry in self.data.values()]
        roles = [experiment.role for experiment in experiments if experiment]
        if roles and (roles.count("rated") != 1 or len(roles) < 2):
            raise ValueError("data: rnn_qe needs one data set that is rated, and references")
        return self


def typed(value: Any) -> Any:
    """Numbers, truth values and null as such: Snakemake hands on nested ones of --config as
    text."""
    if isinstance(value, dict):
        return {key: typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [typed(inner) for inner in value]
    if isinstance(value, str):
        words = {"true": True, "false": False, "null": None}
        for read in (words.__getitem__, int, float):
            with suppress(KeyError, ValueError):
                return read(value)
    return value


def unknown(path: str) -> str:
    """What is said of a setting that there is not: its new name, or the nearest of one that there
    is."""
    section, _, name = path.rpartition(".")
    if new := _RENAMED.get(f"{section.rpartition('.')[2]}.{name}"):
        return f"unknown; it is now {new}"
    sections: list[type[Group]] = [*Group.__subclasses__(), Settings]
    names = {f.alias or key for section in sections for key, f in section.model_fields.items()}
    near = get_close_matches(name, sorted(names), 1)
    return "unknown" + (f"; did you mean {near[0]}?" if near else "")


def read_settings(raw: Mapping[str, Any]) -> Settings:
    """The settings, checked. Raises SettingError: a line a fault: the setting's path, what is
    wrong, and its value."""
    try:
        return Settings.model_validate(dict(raw))
    except ValidationError as error:
        lines = map(_fault_line, error.errors(include_url=False))
        raise SettingError(
            "\n".join(dict.fromkeys(lines)),
            path="config",
            remedy="docs/settings.md has every setting and what it may be",
        ) from None


def _fault_line(fault: Mapping[str, Any]) -> str:
    """What pydantic found wrong, as a line: the setting's path, what is wrong, and its value."""
    path = ".".join(map(str, fault["loc"]))
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden":
        message = unknown(path)
    if not path:
        return message
    if fault["type"] != "missing":
        message += f" (it is {str(fault['input'])[:60]})"
    return f"{path}: {message}"
