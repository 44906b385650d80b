"""The benchmarks: that peers and refless agree where they are timed. Never times."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import calibration, delta_bleu, kernels, neighbors, rnn_qe
from benchmarks.common import line, real_texts, take
from refless.experiments.delta_bleu.dialogues import read_dialogues
from tests.experiments.test_delta_bleu import small_texts
from tests.kernels.texts import random_sentences

TEXTS = list(dict.fromkeys(random_sentences(200, 13, seed=2)))[:60]


@pytest.mark.parametrize("name", ["bleu.char", "bleu.word", "rouge_l.stem"])
def test_peers_agree(name, monkeypatch):
    assert len(kernels.measure_kernel(name, TEXTS, 80, 2)) == 2
    monkeypatch.setattr(kernels, "kernel", lambda name, x, s, **_: np.ones((len(x), len(s))))
    with pytest.raises(AssertionError):
        kernels.measure_kernel(name, TEXTS, 80, 1)


def test_nltks_meteor_agrees(mirror, monkeypatch):
    monkeypatch.setenv("REFLESS_WORDNET", f"{mirror}/nltk/wordnet.zip")
    real = real_texts(Path(mirror))
    assert len(set(real)) == len(real) > 20_000
    assert len(kernels.measure_kernel("meteor.nltk39", take(real, 40), 20, 1)) == 2


def test_more_texts_than_there_are_are_different():
    assert len(set(take(TEXTS, 100))) == 100
    assert take(TEXTS, 100) == take(TEXTS, 100)


def test_a_line_has_the_median_of_the_ratios():
    assert line("a", "b", [3, 8, 5], [1, 2, 1]).split()[-4:] == ["4", "(3", "to", "5)"]


def test_neighbors_are_timed():
    assert len(neighbors.measure_neighbors(TEXTS, 20, 1)) == 3


def test_peers_score_the_same_units(monkeypatch):
    dialogues = read_dialogues(small_texts(contexts=110))
    assert len(delta_bleu.measure_units(dialogues, assignments=2, sample=2, runs=1)) == 2
    monkeypatch.setattr(delta_bleu, "_anew", lambda *_: 0.5)
    with pytest.raises(AssertionError, match=r"gives 0\.5"):
        delta_bleu.measure_units(dialogues, assignments=1, sample=1, runs=1)


def test_rnn_qe_says_how_many_instances_a_second(capsys):
    pytest.importorskip("torch", reason="make torch")
    rnn_qe.main(rnn_qe._options.parse_args(["--runs", "1", "--rows", "60"]))
    assert int(capsys.readouterr().out.split()[0]) > 0


def test_a_case_whose_bound_is_missed_says_so(tmp_path, monkeypatch):
    """And what was simulated is not simulated again."""
    case = calibration.Case(lambda seed: {"hit": seed < 30}, 100, "shown", 0.05)
    assert calibration.report("null", case, [case.replication(k) for k in range(100)]).startswith(
        "missed"
    )
    for number, outcome in ((20, "undecided"), (100, "holds")):
        none = [{"hit": False}] * number
        assert calibration.report("null", case, none).startswith(outcome)
    values = [{"value": k / 100, "low": k / 100 - 0.1, "high": k / 100 + 0.1} for k in range(100)]
    of_interval = calibration.Case(lambda seed: values[seed], 100, "coverage", 0.9)
    assert "coverage (at least 0.9) 0.2" in calibration.report("wide", of_interval, values)
    path, names = tmp_path / "calibration.jsonl", ["useless score, 12 contexts of 15"]
    lines = calibration.run(names, 2, 1, path)
    monkeypatch.setattr(calibration, "_replicate", None)
    assert calibration.run(names, 2, 1, path) == lines
