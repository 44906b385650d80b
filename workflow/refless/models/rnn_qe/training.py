"""Training of one network of RNN-QE.

Stage: prediction (RNN-QE). In: instances, a schedule, a seed. Out: the network after its best pass.

After each pass the validation part is predicted; the best pass is that of the largest Pearson plus
Spearman correlation (Dušek et al. 2017, section 3.4). With synthetic rows, the passes over
everything come first, and the best network of these starts the passes over the rated rows, with
Adam anew (the paper does not say). What predicts in the end is the best of the passes over the
rated rows: after a pass over everything a network has the mean of synthetic ratings, half a point
off on the validation part, and folds of which some are so are not to be pooled.

The seed decides where a network starts, its batches and its dropout. On one core of a machine, the
same seed gives the same numbers.
"""

from __future__ import annotations

import copy
import logging
import math
import time
from typing import Any

import numpy as np
from scipy.stats import rankdata

from refless.errors import SettingError
from refless.models.rnn_qe.batches import HIGHEST, LOWEST, Encoded, rounded
from refless.models.rnn_qe.names import Schedule
from refless.models.rnn_qe.network import WIDTH, Network, one_core, predict, torch

log = logging.getLogger(__name__)
Array = np.ndarray


class Progress:
    """How much of some trainings is done, for the log."""

    def __init__(self, schedule: Schedule, *data: Encoded) -> None:
        self.total, self.done, self.begin = 0, 0, time.perf_counter()
        for one in data:
            rated, synthetic = (len(one.rows(part)) for part in ("train", "pretrain"))
            self.total += schedule.train * rated
            self.total += schedule.pretrain * (rated + synthetic) if synthetic else 0

    def left(self) -> str:
        """The time to come, at most."""
        seconds = time.perf_counter() - self.begin
        return f"{seconds * (self.total / max(1, self.done) - 1) / 60:.0f} min left"


def fit(
    data: Encoded,
    schedule: Schedule,
    seed: int,
    width: int = WIDTH,
    device: str = "cpu",
    half_points: bool = True,
    progress: Progress | None = None,
) -> tuple[Network, dict[str, Any]]:
    """Train a network, on one core if on a CPU; the network, and what its best pass was (None where
    a correlation is undefined).

    Parameters
    ----------
    half_points : whether a pass is judged by predictions rounded to half points, as in the paper;
        on other scales all may lie within one

    Raises
    ------
    SettingError : torch cannot use the device.
    """
    progress = progress or Progress(schedule, data)
    rated, everything = data.rows("train"), data.rows("train", "pretrain")
    pretrain = schedule.pretrain if len(everything) > len(rated) else 0
    phases = [(1, "pretrain", everything, pretrain), (2, "train", rated, schedule.train)]
    with one_core(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = started(data, width, device)
        for number, phase, rows, passes in phases[pretrain == 0 :]:
            adam = torch.optim.Adam(network.parameters(), lr=schedule.rate, fused=True)
            best: dict[str, Any] = {"score": -math.inf}
            for done in range(1, passes + 1):
                generator = np.random.Generator(np.random.SFC64([seed, number, done - 1]))
                batches = data.batches(rows, schedule.batch, generator)
                loss = train_pass(network, adam, data, batches)
                found = {"phase": phase, "pass": done, "loss": loss}
                found |= validated(network, data, half_points)
                if found["score"] > best["score"]:
                    best, state = found, copy.deepcopy(network.state_dict())
                progress.done += len(rows)
                said = "loss {loss:.3f}, Pearson {pearson:.3f}, Spearman {spearman:.3f}"
                log.info("%s pass %d: %s; %s", phase, done, said.format(**found), progress.left())
                if phase == "train" and 0 < schedule.plateau <= done - best["pass"]:
                    break
            progress.done += (passes - done) * len(rows)
            network.load_state_dict(state)
    return network, {name: None if value != value else value for name, value in best.items()}


def started(data: Encoded, width: int, device: str) -> Network:
    """A network before training; its last bias is the mean rating.

    Raises
    ------
    SettingError : torch cannot use the device.
    """
    torch.backends.cudnn.allow_tf32 = False  # float32 on a GPU too
    network = Network(len(data.mr_words), len(data.text_words), width)
    with torch.no_grad():
        network.get_parameter("head.4.bias").fill_(data.rating[data.rows("train")].mean())
    try:
        return network.to(device)
    except (RuntimeError, AssertionError) as error:
        raise SettingError(
            f"torch cannot use the device {device!r}",
            remedy="set `rnn_qe: {device: cpu}`, or install a build of torch for that device",
        ) from error


def train_pass(
    network: Network, adam: torch.optim.Optimizer, data: Encoded, batches: list[Array]
) -> float:
    """One pass over some batches of rows; the mean loss of a row."""
    network.train()
    device, total = next(network.parameters()).device, 0.0
    for rows in batches:
        ratings = network([data.mr[row] for row in rows], [data.text[row] for row in rows])
        truth = torch.from_numpy(data.rating[rows]).to(device, torch.float32)
        loss = ((ratings - truth) ** 2).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        total += loss.item() * len(rows)
    return total / sum(map(len, batches))


def validated(network: Network, data: Encoded, half_points: bool) -> dict[str, float]:
    """Correlations on the validation part, and their sum as the score; where undefined, NaN and a
    score that is worse than any, and better than no pass."""
    rows = data.rows("dev")
    found = predict(network, [data.mr[row] for row in rows], [data.text[row] for row in rows])
    given = rounded(found) if half_points else np.clip(found, LOWEST, HIGHEST)
    truth = data.rating[rows]
    with np.errstate(invalid="ignore"):
        pearson = float(np.corrcoef(given, truth)[0, 1])
        spearman = float(np.corrcoef(rankdata(given), rankdata(truth))[0, 1])
    score = pearson + spearman
    undefined = math.isnan(score)
    return {"pearson": pearson, "spearman": spearman, "score": -1e9 if undefined else score}
