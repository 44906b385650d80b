"""Batches, words, and the network against what the hand-written GRU before it gave."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.models.rnn_qe.batches import Encoded, mixed, numbered, vocabulary

WORDS = ["X-name", "is", "a", "cheap", "place", "near", "X-near", "."]


def small(rows: int = 40, seed: int = 0) -> pd.DataFrame:
    """Instances whose rating the words decide, one of them without a text."""
    generator = np.random.default_rng(seed)
    texts = [
        [WORDS[k] for k in generator.integers(0, 8, generator.integers(1, 9))] for _ in range(rows)
    ]
    slots = generator.integers(1, 4, rows)
    mrs = [" ".join(f"inform slot{k} X-{row % 3}" for k in range(n)) for row, n in enumerate(slots)]
    texts[11] = []
    part = ["dev"] * 6 + ["test"] * 4 + (["pretrain", "train", "train"] * rows)[: rows - 10]
    levels = [1 + 0.5 * len(set(text)) + 0.5 * (row % 2) for row, text in enumerate(texts)]
    return pd.DataFrame(
        {
            "id": [str(row) for row in range(rows)],
            "part": part,
            "mr": mrs,
            "text": list(map(" ".join, texts)),
            "rating": np.clip(levels, 1, 6),
        }
    )


def test_batches_hold_every_row_once_with_the_same_mixture_of_lengths() -> None:
    generator = np.random.default_rng(2)
    lengths = generator.integers(1, 30, (2, 103))
    batches = mixed(lengths, 10, generator)
    assert sorted(np.concatenate(batches)) == list(range(103))
    assert {len(batch) for batch in batches} == {10, 11}
    means = [lengths[-1, batch].mean() for batch in batches]
    assert np.ptp(means) < np.ptp([lengths[-1, k::10].mean() for k in range(10)])
    assert not np.array_equal(batches[0], mixed(lengths, 10, generator)[0])


def test_words_are_those_of_the_training_rows() -> None:
    words = vocabulary([["b", "a"], ["c"]])
    assert words == {"a": 1, "b": 2, "c": 3}
    assert [one.tolist() for one in numbered([["c", "x"], []], words)] == [[3, 0], []]
    table = small()
    table.loc[7, "text"] = "unseen"  # of the test part
    data = Encoded(table)
    assert "unseen" not in data.text_words
    assert data.text[7].tolist() == [0]


BEFORE = [1.8246785283088685, 0.5377142757177353, 0.5050677686929703]
"""Losses of three passes of the hand-written GRU, from the same start over the same batches."""
RATED = [2.7790935039520264, 2.8377583026885986, 2.7120137214660645, 2.859750270843506]
"""And its ratings of the test part after its best one, the second."""
ORDER = [
    *("embeddings.mr.weight", "embeddings.text.weight"),
    *(f"encoders.mr.{name}_l0" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")),
    *(f"encoders.text.{name}_l0" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")),
    *(f"head.{layer}.{name}" for layer in (0, 2, 4) for name in ("weight", "bias")),
]


def test_training_is_that_of_the_hand_written_gru_before(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="make torch")
    from refless.models.rnn_qe import names, network, training

    def started(data: Encoded, width: int, device: str) -> Any:
        made = network.Network(len(data.mr_words), len(data.text_words), width)
        own = made.state_dict()
        for number, name in enumerate(ORDER, start=1):
            values = torch.sin(torch.arange(own[name].numel(), dtype=torch.float32) * number) / 2
            own[name] = values.reshape(own[name].shape)
            if name.startswith("embeddings"):
                own[name][0] = 0
        made.load_state_dict(own)
        made.dropout.p = 0
        return made

    losses = []

    def train_pass(*given: Any) -> float:
        losses.append(one_pass(*given))
        return losses[-1]

    one_pass = training.train_pass
    monkeypatch.setattr(training, "started", started)
    monkeypatch.setattr(training, "train_pass", train_pass)
    data = Encoded(small())
    made, best = training.fit(data, names.Schedule(1, 2, 0.01, 7), 5, 4)
    assert losses == pytest.approx(BEFORE, abs=1e-5)
    assert best["pass"] == 1
    found = network.predict(made, *data.inputs(data.rows("test")))
    assert found == pytest.approx(RATED, abs=1e-5)
    assert network.predict(made, [], []).shape == (0,)
