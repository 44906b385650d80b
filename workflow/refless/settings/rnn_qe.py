"""The settings of RNN quality estimation (Dušek et al. 2017). Stage: none."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from refless.models.rnn_qe.names import CROSS, CURVE, parse
from refless.settings._base import AtLeastTwo, Count, Distinct, Section, Seed


class Training(Section):
    """How RNN-QE is trained (`make torch`): all networks with `train: run`, else those asked for by
    name. The schedule is short, 12 passes at most; names that begin with `paper_` have the paper's,
    500 passes. Training that was killed goes on where it was."""

    seeds: Count = Field(
        description="Number of seeds: 0, 1, ... Tables have the means over these; of a learning"
        " curve there is one."
    )
    paper_seeds: Count = Field(description="Number of seeds of `paper_setup1`, ...")
    plateau: Seed = Field(
        description="The paper's schedule ends when no model of a stack (the folds of a seed) has"
        " improved on its validation part for as many passes; 0: all 500 are made."
    )
    device: str = Field(
        pattern="^[a-z]+(:[0-9]+)?$", description="Device of torch: cpu, cuda, cuda:1."
    )
    precision: Literal["float32", "bfloat16"] = Field(
        description="Of the encoders' matrix products. bfloat16 is faster on processors that"
        " have it (AVX-512 BF16, AMX) and slower on those that have not."
    )


class Curve(Section):
    """The figure rnn_qe_data_size."""

    sizes: Distinct[Count] = Field(
        description="Numbers of rated training outputs; the whole is added."
    )
    subsets: AtLeastTwo = Field(description="Random subsets of each size.")


class RnnQe(Section):
    """RNN quality estimation."""

    seed: Seed = Field(description="Seed of the folds and of the synthetic errors.")
    train: Literal["shipped", "run"] = Field(
        description="RNN-QE's predictions. `shipped`: those in resources/trained/rnn_qe, which an"
        " earlier training left, else those that come with refless, if they were made from the same"
        " data; rows without any say how to get them. `run`: train every set-up of tables 3 to 5"
        " and of the learning curve; with bfloat16 some six hours of one core.",
    )
    training: Training = Field(description="How it is trained.")
    curve: Curve = Field(description="The learning curve.")

    def seeds_of(self, name: str) -> int:
        """Number of seeds of what a name says (`refless.models.rnn_qe.names`).

        Of a learning curve the random subsets do what elsewhere the seeds do.
        """
        found = parse(name)
        if found.experiment == CURVE:
            return 1
        return self.training.paper_seeds if found.way else self.training.seeds

    def training_of(self, name: str) -> dict[str, Any]:
        """How what a name says is trained.

        Returns
        -------
        dict : ``schedule`` and ``architecture`` as
            `refless.experiments.rnn_qe.trainer.write_training` wants them, ``seeds``, ``models``
            (how many there are) and ``long`` (whether the schedule is the paper's)
        """
        found, own = parse(name), self.training
        schedule = {"name": "paper", "plateau": own.plateau} if found.way else {"name": "fast"}
        count = self.seeds_of(name)
        folds = 1 if found.experiment in CROSS else 5
        subsets = self.curve.subsets if found.experiment == CURVE else 1
        return {
            "schedule": schedule,
            "architecture": {"precision": own.precision},
            "seeds": list(range(count)),
            "models": folds * subsets * count,
            "long": bool(found.way),
        }
