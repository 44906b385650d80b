"""The settings of the three papers and of the comparison. Stage: none.

A paper's own constants stand beside its experiment, with their source; here is what users change.
"""

from typing import Literal

from pydantic import Field, field_validator, model_validator

from refless.settings._base import (
    Count,
    DrawCount,
    EntryName,
    Group,
    KernelName,
    NonEmpty,
    Seed,
    Tau,
)


class SimilarityModel(Group):
    """A row of table 1: a similarity, in one or more variants."""

    tau: Tau = Field(description="Minimum similarity of a neighbor.")
    kernels: NonEmpty[KernelName] = Field(
        description="Kernels `<module>.<variant>`, the published one first."
    )
    taus: dict[str, Tau] = Field(
        default={}, description="Kernel -> a tau of its own, for kernels on another scale."
    )

    @model_validator(mode="after")
    def _taus_of_own_kernels(self) -> "SimilarityModel":
        if other := set(self.taus) - set(self.kernels):
            raise ValueError(f"taus names {', '.join(sorted(other))}, which is not in kernels")
        return self


class Bootstrap(Group):
    """The 95% intervals of BLEU Neighbors and of RNN quality estimation."""

    draws: DrawCount = Field(
        description="Draws of contexts or texts (RNN-QE: MRs); a quarter for table 1's `others`."
    )
    seed: Seed = Field(description="Seed of the draws, and of the random subsets of figure 4.")


class BleuNeighbors(Group):
    """BLEU Neighbors (Ethayarajh and Sadigh, 2020)."""

    models: dict[EntryName, SimilarityModel] = Field(
        description="The models, in the order of the rows; `bleu` is one and draws the figures."
    )
    min_neighbors: Count = Field(description="a: fewest neighbors that carry an estimate.")
    max_share: Tau = Field(description="b: most neighbors, as a share of the training set.")

    @field_validator("models")
    @classmethod
    def _bleu_and_each_kernel_once(
        cls, models: dict[str, SimilarityModel]
    ) -> dict[str, SimilarityModel]:
        if "bleu" not in models:
            raise ValueError("there is no model bleu, which the figures need")
        every = [kernel for model in models.values() for kernel in model.kernels]
        if twice := sorted({kernel for kernel in every if every.count(kernel) > 1}):
            raise ValueError(f"{twice[0]} is named twice; a kernel has one tau")
        if other := [name for name in models["bleu"].kernels if not name.startswith("bleu.")]:
            raise ValueError(f"{other[0]} stands in the model bleu; give it a model of its own")
        return models


class DeltaBleu(Group):
    """ΔBLEU (Galley et al., 2015)."""

    assignments: Count = Field(
        description="Assignments of contexts to units; fewer for units of few contexts."
    )
    draws: DrawCount = Field(description="Draws of contexts for the 95% intervals of table 2.")
    seed: Seed = Field(description="Seed of the assignments and of the draws.")


class RnnQe(Group):
    """RNN quality estimation (Dušek et al., 2017)."""

    seed: Seed = Field(description="Seed of the folds and of the synthetic errors.")
    train: Literal["auto", "never"] = Field(
        "auto",
        description="`auto`: networks are trained where torch is installed (`make torch`; some 12"
        " core-hours), else shipped predictions are read. `never`: these alone.",
    )
    schedule: Literal["short", "paper"] = Field(
        "short", description="How long networks are trained; as in the paper, it takes days."
    )
    seeds: Count = Field(
        3, description="How many seeds (0, 1, ...) are trained or read; tables have their mean."
    )
    device: str = Field(
        "cpu", pattern="^(cpu|cuda(:[0-9]+)?)$", description="Device of torch: cpu, cuda, cuda:1."
    )


class ComparisonSection(Group):
    """Every method of `refless compare` on the data sets that take part."""

    kernels: NonEmpty[KernelName] = Field(
        description="Kernels of neighbors; those that cannot be computed are left out."
    )
    draws: DrawCount = Field(description="Draws of the bootstrap.")
    repeats: Count = Field(
        description="Repeats of the folds, at most; never more than 10,000 divided by the texts."
    )
    seed: Seed = Field(description="Seed of the folds and of the draws.")
    networks: Literal["shipped", "run"] = Field(
        "shipped", description="RNN-QE's estimates: shipped, or trained here (`make torch`)."
    )
