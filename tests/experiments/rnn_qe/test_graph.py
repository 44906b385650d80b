"""Training as jobs of Snakemake. Needs torch."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.conftest import Project

pytestmark = pytest.mark.slow
FILES = [f"results/rnn_qe/predictions/cross_domain_1_setup1/{seed}.csv.gz" for seed in (0, 1)]


def test_a_killed_training_goes_on_where_snakemake_stood(changed: Project) -> None:
    pytest.importorskip("torch", reason="make torch")
    first, second = (changed.path / path for path in FILES)
    run = changed.launch(FILES[0], start_new_session=True)
    output, _ = run.communicate()
    assert "trains 1 networks of RNN-QE in 1 jobs" in output
    made = first.stat().st_mtime_ns
    run = changed.launch(*FILES, start_new_session=True)
    log = changed.path / "results/logs/train_rnn_qe/cross_domain_1_setup1/1.log"
    while run.poll() is None and not (log.is_file() and "pass 1" in log.read_text()):
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    assert not second.exists()
    changed.snakemake("--unlock")
    assert changed.planned(*FILES) == {"train_rnn_qe": 1}
    changed.snakemake(*FILES)
    assert first.stat().st_mtime_ns == made
    # ratings that are merely newer are no reason to train again
    (changed.path / "results/ratings/nem/texts.csv").touch()
    assert changed.planned(*FILES) == {}
