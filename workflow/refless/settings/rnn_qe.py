"""The settings of RNN quality estimation (Dušek et al. 2017). Stage: none."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from refless.models.rnn_qe.names import AUTHORS, CROSS, CURVE, LONGER, PAPER, parse
from refless.models.rnn_qe.variants import changes
from refless.settings._base import AtLeastTwo, Count, Distinct, Grid, Section, Seed, Several, Tau


class TrainingData(Section):
    """What RNN-QE is trained on."""

    seed: Seed = Field(description="Seed of the folds and of the synthetic errors.")
    synthesise: Literal["first_part", "all_parts"] = Field(
        description="What errors and references are made from. `first_part`: in cross-validation,"
        " one of the three training parts, which comes near the published sizes (3,936 instances"
        " for 3,937 in set-up 2). `all_parts`: all training outputs, as the text says, and each"
        " reference once (8,856)."
    )


class Training(Section):
    """How RNN-QE is trained (`make torch`): all networks with `train: run`, else those asked for by
    name. Training that was killed goes on where it was."""

    schedule: Literal["paper", "fast"] = Field(
        description="`paper`: 500 passes at most, before them 20 over all"
        " rows where there are synthetic ones. `fast`: 12"
        " and 2, at ten times the learning rate (minutes to an hour a set-up). Names that begin"
        " with `paper_` or `authors_` are trained by `paper` in any case."
    )
    seeds: Count = Field(description="Number of seeds: 0, 1, ...")
    plateau: Seed = Field(
        description="`paper` ends when no model of a stack (the folds of a seed) has improved on"
        " its validation part for as many passes; 0: all 500 are made."
    )
    paper_seeds: Count = Field(description="Number of seeds of `paper_setup1`, ...")
    authors_seeds: list[Count] = Field(
        min_length=6,
        max_length=6,
        description="Number of seeds of `authors_setup1` to `authors_setup6`. More can be asked for"
        " later: what is trained is kept in results/rnn_qe/checkpoints.",
    )
    device: str = Field(
        pattern="^[a-z]+(:[0-9]+)?$", description="Device of torch: cpu, cuda, cuda:1."
    )
    precision: Literal["float32", "bfloat16"] = Field(
        description="Of the encoders' matrix products. bfloat16 is faster on processors that"
        " have it (AVX-512 BF16, AMX) and slower on those that have not."
    )


class QeNeighbors(Section):
    """BLEU Neighbors beside RNN-QE, which is not in the paper.

    Once with the thresholds of `bleu_neighbors`, once with the tau that is best on the validation
    part.
    """

    models: Several[Literal["bleu", "rouge", "meteor"]] = Field(
        description="Models of `bleu_neighbors.models`, by their published kernels."
    )
    taus: Grid[Tau] = Field(description="The taus that are tried on the validation part.")
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

    def training_of(self, name: str) -> dict[str, Any]:
        """How what a name says (`refless.models.rnn_qe.names`) is trained.

        Of a learning curve the random subsets do what elsewhere the seeds do; one seed is enough
        to check the plateau, and to see what a single difference of the authors' code moves.

        Returns
        -------
        dict : ``schedule``, ``architecture`` and ``reading`` as
            `refless.experiments.rnn_qe.trainer.write_training` wants them, ``seeds``, ``models``
            (how many there are) and ``long`` (whether the schedule is the paper's)
        """
        found, own = parse(name), self.training
        long = bool(found.way) or own.schedule == "paper"
        schedule: dict[str, Any] = {"name": "paper" if long else own.schedule}
        architecture, reading = {"precision": own.precision}, {}
        if long:
            schedule["plateau"] = own.plateau * (2 if found.way == LONGER else 1)
        if found.way == AUTHORS:
            changed = changes(found.difference)
            schedule |= changed["schedule"]
            architecture |= changed["architecture"]
            reading = changed["reading"]
        seeds = {PAPER: own.paper_seeds, AUTHORS: own.authors_seeds[found.setup - 1]}
        count = seeds.get(found.way, own.seeds)
        if found.experiment == CURVE or found.way == LONGER or found.difference:
            count = 1
        folds = 1 if found.experiment in CROSS else 5
        subsets = self.curve.subsets if found.experiment == CURVE else 1
        return {
            "schedule": schedule,
            "architecture": architecture,
            "reading": reading,
            "seeds": list(range(count)),
            "models": folds * subsets * count,
            "long": long,
        }
