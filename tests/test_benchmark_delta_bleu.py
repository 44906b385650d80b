"""ΔBLEU's benchmark: that ours and the peers score the same units alike. Never times."""

from __future__ import annotations

import re
import statistics
from pathlib import Path

import pytest
from benchmarks import delta_bleu_timing as benchmark

from refless.store.files import read_json

ROOT = Path(__file__).parents[1]


def test_peers_score_the_same_units(monkeypatch: pytest.MonkeyPatch) -> None:
    dialogues = benchmark.generated_dialogues(contexts=110, systems=3)
    record = benchmark.measure(dialogues, "generated", assignments=2, sample=2, runs=1)
    peers = [row["peer"] for row in record["rows"]]
    assert peers == ["corpus_delta_bleu", "corpus_delta_bleu at weights 1", "sacrebleu"]
    assert record["scores"] == 2 * 3 * 2
    row = record["rows"][0]
    assert row["ratio"][0] == pytest.approx(
        row["alone"][0] * 12 / (row["counting"][0] + row["adding"][0])
    )
    assert "sacrebleu" in benchmark.table(record)
    monkeypatch.setattr(benchmark, "_direct", lambda *_: 0.5)
    with pytest.raises(AssertionError, match=r"gives 0\.5"):
        benchmark.measure(dialogues, "generated", assignments=1, sample=1, runs=1)


def test_the_readme_quotes_the_record() -> None:
    record = read_json(ROOT / "resources/benchmarks/delta_bleu.json")
    assert record["scores"] == 720_000
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for row in record["rows"]:
        if row["peer"] in ("sacrebleu", "corpus_delta_bleu"):
            times = f"{statistics.median(row['ratio']):,.0f}"
            assert re.search(rf"\b{times} times", text), times
