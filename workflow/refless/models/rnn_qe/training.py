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
rated rows, with Adam anew (the paper does not say). What predicts in the end is the best of the
passes over the rated rows: after a pass over everything a model has the mean of synthetic ratings,
half a point off on the validation part, and folds of which some are so are not to be pooled.

With a plateau, training ends when no model of a stack has improved for as many passes. That gives
what all passes give, unless a best pass follows such a plateau.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from refless.errors import FormatError, SettingError
from refless.models.rnn_qe import network
from refless.models.rnn_qe.batches import (
    HIGHEST,
    LOWEST,
    Encoded,
    Sequences,
    deal,
    pack,
    rounded,
)

# torch by way of network, which says what to do where it is missing
from refless.models.rnn_qe.network import (
    ENCODERS,
    Architecture,
    Inputs,
    Parameters,
    Tensor,
    torch,
)
from refless.statistics import weighted_pearson, weighted_spearman
from refless.store.files import whole_file

log = logging.getLogger(__name__)
Array = np.ndarray
PHASES = ("pretrain", "train")
START = -1
"""In place of a phase, where a generator serves to set up a model."""


@dataclass(frozen=True)
class Schedule:
    """How long and how fast, and which pass predicts.

    pretrain, train : passes over everything, and at most over rated rows
    rate, batch : Adam's rate, rows of a batch
    plateau : passes over rated rows without an improvement that end training; 0: all are made
    choice : what makes a pass the best, of `CHOICES`
    """

    pretrain: int
    train: int
    rate: float
    batch: int
    plateau: int = 0
    choice: str = "sum"

    def __post_init__(self) -> None:
        if self.train < 1 or min(self.pretrain, self.plateau) < 0 or self.batch < 1:
            raise SettingError("a schedule needs a pass, a batch size and a plateau of at least 0")
        if not self.rate > 0 or self.choice not in CHOICES:
            raise SettingError(f"a schedule needs a rate above 0 and a choice of {list(CHOICES)}")

    def passes(self, phase: int) -> int:
        """The most passes of a phase."""
        return (self.pretrain, self.train)[phase]


UNROUNDED = "unrounded"
"""For ratings on other scales: they may all lie within the paper's half point."""
CHOICES = ("sum", UNROUNDED)
"""A pass is judged on the validation part by Pearson plus Spearman of rounded predictions (with
`UNROUNDED`: as they are)."""
SCHEDULES = {
    # The batch size is not in the paper; 50 is that of the authors' published configuration.
    "paper": Schedule(pretrain=20, train=500, rate=1e-4, batch=50, plateau=60),
    # Chosen on validation parts alone, five folds and one seed: Pearson plus Spearman of rounded
    # predictions, after the best pass of each model. Of set-up 4, 0.750 by pass 7; 0.747 with 4 and
    # 16 passes in batches of 100, 0.736 with 2 and 16 of these, 0.705 with 2 and 10 at 2e-3. Of
    # set-up 1, batches of 50 and 100, and 15 and 24 passes, are within 0.01 of each other.
    "fast": Schedule(pretrain=2, train=12, rate=1e-3, batch=50),
}


class Member(NamedTuple):
    """One model of a stack."""

    fold: int
    seed: int


@cache
def _code() -> str:
    """SHA-256 of the code of the models and their training: half of each would be neither."""
    folder = Path(__file__).parent
    names = ("batches.py", "network.py", "training.py")
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in names)).hexdigest()


def generator(seed: int, phase: int, number: int) -> np.random.Generator:
    """The source of all randomness of one model in one pass (its start: `START`, 0)."""
    return np.random.Generator(np.random.SFC64([seed, phase - START, number]))


def corner(model: int, shape: Sequence[int]) -> tuple[int | slice, ...]:
    """Where one model's values are in a stack that is as wide as its widest model."""
    return (model, *(slice(0, size) for size in shape))


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
    ) -> None:
        self.members, self.schedule, self.architecture = list(members), schedule, architecture
        self.device = torch.device(device)
        self.data = [folds[member.fold] for member in members]
        self.rows = [
            [data.instances.rows("train", "pretrain") for data in self.data],
            [data.instances.rows("train") for data in self.data],
        ]
        self.parameters = self._start()
        self.optimizer = self._adam()
        self.phase, self.done = 0 if self._pretrains() else 1, 0
        self.best = {name: value.detach().clone() for name, value in self.parameters.items()}
        self.best_score = np.full(len(self.members), -math.inf)
        self.best_pass = np.full((len(self.members), 2), -1)
        self.history: list[dict[str, Any]] = []

    # ---- parameters ------------------------------------------------------------------------------

    def _start(self) -> Parameters:
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
            own.append(values)
        stacked = {}
        for name in own[0]:
            shape = np.max([values[name].shape for values in own], axis=0)
            whole = np.zeros((len(own), *shape), np.float32)
            for model, values in enumerate(own):
                whole[corner(model, values[name].shape)] = values[name]
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

    def most_passes(self, phase: int) -> int:
        return self.schedule.passes(phase)

    def fewest_passes(self) -> int:
        """Passes over rated rows that are made if no model improves again."""
        if not self.schedule.plateau:
            return self.most_passes(1)
        improved = self.best_pass[self.best_pass[:, 0] == 1, 1].max(initial=0)
        return min(self.most_passes(1), int(improved) + self.schedule.plateau)

    def batches_of(self, model: int) -> int:
        """Batches that a model's rows make in a pass of the present phase."""
        return max(1, -(-len(self.rows[self.phase][model]) // self.schedule.batch))

    def sequences(self, name: str) -> list[Sequences]:
        """What the encoder ``name`` reads, of each model."""
        return [getattr(data, name) for data in self.data]

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
        for name in ENCODERS:
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
        ratings = network.head(self.architecture, self.parameters, torch.cat(states, 2))
        loss = network.losses(ratings, *given)
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
        found = self.validate()
        score = found["pearson"] + found["spearman"]
        score[np.isnan(score)] = -1e9  # worse than any, better than no pass
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
                "pearson": found["pearson"].tolist(),
                "spearman": found["spearman"].tolist(),
            }
        )
        if self.done >= (self.most_passes(0) if self.phase == 0 else self.fewest_passes()):
            self.phase, self.done = self.phase + 1, 0
            if not self.finished:
                for name, value in self.parameters.items():
                    value.detach().copy_(self.best[name])
                self.best_score[:] = -math.inf  # what predicts comes from rated rows
                self.optimizer = self._adam()

    # ---- prediction ------------------------------------------------------------------------------

    def validate(self) -> dict[str, Array]:
        """``pearson`` and ``spearman`` of each model's validation part, of rounded predictions or
        as `CHOICES` says, NaN where undefined; shape (models,) each."""
        rows = [data.instances.rows("dev") for data in self.data]
        found: dict[str, list[Any]] = {"pearson": [], "spearman": []}
        predictions = self.predict(rows, self.parameters)
        for data, own, prediction in zip(self.data, rows, predictions, strict=True):
            clip = self.schedule.choice == UNROUNDED
            given = np.clip(prediction, LOWEST, HIGHEST) if clip else rounded(prediction)
            truth = data.rating[own]
            once = np.ones((1, len(own)))
            found["pearson"].append(weighted_pearson(given[None], truth[None], once)[0])
            found["spearman"].append(weighted_spearman(given, truth, once)[0])
        return {name: np.array(values, dtype=float) for name, values in found.items()}

    def predict(self, rows: Sequence[Array], parameters: Parameters) -> list[Array]:
        """Unrounded ratings of each model's ``rows``, without dropout."""
        sequences = {name: self.sequences(name) for name in ENCODERS}
        return network.predict(self.architecture, parameters, sequences, rows)

    # ---- checkpoints -----------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that changes in training, and is still needed."""
        state = {
            "best": self.best,
            "best_score": torch.from_numpy(self.best_score),
            "best_pass": torch.from_numpy(self.best_pass),
            "phase": self.phase,
            "done": self.done,
            "history": self.history,
        }
        if not self.finished:
            state["parameters"] = {k: v.detach() for k, v in self.parameters.items()}
            state["optimizer"] = self.optimizer.state_dict()
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        """The reverse of `state`."""
        for name, value in self.best.items():
            value.detach().copy_(state["best"][name])
        if "parameters" in state:
            for name, value in self.parameters.items():
                value.detach().copy_(state["parameters"][name])
            self.optimizer = self._adam()
            self.optimizer.load_state_dict(state["optimizer"])
        self.best_score = state["best_score"].numpy()
        self.best_pass = state["best_pass"].numpy()
        self.phase, self.done = state["phase"], state["done"]
        self.history = list(state["history"])

    def signature(self) -> str:
        """A name for the models, the data and all that decides their numbers."""
        parts: list[Any] = [self.members, asdict(self.schedule), asdict(self.architecture)]
        parts += [torch.__version__, np.__version__, str(self.device), _code()]
        digest = hashlib.sha256(json.dumps(parts).encode())
        for data in self.data:
            digest.update(data.digest.encode())
        return digest.hexdigest()[:16]

    def own(self, number: int, parameters: Parameters) -> Parameters:
        """One model's parameters, a stack of one without the rows of others' words."""
        data = self.data[number]
        shapes = self.architecture.shapes(len(data.mr_words) + 1, len(data.text_words) + 1)
        return {
            name: parameters[name].detach()[corner(number, shape)][None].clone()
            for name, shape in shapes.items()
        }

    def course(self, number: int) -> dict[str, Any]:
        """One model's fold, seed, best pass and history, as JSON has it (None: undefined)."""
        keys = ("loss", "pearson", "spearman")
        history = [
            entry | {key: _number_or_none(entry[key][number]) for key in keys}
            for entry in self.history
        ]
        phase, done = (int(value) for value in self.best_pass[number])
        best = next(e for e in history if (e["phase"], e["pass"]) == (PHASES[phase], done))
        return {**self.members[number]._asdict(), "best": best, "history": history}

    def remaining(self) -> tuple[int, int]:
        """Instance passes that are still to come, of all models: the fewest, if none improves
        again, and the most."""
        fewest = most = 0
        for phase in range(self.phase, len(PHASES)):
            if phase == 0 and not self._pretrains():
                continue
            done = self.done if phase == self.phase else 0
            ends = (self.fewest_passes() if phase else self.most_passes(0), self.most_passes(phase))
            size = sum(map(len, self.rows[phase]))
            fewest, most = fewest + (ends[0] - done) * size, most + (ends[1] - done) * size
        return fewest, most


def _number_or_none(value: float) -> float | None:
    """JSON knows no NaN."""
    return None if math.isnan(value) else value


# ---- a whole run ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """How a set-up is trained; none of this but ``device`` can change a number, except that with a
    plateau the models of a stack end together.

    together : models in a stack; without it 5 on a CPU, where more only crowd the caches, else all
    workers : stacks that are trained at the same time, each on one core; on a CPU only
    checkpoints : folder where an interrupted run finds what it had, or None
    every : seconds between two checkpoints of a stack; written after a pass
    keep : whether checkpoints stay when all is done, so that more seeds can be trained later
    """

    device: str = "cpu"
    together: int | None = None
    workers: int = 1
    checkpoints: Path | None = None
    every: float = 60.0
    keep: bool = False

    def __post_init__(self) -> None:
        if self.device != "cpu":
            try:
                torch.empty(1, device=self.device)
            except (RuntimeError, AssertionError) as error:
                raise SettingError(
                    f"torch cannot use the device {self.device!r}",
                    remedy="cpu, or a build of torch for that device",
                ) from error


@dataclass(frozen=True)
class Trained:
    """What comes out of `train`.

    predictions : one row a model and an instance of ``dev`` or ``test``: fold, seed, part, id,
        ``raw`` and ``prediction`` (rounded, see `refless.models.rnn_qe.batches.rounded`)
    models : one entry a model: fold, seed, phase and number of its best pass, its correlations on
        the validation part then, and ``history``: one entry a pass
    parameters : of each model's best pass, in the same order
    seconds : that this run took; less than the whole where it went on from checkpoints
    """

    predictions: pd.DataFrame
    models: list[dict[str, Any]]
    parameters: list[Parameters]
    seconds: float


def train(
    folds: Mapping[int, Encoded],
    seeds: Sequence[int],
    schedule: Schedule,
    architecture: Architecture,
    run: Run | None = None,
    tick: Callable[[int], None] = lambda instances: None,
) -> Trained:
    """Train a model for each fold and seed, and predict with what was best on its validation part.

    Progress is shown on standard error where that is a terminal, and logged now and then.

    Parameters
    ----------
    tick : called with the number of instances after each batch (of a stack)

    Raises
    ------
    SettingError : no fold or no seed, a seed below 0.
    FormatError : a checkpoint cannot be read.
    OutputError : a checkpoint cannot be written.
    """
    run = run or Run()
    if not folds or not seeds or min(seeds) < 0:
        raise SettingError("training needs a fold and a seed, and seeds of at least 0")
    begin = time.perf_counter()
    # One seed of all folds first: an unfinished run then has whole cross-validations.
    members = [Member(fold, seed) for seed in seeds for fold in folds]
    size = run.together or (5 if run.device == "cpu" else len(members))
    chunks = [members[start : start + size] for start in range(0, len(members), size)]
    workers = min(run.workers, len(chunks)) if run.device == "cpu" else 1
    with _cores(1 if workers > 1 else run.workers):

        def build(chunk: list[Member]) -> Stack:
            return Stack(chunk, folds, schedule, architecture, run.device)

        stop = threading.Event()
        stacks = [_Kept(build, chunk, run) for chunk in chunks]
        progress = _Progress(stacks, tick, stop)
        with ThreadPoolExecutor(workers) as pool:
            jobs = [pool.submit(stack.finish, progress) for stack in stacks]
            try:
                done = [job.result() for job in jobs]
            except BaseException:
                stop.set()
                for job in jobs:
                    job.cancel()
                raise
        progress.bar.close()
    return _gathered(done, time.perf_counter() - begin)


@contextmanager
def _cores(count: int) -> Iterator[None]:
    """torch's threads within a product, for the while."""
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, count))
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Stopped(Exception):
    """Another stack failed, or the user lost patience."""


class _Progress:
    """A bar where there is a terminal, and a line in the log now and then: how far it is, how good,
    and how long the rest will take."""

    def __init__(
        self, stacks: Sequence[_Kept], tick: Callable[[int], None], stop: threading.Event
    ) -> None:
        from tqdm import tqdm

        self.tick, self.stop = tick, stop
        self.lock = threading.Lock()
        self.begin = self.told = time.perf_counter()
        self.done, self.stacks = 0, stacks
        fewest, most = self.left()
        # disable=None: no bar where standard error is not a terminal
        self.bar = tqdm(total=most, unit="", unit_scale=True, disable=None, smoothing=0.05)
        models = sum(len(stack.members) for stack in stacks)
        at_most = "at most " if fewest < most else ""
        log.info("%d models, %s%s instance passes to go", models, at_most, f"{most:,}")

    def left(self) -> tuple[int, int]:
        """The fewest and the most instance passes to come."""
        fewest, most = zip(*(stack.left for stack in self.stacks), strict=True)
        return sum(fewest), sum(most)

    def batch(self, instances: int) -> None:
        """After each batch."""
        if self.stop.is_set():
            raise _Stopped
        with self.lock:
            self.tick(instances)
            self.done += instances
            self.bar.update(instances)

    def after_pass(self, kept: _Kept, stack: Stack) -> None:
        """Correlations on the validation parts, means over the stack."""
        last = stack.history[-1]
        with self.lock:
            kept.left = stack.remaining()
            pearson, spearman = (float(np.mean(last[name])) for name in ("pearson", "spearman"))
            said = f"dev Pearson {pearson:.3f} Spearman {spearman:.3f}"
            left = self.left()
            self.bar.total = self.done + left[1]
            self.bar.set_postfix_str(said)
            now = time.perf_counter()
            if stack.finished or now - self.told > 60:
                self.told = now
                who = " ".join(f"{member.fold}/{member.seed}" for member in stack.members)
                passed = f"{last['phase']} pass {last['pass']}"
                fewest, most = ((now - self.begin) / self.done * one / 60 for one in left)
                rest = f"{most:.0f}" if left[0] == left[1] else f"{fewest:.0f} to {most:.0f}"
                log.info("folds and seeds %s: %s, %s; %s min left", who, passed, said, rest)


class _Kept:
    """A stack that is built only when its turn comes, and its checkpoint."""

    def __init__(
        self, build: Callable[[list[Member]], Stack], members: list[Member], run: Run
    ) -> None:
        self.build, self.members, self.run = build, members, run
        stack = build(members)
        self.path = None
        if run.checkpoints is not None:
            self.path = Path(run.checkpoints) / f"{stack.signature()}.pt"
        self.left = self._resumed(stack).remaining()

    def _resumed(self, stack: Stack) -> Stack:
        if self.path is not None and self.path.is_file():
            try:
                stack.restore(network.load(self.path))
            except network.UNREADABLE as error:
                raise FormatError(
                    f"cannot be read as a checkpoint: {error}",
                    path=self.path,
                    remedy="delete it and run again",
                ) from error
        return stack

    def finish(self, progress: _Progress) -> Stack:
        """Train what is left."""
        torch.set_num_threads(1 if self.run.device == "cpu" else torch.get_num_threads())
        stack = self._resumed(self.build(self.members))
        written = time.perf_counter()
        while not stack.finished:
            stack.advance(progress.batch)
            progress.after_pass(self, stack)
            late = time.perf_counter() - written >= self.run.every
            if self.path is not None and (stack.finished or late):
                with whole_file(self.path) as partial:
                    torch.save(stack.state(), partial)
                written = time.perf_counter()
        del stack.optimizer  # two thirds of its memory
        return stack


def _gathered(stacks: Sequence[Stack], seconds: float) -> Trained:
    tables, models, parameters = [], [], []
    for stack in stacks:
        rows = [data.instances.rows("dev", "test") for data in stack.data]
        predicted = stack.predict(rows, stack.best)
        for number, (member, data) in enumerate(zip(stack.members, stack.data, strict=True)):
            own = rows[number]
            tables.append(
                pd.DataFrame(
                    {
                        "fold": member.fold,
                        "seed": member.seed,
                        "part": [data.instances.part[row] for row in own],
                        "id": [data.instances.id[row] for row in own],
                        "raw": predicted[number],
                        "prediction": rounded(predicted[number]),
                    }
                )
            )
            models.append(stack.course(number))
            parameters.append(stack.own(number, stack.best))
    return Trained(pd.concat(tables, ignore_index=True), models, parameters, seconds)
