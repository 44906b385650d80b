"""RNN-QE on ratings of one's own: parts, worth, the model as a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from refless.errors import FormatError
from refless.store import sealed

pytest.importorskip("torch", reason="make torch")

from refless.models.rnn_qe import own
from refless.models.rnn_qe.data import Split, read
from refless.models.rnn_qe.names import Schedule
from refless.models.rnn_qe.own import How, cross_validated, fit, groups, parted, worth
from refless.models.rnn_qe.saved import (
    Model,
    card,
    load_model,
    read_model,
    save_model,
    shipped_model,
)


def rated(count: int) -> tuple[list[str], list[str], np.ndarray]:
    """Ratings of 0 to 100 that the words good and bad decide, with MRs as slots."""
    generator = np.random.default_rng(0)
    words = [list(generator.choice(["good", "bad", "is", "so", "the"], 6)) for _ in range(count)]
    quality = [50 + 10 * (own.count("good") - own.count("bad")) for own in words]
    texts = [f"Hut{number} {' '.join(own)}." for number, own in enumerate(words)]
    mrs = [f"name[Hut{number}], kids[yes]" for number in range(count)]
    return texts, mrs, np.array(quality)


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    """A few steps of training show what is tested here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(own.SCHEDULES, "short", Schedule(1, 2, 0.01, 50))
        patch.setattr(own, "STEPS", 3)
        yield


@pytest.fixture(scope="module")
def model() -> Model:
    return fit(*rated(120), How(width=8), (0, 100))


def test_what_a_test_part_holds_is_not_learned_from() -> None:
    (texts, mrs, ratings), all_rows = rated(60), np.arange(60)
    table = read(mrs, texts, "slots").assign(median_quality=ratings)
    split = Split(*np.split(all_rows, [30, 45]), all_rows[:30])
    how = How(width=4, errors=True)
    prediction, _, (data,) = cross_validated(table, [split], how)
    assert np.isnan(prediction[:45]).all()
    assert not np.isnan(prediction[45:]).any()
    assert (len(data.rows("train")), len(data.rows("pretrain"))) == (30, 150)
    changed = ratings.copy()
    changed[45:] = changed[45:][::-1]
    again, *_ = cross_validated(table.assign(median_quality=changed), [split], how)
    np.testing.assert_array_equal(prediction, again)


def test_worth_is_that_of_scipy() -> None:
    generator = np.random.default_rng(0)
    truth = generator.normal(size=50)
    prediction, each = truth + generator.normal(size=50), np.arange(50)
    found = worth(prediction, truth, each, each)
    expected = {
        "spearman": scipy.stats.spearmanr(prediction, truth).statistic,
        "pearson": scipy.stats.pearsonr(prediction, truth).statistic,
        "mse": np.mean((prediction - truth) ** 2),
        "mse_of_the_mean": truth.var(),
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-4)
    constant = worth(np.ones(50), truth, each, each)
    assert (constant["pearson"], constant["spearman"]) == (None, None)
    # outputs of one MR are drawn together
    twice = worth(np.repeat(prediction, 2), np.repeat(truth, 2), np.repeat(each, 2), np.arange(100))
    assert twice["spearman_high"] == pytest.approx(found["spearman_high"], abs=0.03)
    assert worth(prediction, truth, each % 9, each)["spearman_high"] is None  # too few
    # predictions that are the mean of the other folds fall as ratings rise, among all texts
    fold = np.arange(60) % 5
    ratings, rows = generator.normal(0.5 * fold, 1), np.arange(60)
    away = np.array([ratings[fold != k].mean() for k in fold]) + generator.normal(0, 1e-3, 60)
    assert worth(away, ratings, rows, rows)["spearman"] < -0.4
    assert abs(worth(away, ratings, rows, rows, fold)["spearman"]) < 0.25


def test_what_texts_have_in_common() -> None:
    mrs = ["inform(name='a inn')", "inform(name='b')", "inform(food='x')", "", ""]
    unit, same = groups(read(mrs, ["text"] * 5, "acts"), "acts")
    assert (unit.tolist(), same.tolist()) == ([0, 0, 1, 2, 3], [0] * 5)
    # slots have no order, and yes and no are no names
    mrs = ["inform(dogs=yes,wifi=no)", "inform(wifi=no,dogs=yes)", "inform(dogs=no,wifi=yes)"]
    assert groups(read(mrs, ["a", "b", "c"], "acts"), "acts")[0].tolist() == [0, 0, 1]
    # names and marks make no other text
    texts, mrs = ["zizzi aaa", "strada aaa!"], ["inform(name='zizzi')", "inform(name='strada')"]
    assert groups(read(mrs, texts, "acts"), "acts")[1].tolist() == [0, 0]


def test_too_few_texts() -> None:
    texts, mrs, ratings = rated(12)
    with pytest.raises(FormatError, match="12 different texts"):
        fit(texts * 3, mrs * 3, np.tile(ratings, 3), How(width=4))


@pytest.mark.parametrize(
    ("contexts", "stock", "new"), [(60, 0, True), (60, 1, False), (4, 0, False)]
)
def test_contexts_of_the_test_are_new_where_there_are_enough(
    contexts: int, stock: int, new: bool
) -> None:
    unit, same = np.arange(240) % contexts, np.arange(240)
    # a stock answer stands in all contexts, and ties them together
    same[: stock * contexts] = 0
    same = np.unique(same, return_inverse=True)[1]
    splits, found = parted(unit, same, 0)
    assert found == new
    assert sorted(np.concatenate([split.test for split in splits])) == list(range(240))
    for split in splits:
        others = np.concatenate([split.train, split.dev])
        assert not set(same[split.test]) & set(same[others])
        assert not new or not set(unit[split.test]) & set(unit[others])


def test_a_model_is_the_same_from_its_file(model: Model, tmp_path: Path) -> None:
    save_model(model, tmp_path / "one.npz")
    loaded, (texts, mrs, _) = load_model(tmp_path / "one.npz"), rated(200)
    rows = mrs[120:], texts[120:]
    found = loaded.rate(*rows)
    before = model.rate(*rows)["raw"].to_numpy()
    assert found["raw"].to_numpy() == pytest.approx(before, abs=0.05)  # in half precision
    assert found["raw"].std() > 0
    assert set(found["prediction"] % 10) == {0}
    assert (loaded.scale, loaded.seen, loaded.meanings) == (model.scale, model.seen, "slots")
    assert len(loaded.rate([], [])) == 0
    about = card(read_model(tmp_path / "one.npz"))
    assert (about["networks"], about["width"], about["worth"]["n"]) == (5, 8, 120)


def test_what_a_model_has_seen_and_does_not_know(model: Model) -> None:
    texts, mrs, _ = rated(120)
    assert model.rate(mrs, [f"{text.upper()} ." for text in texts])["seen"].all()
    found = model.rate(["", ""], ["hier kennt es kein wort", "so good is the good"])
    assert found["seen"].tolist() == [False, False]
    assert found["strange"].tolist() == [True, False]


def test_files_that_are_no_models(tmp_path: Path) -> None:
    sealed.write(tmp_path / "other.npz", {"a": np.zeros(2)}, {"kind": "kernel"})
    for name in ("none.npz", "other.npz"):
        with pytest.raises(FormatError, match="model of RNN-QE") as caught:
            load_model(tmp_path / name)
        assert "train-qe" in caught.value.remedy


BEFORE = [4.348385858535766, 3.9874223709106444, 4.327399158477784, 4.666415500640869]
"""Ratings that the hand-written GRU gave, before the file was written anew."""


def test_the_model_that_comes_along_rates_as_it_did() -> None:
    mrs = ["inform(name='the mill',food=thai)"] * 2 + ["", "reqmore()"]
    texts = ["The mill serves thai food.", "mill mill the serves serves food in in.", "hello .", ""]
    found = load_model(shipped_model()).rate(mrs, texts)
    assert found["raw"].tolist() == pytest.approx(BEFORE, abs=1e-5)
    assert found["prediction"].tolist() == [round(2 * value) / 2 for value in BEFORE]
