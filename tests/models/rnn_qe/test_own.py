"""RNN-QE on ratings of one's own: scales, worth, the commands."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from refless.cli import main
from refless.errors import FormatError

pytest.importorskip("torch", reason="torch is not installed: make torch")

from refless.experiments.rnn_qe.trainer import card_page
from refless.models.rnn_qe.data import Split
from refless.models.rnn_qe.model_file import shipped_model
from refless.models.rnn_qe.own import (
    NEW,
    How,
    Rated,
    cross_validated,
    fit,
    groups,
    together,
    worth,
)
from refless.models.rnn_qe.saved import load_model, sums_of
from refless.models.rnn_qe.scale import Scale


def rated_rows(count: int, seed: int = 0) -> list[tuple[str, str, int]]:
    """Text, MR and a rating of 0 to 100 in tens, which the words good and bad decide."""
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        words = generator.choice(["good", "bad", "is", "so", "the", "food"], 6).tolist()
        quality = 50 + 10 * (words.count("good") - words.count("bad"))
        rows.append((f"Hut{number} {' '.join(words)}.", f"name[Hut{number}], kids[yes]", quality))
    return rows


@pytest.mark.parametrize(
    ("ratings", "scale"),
    [
        ([1, 6, 2.5], Scale(1, 6, None)),
        ([1, 2, 3, 5], Scale(1, 5, 1)),
        ([0, 50, 70, 100], Scale(0, 100, None)),
        ([0, 0.13, 1], Scale(0, 1, None)),
        ([-2, 0, 2], Scale(-2, 2, 2)),
        ([0, 0.3, 0.4, 1], Scale(0, 1, 0.1)),
        ([1e9, 1e9 + 1, 1e9 + 2], Scale(1e9, 1e9 + 2, 1)),
    ],
)
def test_scales_are_kept(ratings: list[float], scale: Scale) -> None:
    given = np.array(ratings, float)
    found = Scale.of(given)
    assert (found.low, found.high) == (scale.low, scale.high)
    np.testing.assert_allclose(found.given_back(found.stretched(given)), given, atol=1e-12)
    assert found.step == scale.step
    # ratings themselves are levels, and may be looked up
    assert found.rounded(given + 1e-13).tolist() == given.tolist()
    third = np.array([found.low + (found.high - found.low) / 3])
    np.testing.assert_allclose(found.to_digits(third), third, atol=1e-6 * (found.high - found.low))
    assert found.stretched(np.array([found.low, found.high])).tolist() == [1, 6]
    assert found.rounded(np.array([found.low - 9, found.high + 9])).tolist() == [
        found.low,
        found.high,
    ]


def test_scales_that_are_none() -> None:
    with pytest.raises(FormatError, match="tells nothing apart"):
        Scale.of(np.array([3.0, 3.0]))
    with pytest.raises(FormatError, match="too narrow"):
        Scale.of(np.array([0.0, 3e-310]))
    with pytest.raises(FormatError, match="outside") as caught:
        Scale.of(np.array([0.0, 3.0]), 1, 5)
    assert "--scale" in caught.value.remedy


def test_ratings_in_a_narrow_part_of_their_scale_still_choose_a_pass() -> None:
    """Rounded to the paper's half points, all predictions would be one."""
    texts, mrs, quality = (list(column) for column in zip(*rated_rows(60), strict=True))
    narrow = 50 + np.array(quality) / 100
    split = Split(np.arange(30), np.arange(30, 45), np.arange(45, 60), np.arange(30))
    rated = Rated.of(texts, mrs, narrow, (0, 100))
    _, trained, _ = cross_validated(rated, [split], How(width=8))
    courses = [one["pearson"] for one in trained.models[0]["history"]]
    assert not np.isnan(np.array(courses, float)).any()
    assert trained.models[0]["best"]["pass"] == 1 + int(
        np.argmax([one["pearson"] + one["spearman"] for one in trained.models[0]["history"]])
    )


def test_what_a_test_part_holds_is_not_learned_from() -> None:
    rows = rated_rows(60)
    texts, mrs, quality = (list(column) for column in zip(*rows, strict=True))
    split = Split(np.arange(30), np.arange(30, 45), np.arange(45, 60), np.arange(30))
    how = How(width=4, errors=True)
    prediction, _, folds = cross_validated(Rated.of(texts, mrs, np.array(quality)), [split], how)
    assert np.isnan(prediction[:45]).all()
    assert not np.isnan(prediction[45:]).any()
    changed = np.array(quality)
    changed[45:] = changed[45:][::-1]
    again, *_ = cross_validated(Rated.of(texts, mrs, changed), [split], how)
    np.testing.assert_array_equal(prediction, again)
    parts = folds[0].instances.part
    assert (parts.count("train"), parts.count("pretrain")) == (30, 150)


def test_worth_is_that_of_scipy() -> None:
    generator = np.random.default_rng(0)
    truth = generator.normal(size=50)
    prediction = truth + generator.normal(size=50)
    each = np.arange(50)
    found = worth(prediction, truth, each, each)
    expected = {
        "spearman": scipy.stats.spearmanr(prediction, truth).statistic,
        "pearson": scipy.stats.pearsonr(prediction, truth).statistic,
        "mse": np.mean((prediction - truth) ** 2),
        "mse_of_the_mean": truth.var(),
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-4)
    tiny = worth(1e-3 * prediction, 1e-3 * truth, each, each)
    assert tiny["mse"] == pytest.approx(1e-6 * expected["mse"], rel=1e-4)
    assert worth(np.ones(50), truth, each, each)["pearson"] is None
    # outputs of one MR are drawn together
    both = np.repeat(prediction, 2), np.repeat(truth, 2)
    twice = worth(*both, np.repeat(each, 2), np.arange(100))
    assert twice["spearman_high"] == pytest.approx(found["spearman_high"], abs=0.03)
    alone = worth(*both, np.arange(100), np.arange(100))
    assert alone["spearman_high"] < twice["spearman_high"] - 0.03
    # and so are equal texts, whatever they answer
    same = worth(*both, np.arange(100), np.repeat(each, 2))
    assert same["spearman_high"] == pytest.approx(found["spearman_high"], abs=0.03)


def test_outputs_whose_mrs_differ_in_names_are_of_one_group() -> None:
    mrs = ["inform(name='a inn')", "inform(name='b')", "inform(food='x')", "", ""]
    unit, same, _ = groups(mrs, ["text"] * 5, "acts")
    assert unit.tolist() == [0, 0, 1, 2, 3]
    assert same.tolist() == [0] * 5


def test_too_few_texts() -> None:
    texts, mrs, quality = (list(column) for column in zip(*(rated_rows(12) * 3), strict=True))
    with pytest.raises(FormatError, match="12 rated texts that differ"):
        fit(Rated.of(texts, mrs, np.array(quality)), How(width=4))


def test_a_text_under_another_meaning_is_not_new() -> None:
    """Chance ratings of texts that stand there four times: nobody can predict them."""
    generator = np.random.default_rng(1)
    words = ["red", "mill", "serves", "food", "near", "river", "cheap", "good", "it", "is", "not"]
    texts = [" ".join(generator.choice(words, 6)) for _ in range(60)]
    rating = generator.integers(1, 6, 60).astype(float)
    contexts = [f"what of {words[k]} ?" for k in range(4) for _ in texts]
    rated = Rated.of(texts * 4, contexts, np.tile(rating, 4), (1, 5), "text")
    found = fit(rated, How(width=32)).about["worth"]
    assert found["n"] == 240
    assert found["spearman"] < 0.4


@pytest.mark.parametrize("kind", ["composed", "names"])
def test_one_text_is_in_one_part(kind: str) -> None:
    """Ratings are chance: what is in training in another form, or under an MR that names another
    word of it, would be known."""
    generator = np.random.default_rng(1)
    texts, meanings, ratings = [], [], []
    for number in range(60):
        words = " ".join(generator.choice(list("abcdefgh"), 5))
        rating = float(generator.choice([1, 5]))
        text = f"zizzi caf\u00e9 {words} {number}"
        for form, name in (("NFC", "zizzi"), ("NFD", "strada")):
            texts.append(unicodedata.normalize(form, text) if kind == "composed" else text)
            meanings.append("" if kind == "composed" else f"inform(name='{name}')")
            ratings.append(rating)
    rated = Rated.of(texts, meanings, np.array(ratings), (1, 5))
    model = fit(rated, How(width=4, schedule="fast"))
    assert model.about["trained"]["different"] == 60
    assert all(model.has_seen(meanings, texts))
    spelt = [f"{text.upper()} ." for text in texts]
    assert all(model.has_seen([""] * len(texts), spelt))
    assert not any(model.has_seen([""], ["zizzi never"]))


@pytest.mark.parametrize(
    ("contexts", "stock", "new"), [(60, 0, True), (60, 1, True), (4, 0, False), (20, 0, True)]
)
def test_contexts_of_the_test_are_new_where_there_are_enough(
    contexts: int, stock: int, new: bool
) -> None:
    """Ratings are of the context alone, by chance: who knows it knows all, who does not nothing."""
    generator = np.random.default_rng(1)
    words = list("abcdefghijklmnop")
    names = [" ".join(generator.choice(words, 4)) for _ in range(contexts)]
    liked = generator.permutation(np.linspace(1, 5, contexts))
    number = 300 // contexts
    texts = [" ".join(generator.choice(words, 5)) for _ in range(number * contexts)]
    # a stock answer stands in all contexts, and ties them together
    texts[: stock * contexts] = ["i do not know"] * (stock * contexts)
    rated = Rated.of(texts, names * number, np.tile(liked, number), (1, 5), "text")
    about = fit(rated, How(width=32)).about
    assert about["tested"].endswith(NEW) == new
    assert about["worth"]["n"] == len(texts) - stock * contexts
    assert about["worth"]["spearman"] < 0.3 or not new
    # a handful of contexts tell nothing of the next one
    assert (about["worth"]["spearman_low"] is None) == (contexts < 30)


def test_what_stands_beside_an_mr_is_kept_together() -> None:
    generator = np.random.default_rng(1)
    texts = [" ".join(generator.choice(list("abcdefgh"), 6)) for _ in range(80)]
    mrs = [f"inform(slot{generator.integers(9)}='{k}')" for k in range(80)]
    beside = [f"dialogue {k % 40}" if k % 7 else " " for k in range(80)]
    unit, *_ = groups(mrs, texts, "acts", beside)
    for k in range(40):
        assert unit[k] == unit[k + 40] or not k % 7 or not (k + 40) % 7
    assert len(set(unit)) < len(set(groups(mrs, texts, "acts")[0]))


def test_a_network_that_knows_the_other_ratings_is_not_below_chance() -> None:
    """Predictions are the mean of the other folds: among all texts they fall as ratings rise."""
    generator = np.random.default_rng(3)
    fold = np.arange(60) % 5
    ratings = generator.normal(0.5 * fold, 1)
    away = np.array([ratings[fold != k].mean() for k in fold]) + generator.normal(0, 1e-3, 60)
    alone = np.arange(60)
    assert worth(away, ratings, alone, alone)["spearman"] < -0.4
    assert abs(worth(away, ratings, alone, alone, fold)["spearman"]) < 0.25


def test_names_and_marks_make_no_other_text() -> None:
    ways = [("zizzi", ""), ("strada", "!"), ("crown", " ,")]
    texts = [f"{name} {w * 3}{mark}" for w in "abc" for name, mark in ways]
    mrs = [f"inform(name='{name}')" for _ in range(3) for name, _ in ways]
    unit, same, _ = groups(mrs, texts, "acts")
    assert unit.tolist() == [0] * 9
    assert same.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    known, other, _, new, *_ = map(set, sums_of(mrs, texts, "acts"))
    assert known & other
    assert not known & new


def test_slots_have_no_order_and_keep_their_values() -> None:
    mrs = ["inform(dogs=yes,wifi=no)", "inform(wifi=no,dogs=yes)", "inform(dogs=no,wifi=yes)"]
    assert groups(mrs, ["a", "b", "c"], "acts")[0].tolist() == [0, 0, 1]


def test_what_shares_a_label_is_together() -> None:
    found = together(["a", "a", "b", "c", "d"], ["x", "y", "y", "a", "z"])
    assert found.tolist() == [0, 0, 0, 1, 2]
    assert together([], []).tolist() == []


def test_a_stock_answer_may_be_half_of_the_texts() -> None:
    rows = rated_rows(60)
    texts = [text for text, _, _ in rows] + ["i do not know"] * 60
    rating = np.array([quality for _, _, quality in rows] + list(range(1, 6)) * 12, float)
    rated = Rated.of(texts, [f"what of {k} ?" for k in range(120)], rating, None, "text")
    about = fit(rated, How(width=8)).about
    assert about["worth"]["n"] == 120  # it is a part by itself
    assert about["tested"].endswith(NEW)


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rated_rows(300)
    lines = ["text,mr,quality", *(f'{text},"{mr}",{quality}' for text, mr, quality in rows[:200])]
    (tmp_path / "rated.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = tmp_path / "mine.npz"
    command = ["train-qe", "--ratings", str(tmp_path / "rated.csv"), "--width", "16"]
    assert main([*command, "--out", str(out)]) == 0
    said = capsys.readouterr().err
    assert "mr read as slots" in said
    again = tmp_path / "again.npz"
    assert main([*command, "--out", str(again), "--threads", "2"]) == 0
    assert again.read_bytes() == out.read_bytes()
    # a folder, or several files, are one table
    (tmp_path / "parts").mkdir()
    parts = [tmp_path / "parts" / name for name in ("1.csv", "2.csv")]
    for part, own in zip(parts, (lines[1:90], lines[90:]), strict=True):
        part.write_text("\n".join([lines[0], *own]) + "\n", encoding="utf-8")
    for ratings in ([str(parts[0].parent)], list(map(str, parts))):
        assert main(["train-qe", "--ratings", *ratings, *command[3:], "--out", str(again)]) == 0
        assert again.read_bytes() == out.read_bytes()

    new = ["text\tmr\tquality", *("\t".join(map(str, row)) for row in rows[200:])]
    (tmp_path / "new.tsv").write_text("\n".join(new) + "\n", encoding="utf-8")
    rate = ["qe", "--model", str(out), "--outputs", str(tmp_path / "new.tsv")]
    capsys.readouterr()
    assert main([*rate, "--out", str(tmp_path / "pred.tsv")]) == 0
    of_others = capsys.readouterr().err
    assert "Spearman" in of_others
    assert "too high" not in of_others
    assert "unknown" not in of_others
    assert "100 of 100 texts answer an MR or context" in of_others
    strange = tmp_path / "strange.tsv"
    strange.write_text("text\tmr\nhier kennt es kein wort\tname[zizzi]\n" + "\t".join(rows[0][:2]))
    assert main(["qe", "--model", str(out), "--outputs", str(strange)]) == 0
    assert "1 of 2 texts, or of what they answer" in capsys.readouterr().err
    half = [f"{text}\t{mr if k % 2 else ''}" for k, (text, mr, _) in enumerate(rows[200:])]
    strange.write_text("\n".join(["text\tmr", *half]) + "\n", encoding="utf-8")
    assert main(["qe", "--model", str(out), "--outputs", str(strange)]) == 0
    unrated = capsys.readouterr().err
    assert "50 of 100 texts have no mr" in unrated
    assert "50 of 100 texts answer an MR or context" in unrated
    table = pd.read_csv(tmp_path / "pred.tsv", sep="\t", quoting=3)
    raw, truth = table["raw"], table["quality"]
    assert scipy.stats.spearmanr(raw, truth).statistic > 0.3
    assert min(truth) - 60 < np.mean(raw) < max(truth) + 60
    own = ["--outputs", str(tmp_path / "rated.csv"), "--out", str(tmp_path / "own.tsv")]
    assert main(["qe", "--model", str(out), *own]) == 0
    assert "200 of 200 texts" in capsys.readouterr().err  # it knows their ratings
    assert main(["qe", "--model", str(out), "--card"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card["meanings"] == "slots"
    assert card["trained"]["texts"] == 200
    assert f"Spearman {card['worth']['spearman']:.4g}" in said

    assert main([*command, "--out", str(tmp_path / "mine.pt")]) == 1
    assert ".npz" in capsys.readouterr().err


def test_the_model_that_comes_along_is_what_its_card_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, page = shipped_model(), Path(__file__).parents[3] / "docs/qe_model.md"
    assert path.stat().st_size < 3e6
    assert card_page(load_model(path)) == page.read_text(encoding="utf-8")
    given = tmp_path / "outputs.tsv"
    rows = [
        ("inform(name='the mill',food=thai)", "The mill serves thai food.", "6"),
        ("inform(name='the mill',food=thai)", "mill mill the serves serves food in in.", "1"),
    ]
    lines = ["mr\ttext\tquality", *("\t".join(row) for row in rows)]
    given.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["qe", "--outputs", str(given)]) == 0
    found = capsys.readouterr()
    rated = [line.split("\t") for line in found.out.splitlines()[1:]]
    halves = {half / 2 for half in range(2, 13)}
    assert {float(row[-1]) for row in rated} <= halves
    assert [row[:3] for row in rated] == [list(row) for row in rows]
    # it has learned what errors are
    assert float(rated[0][3]) > float(rated[1][3])
    assert "MSE" in found.err
