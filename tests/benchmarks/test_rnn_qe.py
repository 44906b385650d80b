"""RNN-QE's benchmark, on hardly any row. Never times."""

from __future__ import annotations

import pytest

from benchmarks import rnn_qe


def test_it_says_how_many_instances_a_second(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="make torch")
    rnn_qe.main(rnn_qe.options.parse_args(["--runs", "1", "--rows", "60"]))
    assert int(capsys.readouterr().out.split()[0]) > 0
