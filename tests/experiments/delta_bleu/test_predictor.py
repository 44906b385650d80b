"""ΔBLEU as an estimate of quality: on small dialogues of our own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.errors import FormatError, StaleError
from refless.experiments.delta_bleu import predictor
from refless.experiments.delta_bleu.dialogues import tokenize
from refless.experiments.delta_bleu.predictor import (
    COLUMNS,
    Candidates,
    baselines,
    calibrated,
    context_means,
    kernel_means,
    paired,
    same_context,
    same_mr,
    sentence_scores,
    write_predictor,
)
from refless.experiments.delta_bleu.predictor_table import predictor_table, read_predictors
from refless.kernels import kernel
from refless.models.delta_bleu import corpus_delta_bleu, sentence_bleu
from refless.report.tables import publish
from tests.experiments.delta_bleu.small import as_task, small_texts

SETTINGS = {
    "kernels": {"bleu.char": 0.08},
    "min_neighbors": 5,
    "max_share": 0.66,
    "draws": 100,
    "seed": 1,
}
OPTIONS: dict[str, dict[str, str]] = {"bleu.char": {}}


@pytest.fixture(scope="module")
def candidates() -> Candidates:
    return same_context(small_texts(contexts=15, humans=2))


def test_sentence_scores_are_scores_of_one_item(candidates: Candidates) -> None:
    found = sentence_scores(candidates)
    texts = [tokenize(text) for text in candidates.texts]
    weight = 2 * candidates.quality - 1
    for row in range(candidates.rated):
        others = np.flatnonzero(candidates.group == candidates.group[row])
        others = others[candidates.owner[others] != candidates.owner[row]]
        assert len(others) == 5
        references = [[texts[k] for k in others]]
        assert found["sbleu", ""][row] == pytest.approx(
            sentence_bleu([texts[row]], references, 2)[0]
        )
        for rule in ("smooth", "signed"):
            expected = corpus_delta_bleu([texts[row]], references, [weight[others]], 2, rule)
            assert found["delta_bleu", f"{rule}, centre scale"][row] == pytest.approx(expected)


def test_a_text_without_a_good_reference_is_not_covered(candidates: Candidates) -> None:
    poor = replace(candidates, quality=np.where(candidates.group == 2, 0.25, candidates.quality))
    score = sentence_scores(poor)["delta_bleu", "smooth, centre scale"]
    assert np.isnan(score[candidates.group == 2]).all()
    assert not np.isnan(score[candidates.group != 2]).any()


def test_means_over_the_context(candidates: Candidates) -> None:
    plain = context_means(candidates)
    similar = kernel_means(candidates, "bleu.char")
    matrix = kernel("bleu.char", candidates.texts, candidates.texts)
    for row in range(candidates.rated):
        others = np.flatnonzero(
            (candidates.group == candidates.group[row])
            & (candidates.owner != candidates.owner[row])
        )
        assert plain[row] == pytest.approx(candidates.quality[others].mean())
        k = matrix[row, others]
        if k.sum() > 0:
            assert similar[row] == pytest.approx(k @ candidates.quality[others] / k.sum())
        else:
            assert np.isnan(similar[row])


@pytest.mark.parametrize("batch", [1, 7, 40, 10_000])
def test_groups_are_walked_whole_and_equal_means_tie(
    candidates: Candidates, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    expected = kernel_means(candidates, "bleu.char"), context_means(candidates)
    monkeypatch.setattr(predictor, "BATCH", batch)
    np.testing.assert_array_equal(kernel_means(candidates, "bleu.char"), expected[0])
    np.testing.assert_array_equal(context_means(candidates), expected[1])


def test_baselines_learn_from_other_contexts_alone(candidates: Candidates) -> None:
    found = baselines(candidates, 1)
    group, quality = candidates.group, candidates.quality
    worse = replace(candidates, quality=np.where(group == 2, 1 - quality, quality))
    again = baselines(worse, 1)
    for name, estimate in found.items():
        np.testing.assert_array_equal(estimate[group == 2], again[name][group == 2])
    fold = np.random.default_rng(1).permutation(15)[group] % 10
    for row in range(candidates.rated):
        rest = fold != fold[row]
        assert found["constant"][row] == pytest.approx(quality[rest].mean())
        same = rest & (candidates.owner == candidates.owner[row])
        assert found["system_mean"][row] == pytest.approx(quality[same].mean())


def test_calibration_is_a_line_of_other_groups() -> None:
    generator = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 3)
    score = generator.random(120)
    score[5] = np.nan
    found = calibrated(score, 0.2 + 0.5 * score, group)
    np.testing.assert_allclose(np.delete(found, 5), 0.2 + 0.5 * np.delete(score, 5))
    assert np.isnan(found[5])
    # what a group's own quality is has no say in its calibration
    quality = generator.random(120)
    before = calibrated(score, quality, group)
    quality[group == 7] += 1
    after = calibrated(score, quality, group)
    np.testing.assert_array_equal(before[group == 7], after[group == 7])
    assert not np.allclose(before[group != 7], after[group != 7], equal_nan=True)


def test_references_of_the_same_mr() -> None:
    texts = pd.DataFrame(
        {
            "text": ["a b", "a c", "b"],
            "quality": [0.2, 0.8, 1.0],
            "system": ["X", "Y", "X"],
            "dataset": ["bagel", "bagel", "sfrest"],
            "mr_key": ["m1", "m1", "m1"],
        }
    )
    human = pd.DataFrame({"mr_key": ["m1", "m2"], "text_nem": ["a b c", "x"]})
    found = same_mr(texts, {"bagel": human, "sfrest": human})
    assert found.rated == 3
    assert found.texts == ["a b", "a c", "b", "a b c", "a b c"]
    assert found.group.tolist() == [0, 0, 1, 0, 1]
    assert found.quality.tolist() == [0.2, 0.8, 1.0, 1.0, 1.0]
    np.testing.assert_allclose(context_means(found), [0.9, 0.6, 1.0])
    with pytest.raises(FormatError, match="sfrest"):
        same_mr(texts, {"bagel": human})


def test_the_table_of_predictors(tmp_path: Path) -> None:
    task = as_task(tmp_path / "ratings/small", small_texts(contexts=15, humans=2))
    path = tmp_path / "results/small/predictor.csv"
    write_predictor(path, task, [], SETTINGS, OPTIONS)
    found, notes = read_predictors([path], {"small": SETTINGS})
    rows = found["small"]
    assert set(COLUMNS) <= set(rows.columns)
    assert rows["model"].tolist() == [
        *("context_mean", "sbleu", *["delta_bleu"] * 4, "kernel_mean", "neighbors"),
        *("constant", "length", "lookup", "system_mean", "ridge_tfidf"),
        *["delta_bleu"] * 4,
    ]
    against = rows[rows["against"] == "bleu.char"]
    assert against["variant"].tolist() == rows["variant"].tolist()[2:6]
    assert (against["n_covered"] <= rows["n_covered"].iloc[7]).all()
    assert (rows["references"] == 5).all()
    # good texts share words with good texts here, and with the human ones
    assert rows.loc[rows["model"] == "sbleu", "spearman"].iloc[0] > 0.3

    looks = {"small": {"note": ""}, "other": {"note": "said of it"}}
    table = predictor_table(looks, found, ["bleu.char", "meteor.nltk35"])
    missing = [
        {"of": {"task": "other"}, "code": "no_file", "sentence": "no file", "remedy": ""},
        {"of": {"kernel": "meteor.nltk35"}, "code": "no_wordnet", "sentence": "-", "remedy": ""},
    ]
    facts = {"draws": 100, "seed": 1}
    publish("delta_bleu_predictor", table, tmp_path, missing=missing, facts=facts, notes=notes)
    written = pd.read_csv(tmp_path / "delta_bleu_predictor.csv").set_index("task")
    own, other = written.loc["small"], written.loc["other"]
    lost = own[own["provenance"].isna()]
    assert lost["kernel"].tolist() == ["meteor.nltk35"] * 2
    assert set(lost["reason"]) == {"no_wordnet"}
    assert len(own) == 19
    assert len(other) == 15
    assert other["reason"].str.contains("no_file").all()
    assert other["spearman"].isna().all()
    assert all(note in (tmp_path / "delta_bleu_predictor.md").read_text() for note in notes)


def test_a_row_that_covers_no_text_says_why(tmp_path: Path) -> None:
    """Where one system answers each context, nothing has a reference."""
    texts = small_texts(contexts=15).assign(context_id=lambda own: own["id"])
    task = as_task(tmp_path / "ratings/small", texts)
    path = tmp_path / "results/small/predictor.csv"
    write_predictor(path, task, [], SETTINGS, OPTIONS)
    found, _ = read_predictors([path], {"small": SETTINGS})
    table = predictor_table({"small": {"note": ""}}, found, ["bleu.char"])
    nothing = table[table["n_covered"] == 0]
    assert {"context_mean", "sbleu", "delta_bleu", "kernel_mean"} <= set(nothing["model"])
    assert all(map(any, nothing["note"]))
    assert not any(map(any, table.loc[table["n_covered"] > 0, "note"]))


def test_estimates_with_human_references_of_the_mr(tmp_path: Path) -> None:
    texts = small_texts(contexts=15).assign(dataset="human", mr_key=lambda own: own["context_id"])
    task = as_task(tmp_path / "ratings/small", texts.drop(columns="context_id"))
    words = small_texts(contexts=15, seed=1)
    words = words.assign(mr_key=words["context_id"], text_nem=words["text"])
    human = as_task(tmp_path / "ratings/human", words)
    path = tmp_path / "small/predictor.csv"
    write_predictor(path, task, [human], SETTINGS, OPTIONS)
    rows = read_predictors([path], {"small": SETTINGS})[0]["small"]
    # the other five of the MR, a human among them, and five that are only references
    assert rows["references"].iloc[0] > 5
    with pytest.raises(FormatError, match="context_id"):
        write_predictor(path, task, [], SETTINGS, OPTIONS)
    with pytest.raises(FormatError, match="text_nem"):
        write_predictor(path, task, [task], SETTINGS, OPTIONS)


def test_estimates_under_other_settings_are_refused(tmp_path: Path) -> None:
    task = as_task(tmp_path / "ratings/small", small_texts())
    path = tmp_path / "small/predictor.csv"
    write_predictor(path, task, [], SETTINGS, OPTIONS)
    with pytest.raises(StaleError):
        read_predictors([path], {"small": {**SETTINGS, "kernels": {"bleu.char": 0.1}}})


def test_two_scores_are_compared_on_the_texts_that_have_both() -> None:
    generator = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 3)
    quality = generator.random(90)
    score, other = (quality + noise * generator.normal(size=90) for noise in (0.1, 0.6))
    score[:7], other[80:] = np.nan, np.nan
    found = paired(score, other, quality, group, 200, 0)
    both = slice(7, 80)
    for name, own in (("spearman", score), ("spearman_against", other)):
        expected = stats.spearmanr(own[both], quality[both]).statistic
        assert found[name] == pytest.approx(expected)
        assert found[f"{name}_low"] < expected < found[f"{name}_high"]
    assert found["n_covered"] == 73
    assert found["difference"] == pytest.approx(found["spearman"] - found["spearman_against"])
    assert 0 < found["difference_low"] < found["difference"] < found["difference_high"]
    same = paired(score, score, quality, group, 200, 0)
    assert (same["difference_low"], same["difference"], same["difference_high"]) == (0, 0, 0)
    nothing = paired(np.full(90, np.nan), score, quality, group, 200, 0)
    assert nothing["n_covered"] == 0
    assert np.isnan(nothing["difference_low"])
