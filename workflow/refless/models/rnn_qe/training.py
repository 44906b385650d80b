"""Training of RNN-QE: all folds and seeds of a set-up advance together, and survive being killed.

Stage: prediction (RNN-QE). In: instances of each fold, seeds, a schedule. Out: for each model its
predictions on the validation and test parts after its best pass, and the course of training.

A model is a fold and a seed. Its seed decides where it starts, how its rows are dealt into batches
and what dropout drops, whoever is trained beside it: random numbers come from a generator made
of seed, phase and pass. So a checkpoint after a pass needs no state of a generator, and training
that was killed goes on with the same numbers to the last bit on the same machine.

After each pass the validation part is predicted; the best pass is that of the largest Pearson plus
Spearman correlation of rounded predictions (Dušek et al. 2017, section 3.4). With synthetic rows,
the passes over everything come first, and the best parameters of these start the passes over the
rated rows, with Adam anew (the paper does not say).
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from refless.errors import FormatError, SettingError
from refless.files import remove_partial, whole_file
from refless.models.rnn_qe import network
from refless.models.rnn_qe.batches import (
    Encoded,
    Instances,
    Sequences,
    deal,
    distinct,
    pack,
    rounded,
)
from refless.models.rnn_qe.network import Architecture, Inputs, Parameters
from refless.statistics import weighted_pearson, weighted_spearman

log = logging.getLogger(__name__)
Array = np.ndarray
PHASES = ("pretrain", "train")
START = -1
"""In place of a phase, where a generator serves to set up a model."""
ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class Schedule:
    """How long and how fast: passes over everything, over rated rows, Adam's rate, batch size."""

    pretrain: int
    train: int
    rate: float
    batch: int
    warm: float = 1.0

    def __post_init__(self) -> None:
        if self.train < 1 or self.pretrain < 0 or self.batch < 1 or not self.rate > 0:
            raise SettingError("a schedule needs a pass, a batch size and a rate above 0")

    def passes(self, phase: int) -> int:
        return (self.pretrain, self.train)[phase]


SCHEDULES = {
    # The batch size is not in the paper; 50 is that of the authors' published configuration.
    "paper": Schedule(pretrain=20, train=500, rate=1e-4, batch=50),
    "fast": Schedule(pretrain=2, train=12, rate=1e-3, batch=50),
}


class Member(NamedTuple):
    """One model of a stack."""

    fold: int
    seed: int


def generator(seed: int, phase: int, number: int) -> np.random.Generator:
    """The source of all randomness of one model in one pass (its start: `START`, 0)."""
    return np.random.Generator(np.random.SFC64([seed, phase - START, number]))


class Stack:
    """Models that advance together, with all that a checkpoint holds.

    Parameters
    ----------
    members : the models, in any order
    folds : instances of each fold, encoded
    """

    def __init__(
        self,
        members: Sequence[Member],
        folds: Mapping[int, Encoded],
        schedule: Schedule,
        architecture: Architecture,
        device: str = "cpu",
        vectors: Mapping[str, Array] | None = None,
    ) -> None:
        self.members, self.schedule, self.architecture = list(members), schedule, architecture
        self.device = torch.device(device)
        self.data = [folds[member.fold] for member in members]
        self.backward = {
            (side, id(data)): reverse(getattr(data, side))
            for data in self.data
            for side in ("mr", "text")
            if architecture.bidirectional
        }
        self.rows = [
            [data.instances.rows("train", "pretrain") for data in self.data],
            [data.instances.rows("train") for data in self.data],
        ]
        self.parameters = self._start(vectors or {})
        self.optimizer = self._adam()
        self.phase, self.done = 0, 0
        if not self._pretrains():
            self.phase = 1
        count = len(self.members)
        self.best = {name: value.clone() for name, value in self.parameters.items()}
        self.best_score = np.full(count, -math.inf)
        self.best_pass = np.full((count, 2), -1)
        self.history: list[dict[str, Any]] = []

    # ---- parameters ------------------------------------------------------------------------------

    def _start(self, vectors: Mapping[str, Array]) -> Parameters:
        own = []
        for member, data in zip(self.members, self.data, strict=True):
            mean = float(data.rating[data.instances.rows("train")].mean())
            values = network.initial(
                self.architecture,
                len(data.mr_words) + 1,
                len(data.text_words) + 1,
                mean,
                generator(member.seed, START, 0),
            )
            for word, vector in vectors.items():
                if word in data.text_words:
                    values["text.embedding"][data.text_words[word]] = vector
            own.append(values)
        stacked = {}
        for name in own[0]:
            shape = np.max([values[name].shape for values in own], axis=0)
            whole = np.zeros((len(own), *shape), np.float32)
            for model, values in enumerate(own):
                whole[(model, *map(slice, values[name].shape))] = values[name]
            tensor = torch.from_numpy(whole).to(self.device, self.architecture.dtype)
            stacked[name] = tensor.requires_grad_()
        return stacked

    def _adam(self) -> torch.optim.Adam:
        """Adam over every model's slice of every tensor: a model that sits out a step keeps all."""
        self.slices = [
            [value.detach()[model] for value in self.parameters.values()]
            for model in range(len(self.members))
        ]
        every = [one for own in self.slices for one in own]
        return torch.optim.Adam(every, lr=self.schedule.rate, fused=True)

    # ---- training --------------------------------------------------------------------------------

    def _pretrains(self) -> bool:
        return self.schedule.pretrain > 0 and any(
            len(all_rows) > len(rated) for all_rows, rated in zip(*self.rows, strict=True)
        )

    @property
    def finished(self) -> bool:
        return self.phase == len(PHASES)

    def batches_of(self, model: int) -> int:
        """Batches that a model's rows make in a pass of the present phase."""
        return max(1, -(-len(self.rows[self.phase][model]) // self.schedule.batch))

    def sequences(self, name: str) -> list[Sequences]:
        """What the encoder ``name`` reads, of each model."""
        side = name.split("_")[0]
        if name.endswith("_back"):
            return [self.backward[side, id(data)] for data in self.data]
        return [getattr(data, side) for data in self.data]

    def deals(self, generators: Sequence[np.random.Generator]) -> list[list[Array]]:
        """The batches of a pass, each model's row numbers; no rows once a model has had all."""
        dealt = []
        for model, data in enumerate(self.data):
            rows = self.rows[self.phase][model]
            lengths = np.stack([data.mr.lengths[rows], data.text.lengths[rows]])
            own = deal(lengths, self.batches_of(model), generators[model])
            dealt.append([rows[batch] for batch in own])
        none = np.empty(0, np.int64)
        most = max(map(len, dealt))
        return [[own[k] if k < len(own) else none for own in dealt] for k in range(most)]

    def step(self, rows: Sequence[Array], generators: Sequence[np.random.Generator]) -> Tensor:
        """One batch of each model that has one left; losses (models,)."""
        states = []
        for name in self.architecture.encoders:
            inputs = Inputs(pack(self.sequences(name), rows), self.device)
            mask = network.masks(inputs, self.architecture, generators)
            states.append(network.encode(self.architecture, self.parameters, name, inputs, mask))
        size = max(map(len, rows))
        truth, weight = np.zeros((2, len(rows), size))
        for model, own in enumerate(rows):
            truth[model, : len(own)] = self.data[model].rating[own]
            weight[model, : len(own)] = 1 / max(1, len(own))
        dtype = self.architecture.dtype
        given = [torch.from_numpy(one).to(self.device, dtype) for one in (truth, weight)]
        outputs = network.head(self.architecture, self.parameters, torch.cat(states, 2))
        loss = network.losses(self.architecture, outputs, given[0], given[1])
        gradients = torch.autograd.grad(loss.sum(), list(self.parameters.values()))
        for model, own in enumerate(rows):
            for one, gradient in zip(self.slices[model], gradients, strict=True):
                one.grad = gradient[model] if len(own) else None
        self.optimizer.step()
        return loss.detach()

    def advance(self, tick: Callable[[int], None] = lambda instances: None) -> None:
        """One pass, and what comes after it: validation, the best pass so far, the next phase."""
        generators = [generator(m.seed, self.phase, self.done) for m in self.members]
        total = np.zeros(len(self.members))
        for rows in self.deals(generators):
            loss = self.step(rows, generators)
            total += loss.double().cpu().numpy() * [len(own) for own in rows]
            tick(sum(map(len, rows)))
        self.done += 1
        pearson, spearman = self.validate()
        score = np.where(np.isnan(pearson + spearman), -2.0, pearson + spearman)
        better = score > self.best_score
        for name, value in self.parameters.items():
            for model in np.flatnonzero(better):
                self.best[name][model] = value.detach()[model]
        self.best_score[better] = score[better]
        self.best_pass[better] = self.phase, self.done
        loss_per_row = total / [len(rows) for rows in self.rows[self.phase]]
        self.history.append(
            {
                "phase": PHASES[self.phase],
                "pass": self.done,
                "loss": loss_per_row.tolist(),
                "pearson": pearson.tolist(),
                "spearman": spearman.tolist(),
            }
        )
        if self.done == self.schedule.passes(self.phase):
            self.phase, self.done = self.phase + 1, 0
            if not self.finished:
                for name, value in self.parameters.items():
                    value.detach().copy_(self.best[name])
                self.optimizer = self._adam()

    # ---- prediction ------------------------------------------------------------------------------

    def validate(self) -> tuple[Array, Array]:
        """Pearson and Spearman of each model on its validation part, (models,); NaN if undefined."""
        rows = [data.instances.rows("dev") for data in self.data]
        found = []
        for data, own, prediction in zip(
            self.data, rows, self.predict(rows, self.parameters), strict=True
        ):
            given, truth = rounded(prediction), data.rating[own]
            once = np.ones((1, len(own)))
            found.append(
                (
                    weighted_pearson(given[None], truth[None], once)[0],
                    weighted_spearman(given, truth, once)[0],
                )
            )
        pearson, spearman = np.array(found, dtype=float).T
        return pearson, spearman

    @torch.no_grad()
    def predict(self, rows: Sequence[Array], parameters: Parameters) -> list[Array]:
        """Unrounded ratings of each model's ``rows``. Each distinct MR and text is encoded once."""
        joined = []
        for name in self.architecture.encoders:
            sequences = self.sequences(name)
            chosen = [distinct(s, own) for s, own in zip(sequences, rows, strict=True)]
            unique = [own[0] for own in chosen]
            most = max(map(len, unique))
            parts = []
            for start in range(0, most, ROWS_AT_ONCE):
                some = [own[start : start + ROWS_AT_ONCE] for own in unique]
                inputs = Inputs(pack(sequences, some), self.device)
                parts.append(network.encode_trained(self.architecture, parameters, name, inputs))
            which = np.zeros((len(rows), max(map(len, rows))), np.int64)
            for model, own in enumerate(chosen):
                which[model, : len(own[1])] = own[1]
            index = torch.from_numpy(which).to(self.device)
            joined.append(network._lookup(torch.cat(parts, 1), index))
        outputs = network.head(self.architecture, parameters, torch.cat(joined, 2))
        values = network.ratings(self.architecture, outputs).double().cpu().numpy()
        return [value[: len(own)] for value, own in zip(values, rows, strict=True)]

    # ---- checkpoints -----------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that changes in training."""
        return {
            "parameters": {k: v.detach() for k, v in self.parameters.items()},
            "optimizer": self.optimizer.state_dict(),
            "best": self.best,
            "best_score": torch.from_numpy(self.best_score),
            "best_pass": torch.from_numpy(self.best_pass),
            "phase": self.phase,
            "done": self.done,
            "history": self.history,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """The reverse of `state`."""
        for name, value in self.parameters.items():
            value.detach().copy_(state["parameters"][name])
            self.best[name].copy_(state["best"][name])
        self.optimizer = self._adam()
        self.optimizer.load_state_dict(state["optimizer"])
        self.best_score = state["best_score"].numpy()
        self.best_pass = state["best_pass"].numpy()
        self.phase, self.done = state["phase"], state["done"]
        self.history = list(state["history"])


def reverse(sequences: Sequences) -> Sequences:
    """Every row backwards."""
    rows = np.repeat(np.arange(len(sequences.starts) - 1), sequences.lengths)
    mirrored = sequences.starts[rows] + sequences.starts[rows + 1] - 1 - np.arange(len(rows))
    return Sequences(sequences.tokens[mirrored], sequences.starts)
