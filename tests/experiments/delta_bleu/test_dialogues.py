"""ΔBLEU's experiment: what is compared, and which references there are."""

import numpy as np
import pandas as pd
import pytest

from refless.errors import FormatError
from refless.experiments.delta_bleu.dialogues import (
    GOOD,
    HIGH,
    SINGLE,
    Cell,
    Counted,
    read_dialogues,
)
from tests.experiments.delta_bleu.small import small_texts


def test_contexts_that_somebody_did_not_answer_are_left_out() -> None:
    texts = small_texts()
    texts.loc[texts["id"] == "t:2:3", ["n_ratings", "quality"]] = [0, np.nan]
    texts = texts[texts["id"] != "t:5:0"]
    found = read_dialogues(texts)
    assert [texts["context_id"].iloc[k] for k in found.output[:, 0]] == [
        f"c{k}" for k in range(12) if k not in (2, 5)
    ]


def test_contexts_of_the_same_text_are_known() -> None:
    texts = small_texts(5)
    context = {"c0": "a  passage", "c1": "", "c2": "a passage", "c3": "", "c4": "another"}
    texts["context"] = texts["context_id"].map(context)
    assert read_dialogues(texts).context.tolist() == [0, 1, 0, 2, 3]


def test_what_cannot_be_paired_is_named() -> None:
    texts = small_texts()
    human, beta = texts["system"] == "human", texts["model"] == "beta"
    apart = texts.assign(context_id=texts["context_id"].where(~beta, texts["id"]))
    for lost in (texts[~human], texts[human | beta], apart):
        with pytest.raises(FormatError, match="every system") as caught:
            read_dialogues(lost)
        assert caught.value.remedy
    twice = pd.concat([texts, texts[beta].iloc[[4]].assign(id="t:again")])
    with pytest.raises(FormatError, match="beta answers one context twice") as caught:
        read_dialogues(twice)
    assert f"{texts[beta]['id'].iloc[4]} and t:again" in caught.value.message


BY_HAND = pd.DataFrame(
    {
        "system": ["human", "alpha", "beta", "gamma"] * 2,
        "context_id": ["c0"] * 4 + ["c1"] * 4,
        "text": [f"text {k}" for k in range(8)],
        # weights: 0, 0.8, 0.2, -0.8; then 0.9, -0.6, -0.4, -0.2
        "quality": [0.5, 0.9, 0.6, 0.1, 0.95, 0.2, 0.3, 0.4],
    }
)


@pytest.mark.parametrize(
    ("cell", "number", "without"),
    [
        # of six contexts and pairs; only alpha, for beta and gamma, reaches 0.6 in the first
        (Cell("bleu", HIGH), 1, 2 / 6),
        (Cell("delta_bleu", HIGH), 1, 2 / 6),
        (Cell("bleu"), 2, 0),
        # alpha and beta are left with weights of 0 and -0.8
        (Cell("delta_bleu"), 2, 1 / 6),
        # the human response alone; with beta; with alpha; and three times itself in the second
        (Cell("bleu", "w>=0"), (1 + 2 + 2 + 3) / 6, 0),
        (Cell("delta_bleu", "w>=0"), (1 + 2 + 2 + 3) / 6, 1 / 6),
        (Cell("bleu", SINGLE), 1, 0),
        (Cell("delta_bleu", SINGLE), 1, 3 / 6),
        # those without a good one have none, for BLEU, too
        (Cell("bleu", HIGH, GOOD), 4 / 6, 2 / 6),
        (Cell("delta_bleu", "all", GOOD), 2 * 5 / 6, 1 / 6),
        (Cell("bleu", SINGLE, GOOD), 3 / 6, 3 / 6),
    ],
)
def test_how_many_references_there_are(cell: Cell, number: float, without: float) -> None:
    dialogues = read_dialogues(BY_HAND.assign(n_ratings=3, context=""))
    assert Counted(dialogues, 2).references(cell) == pytest.approx((number, without))
