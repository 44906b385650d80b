"""ΔBLEU used like sacreBLEU's metrics: beside sacreBLEU itself, and beside `corpus_delta_bleu`."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sacrebleu

from refless.errors import SettingError
from refless.models.delta_bleu import corpus_delta_bleu
from refless.models.delta_bleu_metric import DeltaBLEU

HYPOTHESES = ["the cat sat on the mat today", "there is a dog in the yard", "it rained"]
STREAMS: list[list[str | None]] = [
    ["the cat sat on a mat", "a dog is in the yard now", "it rained all day"],
    ["a cat was on the mat today", None, "rain fell"],
]


@pytest.mark.parametrize("order", [2, 4])
def test_at_weights_1_it_is_sacrebleu(order: int) -> None:
    theirs = sacrebleu.BLEU(tokenize="none", max_ngram_order=order)
    ours = DeltaBLEU(max_ngram_order=order)
    got, wanted = ours.corpus_score(HYPOTHESES, STREAMS), theirs.corpus_score(HYPOTHESES, STREAMS)
    assert got.score == pytest.approx(wanted.score)
    assert got.precisions == pytest.approx(wanted.precisions)
    # the same line but for the name
    assert str(got).split(" = ", 1)[1] == str(wanted).split(" = ", 1)[1]


def test_with_weights_it_is_the_function() -> None:
    metric = DeltaBLEU(rule="signed", max_ngram_order=2)
    weights: list[list[float | None]] = [[0.8, 0.5, 1.0], [-0.7, None, -0.2]]
    texts = [[s[i] for s in STREAMS if s[i] is not None] for i in range(3)]
    own = [[w[i] for w in weights if w[i] is not None] for i in range(3)]
    expected = corpus_delta_bleu(HYPOTHESES, texts, own, 2, "signed")  # type: ignore[arg-type]
    assert metric.corpus_score(HYPOTHESES, STREAMS, weights).score == pytest.approx(100 * expected)
    for i, one in enumerate(metric.sentence_scores(HYPOTHESES, STREAMS, weights)):
        alone = corpus_delta_bleu(
            HYPOTHESES[i : i + 1], texts[i : i + 1], own[i : i + 1], 2, "signed"
        )  # type: ignore[arg-type]
        assert one.score == pytest.approx(100 * alone)
    assert metric.get_signature().startswith("nrefs:var|weights:given|case:mixed|tok:none|order:2")


def test_json_has_what_sacrebleu_has() -> None:
    metric = DeltaBLEU()
    score = metric.corpus_score(HYPOTHESES, STREAMS)
    found = json.loads(score.format(signature=metric.get_signature(), is_json=True))
    assert found["score"] == score.score
    assert "weights:1" in found["signature"]


@pytest.mark.parametrize(
    ("references", "weights", "message"),
    [
        (["the cat"], None, "no list"),
        ([["a"]], None, "3 hypotheses, but stream 0 of references of 1"),
        ([["a", "b", "c"]], [[1, 1]], "weights"),
        ([["a", "b", "c"]], [[1, 1, 1], [1, 1, 1]], "1 streams of references"),
        ([["a", None, "c"]], None, "no reference"),
        ([["a", "b", "c"]], [[1, 2, 1]], "weight"),
        ([["a", "b", "c"]], [[1, None, 1]], "weight"),
    ],
)
def test_bad_input_is_named(references: Any, weights: Any, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        DeltaBLEU().corpus_score(HYPOTHESES, references, weights)


def test_an_unknown_rule_is_named() -> None:
    with pytest.raises(SettingError, match="unknown rule"):
        DeltaBLEU(rule="best")
