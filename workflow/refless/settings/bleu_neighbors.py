"""The settings of BLEU Neighbors (Ethayarajh and Sadigh 2020). Stage: none."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, field_validator, model_validator

from refless.errors import KernelError
from refless.kernels import module_path
from refless.kernels._registry import constants
from refless.settings._base import (
    AtLeastTwo,
    Count,
    Draws,
    Kernel,
    Name,
    PositiveShare,
    Section,
    Seed,
    Several,
    Tau,
    require_known,
)


def _there_is(kernel: str) -> str:
    try:
        module_path(kernel)
    except KernelError as error:
        raise ValueError(f"names {kernel!r}: {error.message}; {error.remedy}") from error
    return kernel


ExistingKernel = Annotated[Kernel, AfterValidator(_there_is)]


class Model(Section):
    """A row of table 1: a similarity, in one or more variants."""

    tau: Tau = Field(description="Similarity from which on a text is a neighbor.")
    kernels: Several[ExistingKernel] = Field(
        description="Kernels `<module of workflow/refless/kernels>.<variant>`: the published"
        " variant first; what follows shows what a choice does."
    )
    taus: dict[str, Tau] = Field(
        default={}, description="Kernel -> a tau of its own, for kernels on another scale."
    )

    @model_validator(mode="after")
    def _taus_of_own_kernels(self) -> Model:
        require_known(".taus", list(self.taus), self.kernels, "its kernels")
        return self


class Bootstrap(Section):
    """95% intervals of the tables: bootstrap over contexts, or over texts where there are few."""

    draws: Draws = Field(description="Number of draws.")
    seed: Seed = Field(description="Seed of the draws.")


class Thresholds(Section):
    """What figures 2 and 3 vary."""

    a: list[Count] = Field(
        min_length=2, max_length=2, description="Lowest and highest a (fewest neighbors)."
    )
    b_step: PositiveShare = Field(description="Step of b (most neighbors) from 0 to 1.")

    @field_validator("a")
    @classmethod
    def _in_order(cls, a: list[int]) -> list[int]:
        if a[0] > a[1]:
            raise ValueError(f"is {a}; the lowest goes first")
        return a


class DataSize(Section):
    """Figure 4: quality of the estimate against the number of rated texts."""

    step: Count = Field(description="Step between two sizes.")
    streamed: Several[AtLeastTwo] = Field(
        description="The sizes of data sets that are streamed; all texts are the last one."
    )
    subsets: AtLeastTwo = Field(description="Random subsets of each size.")
    seed: Seed = Field(description="Seed of the subsets.")


class BleuNeighbors(Section):
    """BLEU Neighbors."""

    models: dict[Name, Model] = Field(
        description="The models, in the order of the rows; `bleu` is one and draws the figures."
    )
    min_neighbors: Count = Field(description="a: fewest neighbors that carry an estimate.")
    max_share: PositiveShare = Field(
        description="b: most neighbors, as a share of the training set."
    )
    bootstrap: Bootstrap = Field(description="Intervals of the tables.")
    thresholds: Thresholds = Field(description="Figures 2 and 3.")
    data_size: DataSize = Field(description="Figure 4.")

    @field_validator("models")
    @classmethod
    def _bleu_and_each_kernel_once(cls, models: dict[str, Model]) -> dict[str, Model]:
        from refless.experiments.bleu_neighbors.table1 import HUMANS

        if "bleu" not in models:
            raise ValueError("has no model bleu, which the figures need")
        for name in sorted(set(models) & set(HUMANS)):
            raise ValueError(f"has a model {name}, as table 1 calls another row; give it another")
        for kernel in models["bleu"].kernels:
            if constants(module_path(kernel)).get("LOCATIONS"):
                raise ValueError(
                    f"has the kernel {kernel!r} in the model bleu, whose kernels must need texts"
                    " alone; give it a model of its own"
                )
        owner: dict[str, str] = {}
        for name, model in models.items():
            for kernel in model.kernels:
                if kernel in owner:
                    raise ValueError(
                        f"has the kernel {kernel!r} in two models, {owner[kernel]} and {name};"
                        " a kernel has one tau, so it belongs to one model"
                    )
                owner[kernel] = name
        return models
