"""Training: it learns, repeats itself, keeps its best pass, and stops."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from refless.errors import SettingError
from refless.models.rnn_qe.batches import Encoded, rounded
from tests.models.rnn_qe.test_network import small

pytest.importorskip("torch", reason="make torch")

from refless.models.rnn_qe.names import SCHEDULES, Schedule
from refless.models.rnn_qe.network import predict
from refless.models.rnn_qe.training import Progress, fit


def test_it_learns_a_rule_from_200_texts(caplog: pytest.LogCaptureFixture) -> None:
    """How many different words a text has, and no chance."""
    table = small(260)
    table["part"] = ["train"] * 200 + ["dev"] * 30 + ["test"] * 30
    data = Encoded(table)
    with caplog.at_level(logging.INFO):
        network, best = fit(data, Schedule(0, 10, 0.01, 20), 0, 16)
    assert best["pearson"] > 0.7
    rows = data.rows("test")
    found = predict(network, [data.mr[row] for row in rows], [data.text[row] for row in rows])
    assert np.corrcoef(found, data.rating[rows])[0, 1] > 0.7
    # the log has pass, loss, correlation and the time left
    assert all(word in caplog.messages[0] for word in ("pass 1", "loss", "Pearson", "min left"))
    assert caplog.messages[-1].endswith(" 0 min left")


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


@pytest.mark.parametrize("half_points", [True, False])
def test_the_best_pass_over_rated_rows_predicts(half_points: bool) -> None:
    data = Encoded(small(150))
    network, best = fit(data, Schedule(1, 4, 0.02, 10), 3, 8, half_points=half_points)
    assert best["phase"] == "train"
    rows = data.rows("dev")
    found = predict(network, [data.mr[row] for row in rows], [data.text[row] for row in rows])
    given = rounded(found) if half_points else np.clip(found, 1, 6)
    assert np.corrcoef(given, data.rating[rows])[0, 1] == pytest.approx(best["pearson"])


def test_a_plateau_ends_training_and_changes_nothing_before() -> None:
    table = small()
    table.loc[table["part"] == "pretrain", "part"] = "train"
    data, done = Encoded(table), []
    for plateau in (0, 2):
        schedule = Schedule(2, 12, 0.02, 7, plateau)
        progress = Progress(schedule, data)
        assert progress.total == 12 * len(data.rows("train"))  # without synthetic rows
        done.append(fit(data, schedule, 0, 4, progress=progress)[1])
        assert progress.done == progress.total
    whole, short = done
    assert short["pass"] <= whole["pass"]
    assert short["score"] <= whole["score"]


def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(SettingError, match="cannot use the device"):
        fit(Encoded(small()), SCHEDULES["short"], 0, 4, device="xla:9")
