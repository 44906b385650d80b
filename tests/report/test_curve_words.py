"""What a report says of curves: the numbers of these curves, and no sentence without any."""

import re

import pandas as pd
import pytest

from refless.report.catalogue import catalogue
from refless.report.curve_words import NEAR, WRITERS, sentence_of

SETTINGS = {
    "bleu_neighbors": {"min_neighbors": 3, "max_share": 0.5},
    "data": {"one": {"name": "First"}, "two_sets": {"name": ""}},
}


def numbers(sentence: str) -> list[float]:
    return [float(text.replace(",", "")) for text in re.findall(r"-?\d[\d,]*\.?\d*", sentence)]


def curve(dataset: str, default: float, away: dict[tuple[str, float], float]) -> pd.DataFrame:
    """A curve that is flat but for some values of a threshold."""
    values = [("a", float(a)) for a in range(1, 8)] + [("b", b / 10) for b in range(11)]
    rows = [(dataset, *value, default + away.get(value, 0)) for value in values]
    return pd.DataFrame(rows, columns=["dataset", "threshold", "value", "spearman"])


def test_every_writer_is_of_a_figure():
    assert {name for name in WRITERS if catalogue()[name].drawn_by} == set(WRITERS)


@pytest.mark.parametrize("figure", WRITERS)
def test_without_numbers_there_is_no_sentence(figure):
    assert sentence_of(figure, pd.DataFrame(), SETTINGS) == ""


def test_flat_parts_of_threshold_curves_end_where_rho_is_far_or_undefined():
    first = curve(
        "one", 0.3, {("a", 6.0): 2 * NEAR, ("b", 0.2): float("nan"), ("b", 1.0): -NEAR / 2}
    )
    second = curve("two_sets", 0.1, {("a", 7.0): -1})
    points = pd.concat([first, second])
    sentence = sentence_of("bleu_neighbors_figure2", points, SETTINGS)
    assert "First" in sentence
    assert "two sets" in sentence
    of_first = [0.3, NEAR, 1, 5, 0.3, 1]
    assert numbers(sentence) == [3, 0.5, *of_first, 0.1, NEAR, 1, 6, 0, 1]


def test_best_references_of_delta_bleu():
    rows = [("w>=1", 0.1, 0.2), ("w>=0.4", 0.5, 0.4), ("w>=-1", -0.1, 0.3)]
    parts = [
        {"references": of, "metric": metric, "spearman": rho, "dataset": "one"}
        for of, *pair in rows
        for metric, rho in zip(("delta_bleu", "bleu"), pair, strict=True)
    ]
    points = pd.DataFrame(parts).assign(panel="threshold")
    other = points.assign(panel="unit", spearman=0.9)
    sentence = sentence_of("delta_bleu_figure2", pd.concat([points, other]), SETTINGS)
    assert "First" in sentence
    assert numbers(sentence) == [0.4, 0.5, 0.4, -0.1, 0.3]


def test_where_a_network_leads_most():
    rows = [("bleu_neighbors", 50, 0.1), ("bleu_neighbors", 1000, 0.3)]
    trained = [("rnn_qe", 50, 0.3), ("rnn_qe", 1000, 0.25), ("lookup", 1000, 0.4)]
    for more, expected in ((trained, [50, 0.3, 0.1, 1000, 0.25, 0.3, 0.4]), ([], [1000, 0.3])):
        points = pd.DataFrame([*rows, *more], columns=["model", "size", "pearson"])
        assert numbers(sentence_of("rnn_qe_data_size", points, SETTINGS)) == expected
