"""The settings of one data set: all that the workflow is told about it. Stage: none."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from refless.data import sources
from refless.settings._base import Count, EntryName, Group, KernelName, NonEmpty, UserPath

# Snakemake reads braces as wildcards
_RawFile = Annotated[UserPath, Field(pattern=r"^[^{}]+$")]


class Plain(Group):
    """An experiment that needs to know nothing more."""


class InComparison(Group):
    """The table `comparison`."""

    human_systems: list[str] = Field(
        [], description="Systems that are people: the texts of the others are compared alone, too."
    )


class InDeltaBleu(Group):
    """Table 2 and figure 2 of ΔBLEU: several systems answer the same contexts."""

    contexts_per_unit: Count = Field(
        description="Contexts in a unit, which is one observation (M); 100 in the paper."
    )
    figure_unit_sizes: NonEmpty[Count] = Field(description="The same in panel B of figure 2.")
    assignments_per_draw: Count = Field(
        4, description="Assignments of contexts to units in a draw; more where systems are few."
    )


class InRnnQe(Group):
    """RNN quality estimation."""

    role: Literal["rated", "references"] = Field(
        description="`rated`: what is estimated (one data set); `references`: of the same MRs."
    )
    domain: str = Field("", description="Of what is rated: the value of `domain` of table 4.")
    system: str = Field("", description="Of what is rated: the system of table 5.")

    @model_validator(mode="after")
    def _what_is_tested_on(self) -> "InRnnQe":
        if [bool(self.domain), bool(self.system)] != [self.role == "rated"] * 2:
            raise ValueError("the data set with the role rated has a domain and a system, no other")
        return self


class Experiments(Group):
    """The experiments that a data set takes part in; `null` (or nothing) for none."""

    bleu_neighbors: Plain | None = Field(
        default=None, description="Tables 1 and 2, figures 2 to 4 of BLEU Neighbors."
    )
    delta_bleu: InDeltaBleu | None = Field(
        default=None, description="Table 2 and figure 2 of ΔBLEU."
    )
    essays: Plain | None = Field(
        default=None, description="Table 3 of BLEU Neighbors; one data set at most."
    )
    comparison: InComparison | None = Field(default=None, description="The table `comparison`.")
    rnn_qe: InRnnQe | None = Field(default=None, description="RNN quality estimation.")


def _loader(name: str) -> str:
    if name not in sources.loaders():
        raise ValueError(f"there is no such loader; there are: {', '.join(sources.loaders())}")
    return name


class DataSet(Group):
    """One data set. The order of the entries is the order of rows, columns and legends."""

    loader: Annotated[str, AfterValidator(_loader)] = Field(
        description="Module of data/sources that reads the files; `table` for any tidy table."
    )
    files: dict[EntryName, _RawFile] = Field(
        min_length=1,
        description="The loader's name for each file, and its path: one of resources/sources.csv"
        " (fetched and verified), or any other (used where it lies).",
    )
    options: dict[str, Any] = Field(
        default={}, description="Further arguments of the loader; its docstring explains them."
    )
    name: str = Field("", description="Name in figures. Default: the entry's own, with blanks.")
    published: Literal["", "dialogue", "generation", "summarization"] = Field(
        "", description="Its name in the BLEU Neighbors paper, if it is in it."
    )
    colour: str = Field(
        "", pattern="^(#[0-9A-Fa-f]{6})?$", description="Colour of curves, #RRGGBB; has a default."
    )
    blocks: Count = Field(
        1, description="Files, and jobs, over which the rows of a kernel's matrix are spread."
    )
    skip_kernels: list[KernelName] = Field(
        default=[], description="Kernels that are left out here."
    )
    experiments: Experiments = Field(
        default_factory=Experiments,
        description="What it takes part in; by default `bleu_neighbors` with the loader `table`.",
    )

    @model_validator(mode="before")
    @classmethod
    def _own_tables_take_part(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and (raw.get("loader"), raw.get("experiments")) == ("table", None):
            return {**raw, "experiments": {"bleu_neighbors": {}}}
        return raw

    @model_validator(mode="after")
    def _as_the_loader_takes_them(self) -> "DataSet":
        sources.check(self.loader, self.files, self.options)
        return self
