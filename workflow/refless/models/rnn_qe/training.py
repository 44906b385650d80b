"""Training of one network of RNN-QE.

Stage: prediction (RNN-QE). In: instances, a schedule, a seed. Out: the network after its best pass.
Source: Dušek, Novikova & Rieser (2017), section 3.4.
"""

import copy
import logging
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import rankdata

from refless.errors import SettingError
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.names import Schedule
from refless.models.rnn_qe.network import WIDTH, Network, one_core, predict, torch
from refless.models.rnn_qe.scale import half_points

log = logging.getLogger(__name__)
Array = np.ndarray


def fit(
    data: Encoded,
    schedule: Schedule,
    seed: int,
    width: int = WIDTH,
    device: str = "cpu",
    rounded: Callable[[Array], Array] = half_points,
) -> tuple[Network, dict[str, Any]]:
    """Train a network, on one core if on a CPU; the network, and what its best pass was.

    With synthetic rows, the passes over everything come first, and the best network of these starts
    the passes over the rated rows, with Adam anew. The best of the latter predicts. The seed
    decides where the network starts, its batches and its dropout. Predictions are ``rounded``
    before a pass is judged.

    Raises SettingError: torch cannot use the device.
    """
    rated, everything = data.rows("train"), data.rows("train", "pretrain")
    phases = [(2, rated, schedule.train, schedule.plateau)]
    if schedule.pretrain and len(everything) > len(rated):
        phases.insert(0, (1, everything, schedule.pretrain, 0))
    with one_core(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = started(data, width, device)
        for number, rows, passes, plateau in phases:
            adam = torch.optim.Adam(network.parameters(), lr=schedule.rate, fused=True)
            best: dict[str, Any] = {"score": -math.inf}
            for done in range(1, passes + 1):
                generator = np.random.Generator(np.random.SFC64([seed, number, done - 1]))
                batches = data.batches(rows, schedule.batch, generator)
                loss = train_pass(network, adam, data, batches)
                score = validated(network, data, rounded)
                log.info("phase %d, pass %d: loss %.3f, r + rho %.3f", number, done, loss, score)
                if score > best["score"]:
                    best = {"pass": done, "loss": loss, "score": score}
                    state = copy.deepcopy(network.state_dict())
                if 0 < plateau <= done - best["pass"]:
                    break
            network.load_state_dict(state)
    return network, best


def started(data: Encoded, width: int, device: str) -> Network:
    """A network before training; its last bias is the mean rating."""
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
        truth = torch.from_numpy(data.rating[rows]).to(device, torch.float32)
        loss = ((network(*data.inputs(rows)) - truth) ** 2).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        total += loss.item() * len(rows)
    return total / sum(map(len, batches))


def validated(network: Network, data: Encoded, rounded: Callable[[Array], Array]) -> float:
    """Pearson plus Spearman correlation on the validation part; -2 where they are undefined."""
    rows = data.rows("dev")
    given, truth = rounded(predict(network, *data.inputs(rows))), data.rating[rows]
    if not (np.ptp(given) > 0 and np.ptp(truth) > 0):  # nor of what is no number
        return -2.0
    ranks = rankdata(given), rankdata(truth)
    return float(np.corrcoef(given, truth)[0, 1] + np.corrcoef(*ranks)[0, 1])
