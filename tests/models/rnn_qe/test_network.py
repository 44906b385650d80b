"""The stacked network against torch's own layers, one model and one sequence at a time."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.errors import FormatError, SettingError
from refless.models.rnn_qe.batches import (
    COLUMNS,
    Encoded,
    Instances,
    Sequences,
    deal,
    distinct,
    numbered,
    pack,
    vocabulary,
)

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed: make torch"
)
WORDS = ["X-name", "is", "a", "cheap", "place", "near", "X-near", "."]


def small(rows: int, seed: int = 0, dev: int = 6) -> Instances:
    """Instances whose rating the words decide, with repetitions, empty texts and unknown words."""
    generator = np.random.default_rng(seed)
    texts, mrs, ratings, parts = [], [], [], []
    for row in range(rows):
        text = [WORDS[k] for k in generator.integers(0, len(WORDS), generator.integers(1, 9))]
        part = "dev" if row < dev else "test" if row < dev + 4 else "train"
        part = "pretrain" if part == "train" and row % 3 == 0 else part
        if row in {1, dev + 5}:
            text = []
        if part == "test":
            text.append("unseen")
        slots = generator.integers(1, 4)
        mrs.append([w for k in range(slots) for w in ("inform", f"slot{k}", f"X-{row % 3}")])
        ratings.append(float(np.clip(1 + 0.5 * len(set(text)) + 0.5 * (row % 2), 1, 6)))
        texts.append(text)
        parts.append(part)
    return Instances([f"row{row}" for row in range(rows)], parts, mrs, texts, ratings)


def test_packed_rows_hold_every_token_once_and_end_together() -> None:
    generator = np.random.default_rng(1)
    for _ in range(20):
        models = [
            Sequences(generator.integers(1, 99, int(lengths.sum())), np.r_[0, np.cumsum(lengths)])
            for lengths in generator.integers(0, 7, (3, 10))
        ]
        rows = [generator.permutation(10)[: generator.integers(0, 9)] for _ in models]
        packed = pack(models, rows)
        assert packed.counts == sorted(packed.counts)
        assert sum(packed.counts) == packed.tokens.shape[1]
        for model, own in enumerate(rows):
            read: dict[int, list[int]] = {}
            start = 0
            for count in packed.counts:
                for row in range(count):
                    if packed.real[model, start + row]:
                        read.setdefault(row, []).append(int(packed.tokens[model, start + row]))
                    else:
                        assert row not in read, "a row stops before the end"
                start += count
            for number, row in enumerate(own):
                begin, end = models[model].starts[row : row + 2]
                place = int(packed.place[model, number])
                assert read.pop(place, []) == models[model].tokens[begin:end].tolist()
            assert not read


def test_dealt_batches_hold_every_row_once_with_the_same_mixture_of_lengths() -> None:
    generator = np.random.default_rng(2)
    lengths = generator.integers(1, 30, (2, 103))
    batches = deal(lengths, 10, generator)
    assert sorted(np.concatenate(batches)) == list(range(103))
    assert {len(batch) for batch in batches} == {10, 11}
    means = [lengths[-1, batch].mean() for batch in batches]
    assert np.ptp(means) < np.ptp([lengths[-1, k::10].mean() for k in range(10)])
    assert not np.array_equal(batches[0], deal(lengths, 10, generator)[0])


def test_vocabulary_and_unknown_words() -> None:
    words = vocabulary([["b", "a"], ["c"]])
    assert words == {"a": 1, "b": 2, "c": 3}
    # those of the training rows alone
    assert "unseen" not in Encoded(small(30)).text_words
    sequences = numbered([["c", "x"], [], ["a"]], words)
    assert sequences.tokens.tolist() == [3, 0, 1]
    assert sequences.lengths.tolist() == [2, 0, 1]
    rows, which = distinct(numbered([["a"], ["b"], ["a"], []], words), np.array([0, 1, 2, 3, 0]))
    assert rows.tolist() == [0, 1, 3]
    assert which.tolist() == [0, 1, 0, 2, 0]


@pytest.mark.parametrize(
    ("part", "rating", "message"),
    [
        ("train", 7, "not in 1..6"),
        ("tset", 3, "unknown part"),
        ("train", 3, "no instance is of part 'dev'"),
    ],
)
def test_bad_tables_are_named(part: str, rating: float, message: str) -> None:
    table = pd.DataFrame([["a", part, "m", "t", rating]], columns=COLUMNS)
    with pytest.raises(FormatError, match=message):
        Instances.of(table)


# ---- against torch.nn ----------------------------------------------------------------------------


def oracle(architecture: Any, parameters: Any, data: Encoded, row: int) -> Any:
    """Output of one model for one row, by torch's layers."""
    import torch

    states = []
    for side in ("mr", "text"):
        sequences = getattr(data, side)
        start, end = sequences.starts[row : row + 2]
        x = parameters[f"{side}.embedding"][torch.from_numpy(sequences.tokens[start:end])]
        layer = torch.nn.GRU(architecture.embedding, architecture.hidden, dtype=torch.float64)
        new = {
            "weight_ih_l0": parameters[f"{side}.input"].T,
            "weight_hh_l0": parameters[f"{side}.state"].T,
            "bias_ih_l0": parameters[f"{side}.input_bias"],
            "bias_hh_l0": parameters[f"{side}.state_bias"],
        }
        if end == start:
            states.append(torch.zeros(architecture.hidden, dtype=torch.float64))
        else:
            last = torch.func.functional_call(layer, new, (x[:, None],))[1]
            states.append(last[:, 0].flatten())
    h = torch.cat(states)
    for layer_number in range(architecture.layers):
        weight, bias = (parameters[f"layer{layer_number}.{p}"] for p in ("weight", "bias"))
        h = torch.tanh(h @ weight + bias)
    return h @ parameters["output.weight"] + parameters["output.bias"]


@needs_torch
@pytest.mark.parametrize("layers", [1, 2])
def test_outputs_and_gradients_are_those_of_torch(layers: int) -> None:
    import torch

    from refless.models.rnn_qe import network, training

    architecture = network.Architecture(
        embedding=5, hidden=4, layers=layers, dropout=0, precision="float64"
    )
    folds = {0: Encoded(small(30)), 1: Encoded(small(41, 1))}
    members = [training.Member(0, 3), training.Member(1, 3), training.Member(0, 4)]
    stack = training.Stack(members, folds, training.Schedule(0, 1, 0.01, 8), architecture)
    generator = np.random.default_rng(0)
    rows = [generator.permutation(30)[:9], generator.permutation(41)[:7], np.arange(5, 14)]
    states = []
    for name in network.ENCODERS:
        inputs = network.Inputs(pack(stack.sequences(name), rows), stack.device)
        states.append(network.encode(architecture, stack.parameters, name, inputs, None))
    outputs = network.head(architecture, stack.parameters, torch.cat(states, 2))
    predicted = stack.predict(rows, stack.parameters)
    for model, own in enumerate(rows):
        data = folds[members[model].fold]
        one = {k: v.detach()[model].clone().requires_grad_() for k, v in stack.parameters.items()}
        expected = torch.stack([oracle(architecture, one, data, row)[0] for row in own])
        assert torch.allclose(outputs[model, : len(own)], expected, rtol=0, atol=1e-12)
        rating = expected.detach().numpy()
        np.testing.assert_allclose(predicted[model], rating, rtol=0, atol=1e-12)
        loss = (expected**2).sum()
        wanted = torch.autograd.grad(loss, list(one.values()), allow_unused=True)
        got = torch.autograd.grad(
            (outputs[model, : len(own)] ** 2).sum(),
            list(stack.parameters.values()),
            retain_graph=True,
        )
        for name, ours, theirs in zip(one, got, wanted, strict=True):
            whole = torch.zeros_like(ours)
            if theirs is not None:
                whole[(model, *map(slice, theirs.shape))] = theirs
            assert torch.allclose(ours, whole, rtol=0, atol=1e-11), name


@needs_torch
def test_settings_that_make_no_sense() -> None:
    from refless.models.rnn_qe.network import Architecture

    for wrong in ({"dropout": 1.0}, {"layers": 0}, {"precision": "half"}):
        with pytest.raises(SettingError):
            Architecture(**wrong)  # type: ignore[arg-type]
