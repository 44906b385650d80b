"""ΔBLEU's benchmark: that ours and the peers score the same units alike. Never times."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks import delta_bleu as benchmark
from refless.experiments.delta_bleu.dialogues import read_dialogues
from tests.kernels.texts import random_sentences


def test_peers_score_the_same_units(monkeypatch: pytest.MonkeyPatch) -> None:
    contexts, systems = 110, ["human", "a", "b", "c"]
    texts = [f"so {text}" for text in random_sentences(contexts * 4, 12, seed=1)]
    table = {
        "text": texts,
        "quality": np.random.default_rng(0).integers(0, 25, len(texts)) / 24,
        "n_ratings": 3,
        "system": systems * contexts,
        "context_id": np.repeat(np.arange(contexts).astype(str), 4),
        "context": "",
    }
    dialogues = read_dialogues(pd.DataFrame(table))
    assert len(benchmark.measure(dialogues, assignments=2, sample=2, runs=1)) == 3
    monkeypatch.setattr(benchmark, "_anew", lambda *_: 0.5)
    with pytest.raises(AssertionError, match=r"gives 0\.5"):
        benchmark.measure(dialogues, assignments=1, sample=1, runs=1)
