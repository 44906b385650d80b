"""Training as jobs of Snakemake. Needs torch."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.conftest import Project


@pytest.mark.slow
def test_a_killed_training_goes_on_where_snakemake_stood(fresh: Project) -> None:
    pytest.importorskip("torch", reason="make torch")
    files = [f"results/rnn_qe/predictions/cross_domain_1_setup1/{seed}.csv.gz" for seed in (0, 1)]
    logs = [fresh.path / f"results/logs/train_rnn_qe/cross_domain_1_setup1/{k}.log" for k in (0, 1)]

    def second_trains() -> bool:
        return all(log.is_file() and "pass 1" in log.read_text() for log in logs)

    run = fresh.launch(*files, "--cores", "1", start_new_session=True)
    while run.poll() is None and not second_trains():
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGKILL)
    assert "trains 2 networks of RNN-QE in 2 jobs" in run.communicate()[0]
    (done,) = [fresh.path / path for path in files if (fresh.path / path).is_file()]
    made = done.stat().st_mtime_ns
    fresh.snakemake("--unlock")
    assert "trains 1 networks of RNN-QE in 1 jobs" in fresh.snakemake(*files)
    assert all((fresh.path / path).is_file() for path in files)
    assert done.stat().st_mtime_ns == made
