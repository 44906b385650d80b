"""The benchmark of fitted models: that both ways predict alike, and what it says. Never times."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import neighbors as benchmark
from tests.kernels.texts import random_sentences


def test_both_ways_predict_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = random_sentences(60, 14, seed=1)
    record = benchmark.measure(texts, n=40, candidates=20, square=10, runs=1)
    said = benchmark.summary(record)
    assert "40 training texts" in said
    assert f"{record['bytes'] / 1e6:.0f} MB" in said
    assert record["peak_bytes"] >= record["peak_bytes_before"] > 0
    monkeypatch.setattr(benchmark, "_anew", lambda s, q, x: np.zeros(len(x)))
    with pytest.raises(AssertionError):
        benchmark.measure(texts, n=40, candidates=20, square=10, runs=1)
