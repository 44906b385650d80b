"""The settings of one data set: all that the workflow is told about it. Stage: none."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from refless.data import sources
from refless.settings._base import Count, Kernel, Name, Section, Several

# Okabe and Ito's colours but yellow, which is too pale for lines on white: told apart with any
# colour vision, and in grey by the line style.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


class Plain(Section):
    """An experiment that needs to know nothing more."""


class InDeltaBleu(Section):
    """Table 2 and figure 2 of ΔBLEU: several systems answer the same contexts."""

    unit: Count = Field(
        description="Contexts in one observation (M). The paper's 100 are more than USR has."
    )
    units: Several[Count] = Field(description="The numbers of contexts in panel B of figure 2.")
    times: Count = Field(
        4,
        description="Assignments of contexts to units in each draw of the bootstrap; more where few"
        " systems make few observations.",
    )


class InRnnQe(Section):
    """RNN quality estimation."""

    role: Literal["rated", "references"] = Field(
        description="`rated`: the outputs whose quality is estimated (one data set). `references`:"
        " human references of the same MRs."
    )
    domain: str = Field(
        "",
        description="Of the rated data set: the value of its column `dataset` (the name of the data"
        " set that has the references) whose outputs table 4 tests on.",
    )
    system: str = Field(
        "", description="Of the rated data set: the system whose outputs table 5 tests on."
    )

    @model_validator(mode="after")
    def _what_is_tested_on(self) -> InRnnQe:
        if [bool(self.domain), bool(self.system)] != [self.role == "rated"] * 2:
            raise ValueError("the data set with the role rated has a domain and a system, no other")
        return self


class Experiments(Section):
    """The experiments that a data set takes part in; `false` (or nothing) for none."""

    bleu_neighbors: Plain | None = Field(
        default=None, description="BLEU Neighbors but for its table 3: `{}`."
    )
    delta_bleu: InDeltaBleu | None = Field(
        default=None, description="Table 2 and figure 2 of ΔBLEU."
    )
    essays: Plain | None = Field(
        default=None, description="Table 3 of BLEU Neighbors; one data set: `{}`."
    )
    comparison: Plain | None = Field(default=None, description="The table `comparison`: `{}`.")
    rnn_qe: InRnnQe | None = Field(default=None, description="RNN quality estimation.")

    @model_validator(mode="before")
    @classmethod
    def _false_is_none(cls, raw: Any) -> Any:
        # a file given by --configfile can change what stands elsewhere, but not remove it
        if isinstance(raw, dict):
            return {name: None if value is False else value for name, value in raw.items()}
        return raw


def _loader(name: str) -> str:
    if name not in sources.loaders():
        raise ValueError(f"there is no such loader; there are: {', '.join(sources.loaders())}")
    return name


def _file(path: str) -> str:
    if not path.strip() or Path(path).is_dir():
        raise ValueError("is no file; name one")
    if Path(path).is_relative_to("resources/data"):
        raise ValueError("only fetched files lie in resources/data; put yours elsewhere")
    if "{" in path or "}" in path:
        raise ValueError("Snakemake reads braces as wildcards; rename the file")
    return path


class DataSet(Section):
    """One data set. The order of the entries is the order of rows, columns and legends."""

    loader: Annotated[str, AfterValidator(_loader)] = Field(
        description="Module of workflow/refless/data/sources that reads the files. `table` reads"
        " any tidy file of ratings."
    )
    files: dict[Name, Annotated[str, AfterValidator(_file)]] = Field(
        min_length=1,
        description="The loader's name for each file, and the file: a path in"
        " resources/sources.csv (fetched and verified), or any other path on this machine,"
        " absolute or from the working directory (used where it lies).",
    )
    options: dict[str, Any] = Field(
        default={}, description="Further arguments of the loader; its docstring explains them."
    )
    name: str = Field("", description="Name in figures. Default: the entry's own, with blanks.")
    published: Literal["", "dialogue", "generation", "summarization"] = Field(
        "", description="The data set's name in the BLEU Neighbors paper, if it is in it."
    )
    colour: str = Field(
        "",
        pattern="^(#[0-9A-Fa-f]{6})?$",
        description="Colour of curves, as #RRGGBB. Default: the first free one of a list.",
    )
    line: Literal["", "-", "--", "-.", ":"] = Field("", description="Line style of curves.")
    marker: Literal["", "o", "s", "^", "D", "v", "P", "X"] = Field(
        "", description="Marker of points."
    )
    streamed: bool = Field(
        False,
        description="Whether the data set is too large for kernel matrices on disk. Then the pairs"
        " are walked once and only numbers of neighbors and sums of their quality at tau are kept.",
    )
    skip_kernels: list[Kernel] = Field(
        default=[], description="Kernels of the configuration that are left out for this data set."
    )
    experiments: Experiments = Field(
        default_factory=Experiments,
        description="The experiments that it takes part in. Default: `bleu_neighbors: {}` with the"
        " loader `table`, else none.",
    )

    @model_validator(mode="before")
    @classmethod
    def _own_tables_take_part(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and raw.get("loader") == "table":
            return {"experiments": {"bleu_neighbors": {}}, **raw}
        return raw

    @model_validator(mode="after")
    def _as_the_loader_takes_them(self) -> DataSet:
        if fault := sources.fault(self.loader, self.files, self.options):
            raise ValueError(fault)
        return self


def with_looks(data: dict[str, DataSet]) -> dict[str, DataSet]:
    """The entries with name, colour, line and marker filled in where they were left open."""
    filled = {task: {"name": one.name or task.replace("_", " ")} for task, one in data.items()}
    for key, values in (("colour", COLOURS), ("line", LINES), ("marker", MARKERS)):
        taken = {getattr(entry, key) for entry in data.values()}
        free = [value for value in values if value not in taken] or list(values)
        open_ = [task for task, entry in data.items() if not getattr(entry, key)]
        for k, task in enumerate(open_):
            filled[task][key] = free[k % len(free)]
    return {task: entry.model_copy(update=filled[task]) for task, entry in data.items()}
