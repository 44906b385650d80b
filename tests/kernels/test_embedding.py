"""Sentence embeddings: against transformers itself, a text at a time, with tiny random encoders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from refless.kernels import embedding, kernel
from tests.kernels.test_bertscore import TEXTS, bert_folder, needs_torch


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert_folder(tmp_path_factory.mktemp("models") / "tiny")


def oracle(folder: Path, texts: list[str]) -> np.ndarray:
    """Mean of the last layer of transformers' model over all tokens, a text at a time; length 1."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=False)
    rows = []
    for text in texts:
        with torch.inference_mode():
            given = tokenizer(text.strip(), return_tensors="pt", truncation=True)
            mean = model(**given).last_hidden_state[0].mean(0).double().numpy()
        rows.append(mean / np.sqrt(mean @ mean) if text.strip() else 0 * mean)
    return np.array(rows)


@needs_torch
def test_cosines_are_those_of_transformers(tiny: Path) -> None:
    x = [*TEXTS, "", " \t", "\ud800 dog"]
    vectors = oracle(tiny, x[:-1])
    got = kernel("embedding.tiny", x, x, model=tiny)
    np.testing.assert_allclose(got[:-1, :-1], vectors @ vectors.T, atol=2e-6)
    assert (got[-3] == 0).all()
    np.testing.assert_allclose(np.delete(np.diag(got), [-3, -2]), 1, atol=1e-6)


@needs_torch
def test_blocks_give_the_same_bits(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = [f"{a} {b}" for a in TEXTS for b in TEXTS[:4]]
    one = kernel("embedding.tiny", x, x, model=tiny, threads=1)
    monkeypatch.setattr(embedding, "WIDTH", 5)
    assert np.array_equal(one, kernel("embedding.tiny", x, x, model=tiny, threads=2))
    assert np.array_equal(one[4:9], kernel("embedding.tiny", x[4:9], x, model=tiny))
