"""The settings of BLEU Neighbors (Ethayarajh and Sadigh 2020). Stage: none."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from refless.errors import KernelError
from refless.kernels import module_path
from refless.kernels._registry import constants
from refless.settings._base import (
    NO_BOOLEAN,
    AtLeastTwo,
    Count,
    Distinct,
    Draws,
    Grid,
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
EssaySet = Annotated[int, Field(ge=1, le=10), NO_BOOLEAN]
SentenceRule = Literal["full_stops", "marks", "capitals"]
Cut = Literal["cut", "whole"]
Means = Literal["floating", "exact"]
EssayKernel = Literal["bleu.char", "bleu.word", "bleu.char.unclipped", "bleu.word.unclipped"]


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


class Baselines(Section):
    """What estimates are compared with: constant, length, look-up, own system, ridge regression."""

    folds: AtLeastTwo = Field(
        default=5, description="Folds of the texts, for what is not left out one by one."
    )
    seed: Seed = Field(default=2020, description="Seed that deals the folds.")


class Huse(Section):
    """HUSE itself."""

    neighbors: Count = Field(
        description="Votes of HUSE's classifier; 16 in the code of its authors."
    )


class Sentences(Section):
    """Which essays are kept, by their number of sentences."""

    rule: SentenceRule = Field(
        description="What a sentence is: `full_stops`, pieces between full stops with a blank;"
        " `marks`, pieces between . ! ? and line breaks; `capitals`, marks before a capital."
        " 39, 49 and 40 test essays are left."
    )
    fewest: Count = Field(description="Fewest sentences of an essay that is kept.")
    most: Count = Field(description="Most sentences of an essay that is kept.")


class Sensitivity(Section):
    """Other values of single choices of table 3; each is tried with the others left alone."""

    reading: Distinct[Literal["quoted", "unquoted"]] = Field(
        default=[], description="Whether quotation marks delimit fields of the files."
    )
    sentences: Distinct[SentenceRule] = Field(default=[], description="See `sentences.rule`.")
    cut: Distinct[Cut] = Field(default=[], description="See `cut`.")
    raters: Distinct[Literal["both", "first"]] = Field(
        default=[], description="Whose scores a training essay's quality is."
    )
    kernel: Distinct[EssayKernel] = Field(default=[], description="See `kernel`.")
    tau: Distinct[Tau] = Field(default=[], description="See `tau`.")
    means: Distinct[Means] = Field(default=[], description="See `means`.")


class Essays(Section):
    """Table 3, essays of ASAP-SAS. The choices in config.yaml give the paper's numbers."""

    test_set: EssaySet = Field(description="The essay set whose test part is estimated.")
    sentences: Sentences = Field(description="Which essays are kept.")
    cut: Cut = Field(description="Training essays: `cut` by the same rule or `whole`.")
    means: Means = Field(
        description="Means over neighbors: `floating` (rounding noise orders ties) or `exact`."
    )
    kernel: EssayKernel = Field(description="The kernel.")
    tau: Tau = Field(description="Similarity from which on an essay is a neighbor.")
    min_neighbors: Count = Field(description="a: fewest neighbors that carry an estimate.")
    max_share: PositiveShare = Field(
        description="b: most neighbors, as a share of the training essays."
    )
    left_out: list[list[EssaySet]] = Field(
        description="Sets that are left out of the training essays together, besides each single"
        ' set: the paper\'s "all but 3" and what rounds to its value.'
    )
    sensitivity: Sensitivity = Field(description="Other values of single choices.")

    @field_validator("left_out")
    @classmethod
    def _some_set_is_left_out(cls, value: list[list[int]]) -> list[list[int]]:
        for k, combination in enumerate(value):
            if not combination or len(set(combination)) < len(combination):
                raise ValueError(f"has {combination}; it must be at least one set, each once")
            if combination in value[:k]:
                raise ValueError(f"has {combination} twice; it must be without repetition")
        return value


class Ablation(Section):
    """What the paper names as future work and more, one change each (`bleu_neighbors_ablation`).

    Every row is compared with plain BLEU Neighbors: the first kernel of `bleu`, its tau, a and b.
    """

    kernels: Distinct[ExistingKernel] = Field(
        description="The changed kernels. Each gets the tau at which the median text has about as"
        " many neighbors as with plain. `bleu.word`: words as units; `bleu_content.*`: stopwords"
        " taken out first; `bleu_idf.*`: rare n-grams weigh more; `embedding.<model>`: cosine of"
        " sentence embeddings (needs `make torch`; shipped otherwise)."
    )
    tau_step: Annotated[float, Field(ge=0.0001, le=1), NO_BOOLEAN] = Field(
        description="Step of the grid of taus on which kernels are matched."
    )
    halves: AtLeastTwo = Field(
        description="Random halves of the training texts whose estimates are averaged."
    )
    seed: Seed = Field(description="Seed of the halves and of the bootstrap.")
    draws: Draws = Field(description="Draws of the paired bootstrap.")


class Pareto(Section):
    """Coverage against Spearman over all thresholds, tuned and honest (`bleu_neighbors_pareto`)."""

    models: Several[str] = Field(
        description="Models of `bleu_neighbors.models`, by their published kernels."
    )
    tau_factors: Grid[Annotated[float, Field(gt=0), NO_BOOLEAN]] = Field(
        description="tau as multiples of the model's own (up to 1, the largest value of a kernel);"
        " 1 must be among them. Wide enough that what is chosen lies inside; the table says where"
        " it does not."
    )
    a: Grid[Count] = Field(description="Fewest neighbors, the grid.")
    b: Grid[PositiveShare] = Field(description="Most neighbors as a share, the grid.")
    floors: Several[PositiveShare] = Field(
        description="Thresholds are chosen for the highest Spearman that covers this share of the"
        " candidates; the paper's floor is 0.4."
    )
    folds: AtLeastTwo = Field(description="Folds of the nested choice.")
    deals: Count = Field(
        default=60,
        description="How often texts are dealt into folds anew; the table has the mean and the"
        " spread.",
    )
    parts: Count = Field(
        default=10,
        description="Of how many parts a fold is joined; texts of one part are never apart.",
    )
    streamed_deals: Count = Field(
        default=5, description="`deals` of data sets that are streamed, where each takes long."
    )
    streamed_parts: Count = Field(
        default=2, description="`parts` of data sets that are streamed, where the files are large."
    )
    seed: Seed = Field(description="Seed that deals the folds.")
    draws: Draws = Field(description="Draws of the bootstrap.")

    @field_validator("tau_factors")
    @classmethod
    def _own_tau_is_among_them(cls, value: list[float]) -> list[float]:
        if 1 not in value:
            raise ValueError(f"is {value}; it must contain 1, the model's own tau")
        return value


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
    baselines: Baselines = Field(
        default=Baselines(), description="What estimates are compared with."
    )
    huse: Huse = Field(description="HUSE itself.")
    essays: Essays = Field(description="Table 3.")
    ablation: Ablation = Field(description="What the paper left for later.")
    pareto: Pareto = Field(description="Coverage against Spearman.")

    @field_validator("models")
    @classmethod
    def _bleu_and_each_kernel_once(cls, models: dict[str, Model]) -> dict[str, Model]:
        from refless.experiments.bleu_neighbors.baselines import LABELS
        from refless.experiments.bleu_neighbors.table1 import HUMANS

        if "bleu" not in models:
            raise ValueError("has no model bleu, which the figures need")
        for name in sorted(set(models) & {*LABELS, *HUMANS}):
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

    @model_validator(mode="after")
    def _pareto_of_own_models(self) -> BleuNeighbors:
        require_known(
            ".pareto.models", self.pareto.models, list(self.models), "bleu_neighbors.models"
        )
        return self
