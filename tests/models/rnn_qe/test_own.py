"""RNN-QE on ratings of one's own: parts, worth, the model as a file."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from refless.errors import FormatError
from refless.models.rnn_qe.model_file import card, read_model, shipped_model
from refless.store import sealed

pytest.importorskip("torch", reason="make torch")

from refless.models.rnn_qe import own
from refless.models.rnn_qe.data import Split
from refless.models.rnn_qe.names import Schedule
from refless.models.rnn_qe.own import How, Rated, cross_validated, fit, groups, parted, worth
from refless.models.rnn_qe.saved import Model, load_model, save_model


def rated(count: int) -> Rated:
    """Ratings of 0 to 100 that the words good and bad decide, with MRs as slots."""
    generator = np.random.default_rng(0)
    words = [list(generator.choice(["good", "bad", "is", "so", "the"], 6)) for _ in range(count)]
    quality = [50 + 10 * (own.count("good") - own.count("bad")) for own in words]
    texts = [f"Hut{number} {' '.join(own)}." for number, own in enumerate(words)]
    mrs = [f"name[Hut{number}], kids[yes]" for number in range(count)]
    return Rated.of(texts, mrs, np.array(quality), (0, 100))


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    """A few steps of training show what is tested here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(own.SCHEDULES, "short", Schedule(1, 2, 0.01, 50))
        patch.setattr(own, "STEPS", 3)
        yield


@pytest.fixture(scope="module")
def model() -> Model:
    return fit(rated(120), How(width=8))


def test_what_a_test_part_holds_is_not_learned_from():
    given, all_rows = rated(60), np.arange(60)
    split = Split(*np.split(all_rows, [30, 45]), all_rows[:30])
    how = How(width=4, errors=True)
    prediction, _, (data,) = cross_validated(given, [split], how)
    assert np.isnan(prediction[:45]).all()
    assert not np.isnan(prediction[45:]).any()
    assert (len(data.rows("train")), len(data.rows("pretrain"))) == (30, 150)
    changed = given.ratings.copy()
    changed[45:] = changed[45:][::-1]
    again, *_ = cross_validated(replace(given, ratings=changed), [split], how)
    np.testing.assert_array_equal(prediction, again)


def test_worth_is_that_of_scipy():
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
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-4)
    assert worth(np.ones(50), truth, each, each)["spearman"] is None
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


def test_what_texts_have_in_common():
    mrs = ["inform(name='a inn')", "inform(name='b')", "inform(food='x')", "", ""]
    unit, same = groups(mrs, ["text"] * 5, "acts")
    assert (unit.tolist(), same.tolist()) == ([0, 0, 1, 2, 3], [0] * 5)
    # slots have no order, and yes and no are no names
    mrs = ["inform(dogs=yes,wifi=no)", "inform(wifi=no,dogs=yes)", "inform(dogs=no,wifi=yes)"]
    assert groups(mrs, ["a", "b", "c"], "acts")[0].tolist() == [0, 0, 1]
    # names and marks make no other text
    texts, mrs = ["zizzi aaa", "strada aaa!"], ["inform(name='zizzi')", "inform(name='strada')"]
    assert groups(mrs, texts, "acts")[1].tolist() == [0, 0]


def test_too_few_texts():
    given = rated(12)
    texts, mrs = list(given.texts) * 3, list(given.meanings) * 3
    with pytest.raises(FormatError, match="12 different texts"):
        fit(Rated.of(texts, mrs, np.tile(given.ratings, 3)), How(width=4))


@pytest.mark.parametrize(("contexts", "stock"), [(60, 0), (60, 1), (4, 0)])
def test_contexts_of_the_test_are_new_where_there_are_enough(contexts, stock):
    unit, same, new = np.arange(240) % contexts, np.arange(240), contexts == 60 and not stock
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


def test_a_model_is_the_same_from_its_file(model, tmp_path):
    save_model(model, tmp_path / "one.npz")
    loaded, new = load_model(tmp_path / "one.npz"), rated(200)
    rows = list(new.meanings[120:]), list(new.texts[120:])
    raw, prediction = loaded.rate(*rows)
    assert raw == pytest.approx(model.rate(*rows)[0], abs=0.05)  # in half precision
    assert raw.std() > 0
    assert set(prediction % 10) == {0}
    assert (loaded.scale, loaded.seen, loaded.meanings) == (model.scale, model.seen, "slots")
    assert loaded.rate([], [])[0].shape == (0,)
    about = card(read_model(tmp_path / "one.npz"))
    assert (about["networks"], about["width"], about["worth"]["n"]) == (5, 8, 120)


def test_what_a_model_has_seen_and_does_not_know(model):
    given = rated(120)
    spelt = [f"{text.upper()} ." for text in given.texts]
    assert all(model.has_seen(given.meanings, spelt))
    rows = ["", ""], ["hier kennt es kein wort", "so good is the good"]
    assert model.has_seen(*rows) == [False, False]
    assert model.strange(*rows) == [True, False]


def test_files_that_are_no_models(tmp_path):
    sealed.write(tmp_path / "other.npz", {"a": np.zeros(2)}, {"kind": "kernel"})
    for name in ("none.npz", "other.npz"):
        with pytest.raises(FormatError, match="train-qe"):
            load_model(tmp_path / name)


BEFORE = [4.348385858535766, 3.9874223709106444, 4.327399158477784, 4.666415500640869]
"""Ratings that the hand-written GRU gave, before the file was written anew."""


def test_the_model_that_comes_along_rates_as_it_did():
    mrs = ["inform(name='the mill',food=thai)"] * 2 + ["", "reqmore()"]
    texts = ["The mill serves thai food.", "mill mill the serves serves food in in.", "hello .", ""]
    raw, rounded = load_model(shipped_model()).rate(mrs, texts)
    assert raw == pytest.approx(BEFORE, abs=1e-5)
    assert rounded.tolist() == [round(2 * value) / 2 for value in BEFORE]
