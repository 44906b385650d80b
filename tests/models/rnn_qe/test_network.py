"""The network and its training: as the hand-written GRU was before, and what it is to do."""

from typing import Any

import numpy as np
import pytest

from refless.errors import SettingError
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.names import SCHEDULES, Schedule
from refless.models.rnn_qe.scale import HALF_POINTS, Scale
from tests.models.rnn_qe.test_data import small

pytest.importorskip("torch", reason="make torch")
import torch

from refless.models.rnn_qe import network, training
from refless.models.rnn_qe.network import predict
from refless.models.rnn_qe.training import fit, validated

BEFORE = [1.8246785283088685, 0.5377142757177353, 0.5050677686929703]
"""Losses of three passes of the hand-written GRU, from the same start over the same batches."""
RATED = [2.7790935039520264, 2.8377583026885986, 2.7120137214660645, 2.859750270843506]
"""And its ratings of the test part after its best one, the second."""
ORDER = [
    *("embeddings.mr.weight", "embeddings.text.weight"),
    *(f"encoders.mr.{name}_l0" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")),
    *(f"encoders.text.{name}_l0" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")),
    *(f"head.{layer}.{name}" for layer in (0, 2, 4) for name in ("weight", "bias")),
]


def test_training_is_that_of_the_hand_written_gru_before(monkeypatch):
    def started(data: Encoded, width: int, device: str) -> Any:
        made = network.Network(len(data.mr_words), len(data.text_words), width)
        own = made.state_dict()
        for number, name in enumerate(ORDER, start=1):
            values = torch.sin(torch.arange(own[name].numel(), dtype=torch.float32) * number) / 2
            own[name] = values.reshape(own[name].shape)
            if name.startswith("embeddings"):
                own[name][0] = 0
        made.load_state_dict(own)
        made.dropout.p = 0
        return made

    losses = []

    def train_pass(*given: Any) -> float:
        losses.append(one_pass(*given))
        return losses[-1]

    one_pass = training.train_pass
    monkeypatch.setattr(training, "started", started)
    monkeypatch.setattr(training, "train_pass", train_pass)
    data = Encoded(small())
    made, best = fit(data, Schedule(1, 2, 0.01, 7), 5, 4)
    assert losses == pytest.approx(BEFORE, abs=1e-5)
    assert best["pass"] == 1
    found = predict(made, *data.inputs(data.rows("test")))
    assert found == pytest.approx(RATED, abs=1e-5)
    assert predict(made, [], []).shape == (0,)


def test_a_seed_decides_all_numbers():
    """Whatever was trained before in the same process."""
    data, schedule = Encoded(small()), Schedule(1, 2, 0.01, 7)
    one, other, again = (
        predict(fit(data, schedule, seed, 4)[0], data.mr, data.text) for seed in (3, 4, 3)
    )
    np.testing.assert_array_equal(one, again)
    assert not np.allclose(one, other)


@pytest.mark.parametrize("scale", [HALF_POINTS, Scale(step=None)])
def test_the_best_pass_over_rated_rows_predicts(scale):
    data = Encoded(small(150))
    network, best = fit(data, Schedule(1, 4, 0.02, 10), 3, 8, scale=scale)
    assert validated(network, data, scale) == pytest.approx(best["score"])
    data.rating = np.full(150, 3.0)
    assert validated(network, data, scale) == -2  # undefined


def test_a_plateau_ends_training():
    data, best = Encoded(small()), []
    for plateau in (0, 2):
        best.append(fit(data, Schedule(0, 12, 0.02, 7, plateau), 0, 4)[1])
    whole, short = best
    assert short["pass"] <= whole["pass"]
    assert short["score"] <= whole["score"]


def test_a_device_that_is_not_there_is_named():
    with pytest.raises(SettingError, match="cannot use the device"):
        fit(Encoded(small()), SCHEDULES["short"], 0, 4, device="xla:9")
