"""Training of one network of RNN-QE.

Stage: prediction (RNN-QE). In: instances, a schedule, a seed. Out: the network of its best epoch.
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
from refless.models.rnn_qe.network import PAPER_WIDTH, Network, one_core, predict, torch
from refless.models.rnn_qe.scale import half_points

_log = logging.getLogger(__name__)
Array = np.ndarray


def fit(
    data: Encoded,
    schedule: Schedule,
    seed: int,
    width: int = PAPER_WIDTH,
    device: str = "cpu",
    rounded: Callable[[Array], Array] = half_points,
) -> tuple[Network, dict[str, Any]]:
    """Train a network, on one core if on a CPU; the network, and its best epoch: its number from 1
    (``pass``), its mean loss, and its score on the validation part.

    With synthetic rows, the epochs over all rows come first, and the best network of these starts
    the epochs over the rated rows, with Adam anew. The best of the latter predicts. The seed
    decides where the network starts, its batches and its dropout. Predictions are ``rounded``
    before an epoch is judged.

    Raises SettingError: torch cannot use the device.

    >>> import pandas as pd
    >>> columns = {"id": range(4), "part": ["train", "train", "dev", "dev"], "mr": ""}
    >>> table = pd.DataFrame({**columns, "text": ["good", "bad"] * 2, "rating": [6.0, 1.0] * 2})
    >>> _, best = fit(Encoded(table), Schedule(0, 5, learning_rate=0.1, batch=2), seed=0, width=4)
    >>> round(best["score"], 1)  # Pearson and Spearman are 1
    2.0
    """
    rated, all_rows = data.rows("train"), data.rows("train", "pretrain")
    phases = [(2, rated, schedule.train, schedule.patience)]
    if schedule.pretrain and len(all_rows) > len(rated):
        phases.insert(0, (1, all_rows, schedule.pretrain, 0))
    with one_core(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = initial_network(data, width, device)
        for phase, rows, epochs, patience in phases:
            adam = torch.optim.Adam(network.parameters(), lr=schedule.learning_rate, fused=True)
            best: dict[str, Any] = {"score": -math.inf}
            for epoch in range(1, epochs + 1):
                generator = np.random.Generator(np.random.SFC64([seed, phase, epoch - 1]))
                batches = data.batches(rows, schedule.batch, generator)
                loss = train_epoch(network, adam, data, batches)
                score = validation_score(network, data, rounded)
                _log.info("phase %d, epoch %d: loss %.3f, r + rho %.3f", phase, epoch, loss, score)
                if score > best["score"]:
                    best = {"pass": epoch, "loss": loss, "score": score}
                    state = copy.deepcopy(network.state_dict())
                if 0 < patience <= epoch - best["pass"]:
                    break
            network.load_state_dict(state)
    return network, best


def initial_network(data: Encoded, width: int, device: str) -> Network:
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


def train_epoch(
    network: Network, adam: torch.optim.Optimizer, data: Encoded, batches: list[Array]
) -> float:
    """One epoch over some batches of rows; the mean loss of a row."""
    network.train()
    device, total = next(network.parameters()).device, 0.0
    for rows in batches:
        truth = torch.from_numpy(data.rating[rows]).to(device, torch.float32)
        mrs, texts = data.inputs(rows)
        loss = ((network(mrs, texts) - truth) ** 2).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        total += loss.item() * len(rows)
    return total / sum(map(len, batches))


def validation_score(network: Network, data: Encoded, rounded: Callable[[Array], Array]) -> float:
    """Pearson plus Spearman correlation on the validation part; -2 where they are undefined."""
    rows = data.rows("dev")
    mrs, texts = data.inputs(rows)
    prediction, truth = rounded(predict(network, mrs, texts)), data.rating[rows]
    if not (np.ptp(prediction) > 0 and np.ptp(truth) > 0):  # nor of what is no number
        return -2.0
    pearson = np.corrcoef(prediction, truth)[0, 1]
    return float(pearson + np.corrcoef(rankdata(prediction), rankdata(truth))[0, 1])
