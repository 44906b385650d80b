"""The settings of RNN quality estimation (Dušek et al. 2017). Stage: none."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from refless.settings._base import AtLeastTwo, Count, Distinct, Section, Seed, Several, Tau


class TrainingData(Section):
    """What RNN-QE is trained on."""

    seed: Seed = Field(description="Seed of the folds and of the synthetic errors.")
    synthesise: Literal["first_part", "all_parts"] = Field(
        description="What errors and references are made from. `first_part`: in cross-validation,"
        " one of the three training parts, which gives the published sizes (3,937 instances in"
        " set-up 2). `all_parts`: all training outputs, as the text says, and each reference once"
        " (8,856)."
    )


class Training(Section):
    """How RNN-QE is trained (`make torch`). Training that was killed goes on where it was."""

    schedule: Literal["paper", "fast"] = Field(
        description="`paper`: 500 passes, before them 20 over synthetic rows (for set-up 1 hours on"
        " 2 cores, for set-up 6 a day). `fast`: 12 and 2, at ten times the learning rate (minutes"
        " to an hour)."
    )
    seeds: Count = Field(description="Number of seeds: 0, 1, ...")
    device: str = Field(
        pattern="^[a-z]+(:[0-9]+)?$", description="Device of torch: cpu, cuda, cuda:1."
    )
    precision: Literal["float32", "bfloat16"] = Field(
        description="Of the encoders' matrix products. bfloat16 is twice as fast on processors that"
        " have it (AVX-512 BF16, AMX) and slower on those that have not. Correlations on the"
        " validation parts were the same to 0.005 in each pass tried."
    )


class QeNeighbors(Section):
    """BLEU Neighbors beside RNN-QE, which is not in the paper.

    Once with the thresholds of `bleu_neighbors`, once with the tau that is best on the validation
    part.
    """

    models: Several[Literal["bleu", "rouge", "meteor"]] = Field(
        description="Models of `bleu_neighbors.models`, by their published kernels."
    )
    taus: Several[Tau] = Field(description="The taus that are tried on the validation part.")
    min_neighbors: Count = Field(description="a, with those taus.")


class Curve(Section):
    """The figure rnn_qe_data_size."""

    sizes: Distinct[Count] = Field(
        description="Numbers of rated training outputs; the whole is added."
    )
    subsets: AtLeastTwo = Field(description="Random subsets of each size.")


class RnnQe(Section):
    """RNN quality estimation."""

    data: TrainingData = Field(description="What it is trained on.")
    train: Literal["shipped", "run"] = Field(
        description="RNN-QE's predictions. `shipped`: those in resources/trained/rnn_qe, which an"
        " earlier training left, else those that come with refless, if they were made from the data"
        " above; rows without any say how to get them. `run`: train every set-up of tables 3 to 5"
        " and of the learning curve; with `fast` and bfloat16 some six hours of one core.",
    )
    training: Training = Field(description="How it is trained.")
    neighbors: QeNeighbors = Field(description="BLEU Neighbors beside it.")
    curve: Curve = Field(description="The learning curve.")
