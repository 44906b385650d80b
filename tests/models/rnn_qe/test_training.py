"""Training: it learns, repeats itself, keeps its best pass, and stops."""

import numpy as np
import pytest

from refless.errors import SettingError
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.scale import HALF_POINTS, Scale
from tests.models.rnn_qe.test_network import small

pytest.importorskip("torch", reason="make torch")

from refless.models.rnn_qe.names import SCHEDULES, Schedule
from refless.models.rnn_qe.network import predict
from refless.models.rnn_qe.training import fit, validated


def test_it_learns_a_rule_from_200_texts() -> None:
    """How many different words a text has, and no chance."""
    table = small(260)
    table["part"] = ["train"] * 200 + ["dev"] * 30 + ["test"] * 30
    data = Encoded(table)
    network, _ = fit(data, Schedule(0, 10, 0.01, 20), 0, 16)
    rows = data.rows("test")
    found = predict(network, *data.inputs(rows))
    assert np.corrcoef(found, data.rating[rows])[0, 1] > 0.7


@pytest.mark.parametrize("before", [0, 1])
def test_a_seed_decides_all_numbers(before: int) -> None:
    """Whatever was trained before in the same process."""
    data = Encoded(small())
    schedule = Schedule(1, 2, 0.01, 7)
    for seed in range(before):
        fit(data, schedule, seed, 4)
    one, again, other = (
        predict(fit(data, schedule, seed, 4)[0], data.mr, data.text) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(one, again)
    assert not np.allclose(one, other)


@pytest.mark.parametrize("scale", [HALF_POINTS, Scale(step=None)])
def test_the_best_pass_over_rated_rows_predicts(scale: Scale) -> None:
    data = Encoded(small(150))
    network, best = fit(data, Schedule(1, 4, 0.02, 10), 3, 8, scale=scale)
    assert validated(network, data, scale) == pytest.approx(best["score"])
    data.rating = np.full(150, 3.0)
    assert validated(network, data, scale) == -2  # undefined


def test_a_plateau_ends_training() -> None:
    data, best = Encoded(small()), []
    for plateau in (0, 2):
        best.append(fit(data, Schedule(0, 12, 0.02, 7, plateau), 0, 4)[1])
    whole, short = best
    assert short["pass"] <= whole["pass"]
    assert short["score"] <= whole["score"]


def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(SettingError, match="cannot use the device"):
        fit(Encoded(small()), SCHEDULES["short"], 0, 4, device="xla:9")
