"""RNN-QE's benchmark, on hardly any batch. Never times."""

from __future__ import annotations

import pytest

from benchmarks import rnn_qe


def test_it_compares_like_with_like(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="make torch")
    few = "--runs 1 --batches 1 --batch 8 --together 2 --cores 1"
    rnn_qe.main(rnn_qe.options.parse_args(few.split()))
    _, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all("torch.nn" in line for line in lines)
