"""RNN-QE's benchmark, on hardly any batch. Never times."""

from __future__ import annotations

from pathlib import Path

import pytest
from refless.report.benchmarks import peer_table

from benchmarks import rnn_qe
from refless.store.files import read_json


def test_it_compares_like_with_like(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="make torch")
    few = "--runs 1 --batches 1 --batch 8 --together 2 --cores 1 --instances none --out"
    rnn_qe.main(rnn_qe.options.parse_args([*few.split(), str(tmp_path / "record.json")]))
    record = read_json(tmp_path / "record.json")
    assert set(record["ratio"]) == {"together, float32", "together, bfloat16"}
    rates = record["instances_per_second"]
    assert all(rate["core"] > 0 for rate in rates.values())
    assert "torch.nn" in peer_table({"rnn_qe": record})
