"""ΔBLEU: a slow direct transcription, sacreBLEU at weights 1, what must hold, bad input."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.errors import SettingError
from refless.models.delta_bleu import (
    FLOOR,
    RULES,
    IndexedTexts,
    TextRows,
    corpus_delta_bleu,
    described,
    of_items,
    scores,
)

WORDS = st.lists(st.sampled_from("abcde"), max_size=9).map(" ".join)
WEIGHT = st.integers(-12, 12).map(lambda twelfth: twelfth / 12)


@st.composite
def weighted(draw):
    """Hypotheses, references and weights; the first of each item is positive."""
    hypotheses, references, weights = [], [], []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 4))
        hypotheses.append(draw(WORDS))
        references.append([draw(WORDS) for _ in range(n)])
        weights.append([max(1 / 12, draw(WEIGHT)), *(draw(WEIGHT) for _ in range(n - 1))])
    return hypotheses, references, weights


def grams(text: str, n: int) -> Counter:
    words = text.split()
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def direct(hypotheses, references, weights, max_order, rule) -> float:
    """Equations 1 and 2 of the paper, one loop after the other; exact up to the root."""
    precisions, zeros = [], 0
    weights = [[Fraction(round(12 * w), 12) for w in own] for own in weights]
    for n in range(1, max_order + 1):
        top = bottom = Fraction(0)
        for h, own, given_weights in zip(hypotheses, references, weights, strict=True):
            for g, count in grams(h, n).items():
                found = [
                    w * min(count, grams(r, n)[g])
                    for r, w in zip(own, given_weights, strict=True)
                    if g in grams(r, n)
                ]
                top += max(found, default=Fraction(0))
                bottom += max(w * count for w in given_weights)
        p = top / bottom if bottom > 0 else Fraction(0)
        if rule == "smooth" and bottom > 0 and p <= 0:
            zeros += 1
            p = min(Fraction(1), 1 / (2**zeros * bottom))
        precisions.append(max(float(p), FLOOR) if rule == "floor" else float(p))
    length = closest = 0
    for h, own in zip(hypotheses, references, strict=True):
        n = len(h.split())
        length += n
        closest += min((abs(len(r.split()) - n), len(r.split())) for r in own)[1]
    penalty = 0.0 if length == 0 else min(1.0, math.exp(1 - closest / length))
    if min(precisions) > 0:
        return penalty * math.exp(sum(map(math.log, precisions)) / max_order)
    return penalty * max(min(precisions), -1) if rule == "signed" else 0.0


@settings(max_examples=100, deadline=None)
@given(weighted(), st.integers(1, 5), st.sampled_from(RULES))
def test_it_is_the_formula(case, max_order, rule):
    ours = corpus_delta_bleu(*case, max_order=max_order, rule=rule)
    assert ours == pytest.approx(direct(*case, max_order, rule), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(weighted(), st.integers(1, 5), st.sampled_from([("zero", "none"), ("smooth", "exp")]))
def test_at_weights_1_it_is_the_bleu_of_sacrebleu(case, max_order, rules):
    hypotheses, references, _ = case
    weights = [[1.0] * len(own) for own in references]
    ours = corpus_delta_bleu(hypotheses, references, weights, max_order, rules[0])
    told = {"force": True, "smooth_method": rules[1], "max_ngram_order": max_order}
    metric = sacrebleu.BLEU(tokenize="none", **told)
    # sacrebleu wants as many references of each: a repeated one changes nothing
    most = max(map(len, references))
    padded = [own + [own[0]] * (most - len(own)) for own in references]
    theirs = metric.corpus_score(hypotheses, [list(column) for column in zip(*padded, strict=True)])
    # where nothing matches at all, sacrebleu gives up before smoothing
    if any(theirs.counts):
        assert ours == pytest.approx(theirs.score / 100, abs=1e-12)
    if any(theirs.counts) and rules[0] == "smooth":
        found = described(of_items(hypotheses, references, weights, max_order).sum(axis=0))
        assert not all(theirs.counts) or found["precisions"] == pytest.approx(theirs.precisions)
        facts = [found[name] for name in ("score", "bp", "hyp_len", "ref_len")]
        assert facts == pytest.approx([theirs.score, theirs.bp, theirs.sys_len, theirs.ref_len])


@settings(max_examples=60, deadline=None)
@given(weighted(), st.sampled_from([("zero", "none"), ("smooth", "exp")]))
def test_a_sentence_has_the_order_that_it_has(case, rules):
    """With weights 1, and where something matches, the score is that of sacrebleu's sentences."""
    hypotheses, references, _ = case
    each = of_items(hypotheses, references, [[1.0] * len(own) for own in references], 4)
    ours = scores(each, rules[0], effective_order=True)
    metric = sacrebleu.BLEU(tokenize="none", smooth_method=rules[1], effective_order=True)
    for text, own, score in zip(hypotheses, references, ours, strict=True):
        theirs = metric.sentence_score(text, own)
        if any(theirs.counts):
            assert score == pytest.approx(theirs.score / 100, abs=1e-12)
    if rules[0] == "zero":
        assert (scores(each[[0]] * 0, "zero", effective_order=True) == 0).all()


@pytest.mark.parametrize("rule", RULES)
def test_a_short_text_that_is_its_reference_has_its_weight(rule):
    each = of_items(["a b c", "a", ""], [["a b c", "x"], ["a"], ["a"]], [[1, 0.5], [1], [1]], 4)
    assert scores(each, rule, effective_order=True).tolist() == pytest.approx([1, 1, 0])
    bad = of_items(["a b c"], [["a b c", "x"]], [[-0.5, 1]], 4)
    if rule == "signed":
        assert scores(bad, rule, effective_order=True) == pytest.approx(-0.5)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_leaving_an_owner_out_is_counting_without_them(data):
    owners, max_order = 3, 3
    n = data.draw(st.integers(0, 6))
    texts = [data.draw(WORDS), *(data.draw(WORDS) for _ in range(n))]
    owner = [data.draw(st.integers(-1, owners - 1)) for _ in range(n)]
    weight = [data.draw(WEIGHT) for _ in range(n)]
    counted = IndexedTexts(texts, max_order)

    def statistics(kept: list[int], columns: int) -> np.ndarray:
        rows = np.array(kept, np.int64)
        own, heavy = np.array(owner, np.int64)[rows], np.array(weight, np.float64)[rows]
        references, one = TextRows(rows + 1, own, np.zeros_like(rows)), np.array([0])
        return counted.statistics(TextRows(one, one, one), references, heavy, columns)

    found = statistics(list(range(n)), owners)
    for column in range(1 + owners):
        kept = [k for k in range(n) if owner[k] not in (0, column - 1 if column else 0)]
        alone = statistics(kept, 0)
        np.testing.assert_allclose(found[:, column], alone[:, 0], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (([], [], []), "0 hypotheses"),
        ((["a", "b"], [["a"]], [[1], [1]]), "2 hypotheses"),
        ((["a"], ["a"], [[1]]), "item 0"),
        ((["a", "b"], [["a"], ["b", "c"]], [[1], [1]]), "item 1"),
        ((["a"], [[]], [[]]), "item 0"),
        ((["a", "b"], [["a"], ["b"]], [[1], [0.0]]), "item 1 .* above 0"),
        *(((["a"], [["a", "b"]], [[1, bad]]), "item 0") for bad in (np.nan, 1.5, -1.1)),
        *(((["a"], [["a"]], [[1]], order), "max_order") for order in (0, 1.5)),
        ((["a"], [["a"]], [[1]], 1, "clip"), "unknown rule 'clip'"),
    ],
)
def test_bad_input_is_named(arguments, named):
    with pytest.raises(SettingError, match=named):
        corpus_delta_bleu(*arguments)


@pytest.mark.parametrize("of", ["hypotheses", "references"])
@pytest.mark.parametrize(
    "fault",
    [
        *({"text": [text, 0]} for text in (-1, 2, 0.5)),
        *({"item": [0, item]} for item in (-1, 0.5)),
        *({"owner": [owner, 0]} for owner in (-2, float("nan"))),
        *({name: [0]} for name in TextRows._fields),
    ],
)
def test_rows_of_nothing_are_refused(of, fault):
    """Compiled code would read outside of its arrays."""
    right = TextRows(*np.zeros((3, 2), np.int64))
    rows = {"hypotheses": right, "references": right}
    counted, weight = IndexedTexts(["a b", "b c"], 2), np.ones(2)
    counted.statistics(**rows, weight=weight)
    (name, column), *_ = fault.items()
    with pytest.raises(SettingError):
        counted.statistics(
            **{**rows, of: right._replace(**{name: np.array(column)})}, weight=weight
        )
    with pytest.raises(SettingError):
        counted.statistics(**rows, weight=weight[:1])
