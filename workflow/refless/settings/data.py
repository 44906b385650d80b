"""The settings of one data set: all that the workflow is told about it. Stage: none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from refless.data import sources
from refless.settings._base import Count, Distinct, Name, Section, Several

# Okabe and Ito's colours but yellow, which is too pale for lines on white: told apart with any
# colour vision, and in grey by the line style.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def _finite(value: Any) -> Any:
    """Options may hold anything but NaN and infinity."""
    parts = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"has the value {value}, which is not a finite number")
    if isinstance(value, (Mapping, list)):
        for part in parts:
            _finite(part)
    return value


class InBleuNeighbors(Section):
    """Tables 1 and 2, section 5.3 and figures 2 to 4 of BLEU Neighbors."""


class InDeltaBleu(Section):
    """Table 2 and figure 2 of ΔBLEU: several systems answer the same contexts."""

    unit: Count = Field(
        description="Contexts in one observation (M). The paper's 100 are more than USR has."
    )
    units: Several[Count] = Field(description="The numbers of contexts in panel B of figure 2.")
    times: Count = Field(
        4,
        description="Assignments of contexts to units in each draw of the bootstrap. Few systems"
        " make few observations: then more are needed, or intervals hold what the assignment"
        " moves.",
    )


class InEssays(Section):
    """Table 3 of BLEU Neighbors: essays with a training and a test part. One data set at most."""


class InComparison(Section):
    """The table `comparison`: every method of `refless compare` on this data set."""


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
        given = [bool(self.domain), bool(self.system)]
        if given != [self.role == "rated"] * 2:
            raise ValueError(
                "in rnn_qe, the data set with the role rated has a domain and a system, and no"
                " other one"
            )
        return self


class Experiments(Section):
    """The experiments that a data set takes part in, each with what it needs."""

    bleu_neighbors: InBleuNeighbors | None = None
    delta_bleu: InDeltaBleu | None = None
    essays: InEssays | None = None
    comparison: InComparison | None = None
    rnn_qe: InRnnQe | None = None

    @model_validator(mode="before")
    @classmethod
    def _empty_is_no_answer(cls, raw: Any) -> Any:
        if isinstance(raw, Mapping):
            for key, value in raw.items():
                if value is None:
                    raise ValueError(f".{key} is empty; write {{}} to take part, false not to")
            # a file given by --configfile can change what stands elsewhere, but not remove it
            return {key: value for key, value in raw.items() if value is not False}
        return raw


def _loader(name: str) -> str:
    if name not in sources.loaders():
        raise ValueError(
            f"is {name!r}, but there is no workflow/refless/data/sources/{name}.py with a function"
            f" load; there are: {', '.join(sources.loaders())}"
        )
    return name


def _file(path: str) -> str:
    if not path.strip() or Path(path).is_dir():
        raise ValueError(f"is {path!r}, which is no file; name one")
    if Path(path).is_relative_to("resources/data"):
        raise ValueError(f"is {path!r}; only fetched files lie there, so put yours elsewhere")
    if "{" in path or "}" in path:
        raise ValueError(f"is {path!r}; Snakemake reads braces as wildcards, so rename the file")
    return path


def _default_experiments(entry: dict[str, Any]) -> Experiments:
    return Experiments.model_validate(
        {"bleu_neighbors": {}} if entry.get("loader") == "table" else {}
    )


class DataSet(Section):
    """One data set. The order of the entries is the order of rows, columns and legends."""

    loader: Annotated[str, AfterValidator(_loader)] = Field(
        description="Module of workflow/refless/data/sources that reads the files. `table` reads"
        " any tidy TSV, CSV or JSON Lines file."
    )
    files: dict[Name, Annotated[str, AfterValidator(_file)]] = Field(
        min_length=1,
        description="The loader's name for each file, and the file: a path in"
        " resources/sources.csv (fetched and verified), or any other path on this machine,"
        " absolute or from the working directory (used where it lies).",
    )
    options: Annotated[dict[str, Any], AfterValidator(_finite)] = Field(
        default={}, description="Further arguments of the loader; its docstring explains them."
    )
    name: str = Field(
        "",
        description="Name in figures. Default: the entry's own name, with blanks. Tables, files and"
        " options have the entry's own name.",
    )
    published: Literal["", "dialogue", "generation", "summarization"] = Field(
        "", description="The data set's name in the BLEU Neighbors paper, if it is in it."
    )
    colour: str = Field(
        "",
        pattern="^(#[0-9A-Fa-f]{6})?$",
        description="Colour of curves, as #RRGGBB. Default: the first free one of a list of"
        " colours that can be told apart.",
    )
    line: Literal["", "-", "--", "-.", ":"] = Field(
        "", description="Line style of curves. Default: chosen like the colour."
    )
    marker: Literal["", "o", "s", "^", "D", "v", "P", "X"] = Field(
        "", description="Marker of points. Default: chosen like the colour."
    )
    streamed: bool = Field(
        False,
        description="Whether the data set is too large for kernel matrices on disk. Then the pairs"
        " are walked once and only numbers of neighbors and sums of their quality at tau are kept"
        " (another tau walks them again). Sums are added in another order: estimates that tie but"
        " for rounding noise may be ranked otherwise, which moves rho a little.",
    )
    skip_kernels: Distinct[str] = Field(
        default=[], description="Kernels of the configuration that are left out for this data set."
    )
    experiments: Experiments = Field(
        default_factory=_default_experiments,
        description="The experiments that it takes part in. Default: `bleu_neighbors: {}` with the"
        " loader `table`, else none.",
    )

    @model_validator(mode="after")
    def _as_the_loader_takes_them(self) -> DataSet:
        if fault := sources.fault(self.loader, self.files, self.options):
            raise ValueError(fault)
        return self


def with_looks(data: dict[str, DataSet]) -> dict[str, DataSet]:
    """The entries with name, colour, line and marker filled in where they were left open."""
    free = {
        "colour": _free(COLOURS, [entry.colour for entry in data.values()]),
        "line": _free(LINES, [entry.line for entry in data.values()]),
        "marker": _free(MARKERS, [entry.marker for entry in data.values()]),
    }
    filled = {}
    for k, (task, entry) in enumerate(data.items()):
        chosen = {key: getattr(entry, key) or values[k] for key, values in free.items()}
        name = entry.name or task.replace("_", " ")
        filled[task] = entry.model_copy(update={**chosen, "name": name})
    return filled


def _free(values: tuple[str, ...], taken: list[str]) -> list[str]:
    """A value for each position: those that nobody asked for first, then all over again."""
    order = [value for value in values if value not in taken] or list(values)
    position, found = 0, []
    for own in taken:
        found.append(own or order[position % len(order)])
        position += not own
    return found
