"""The network and its training, and RNN-QE on ratings of one's own: what needs torch."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.errors import FormatError, SettingError
from refless.evaluation.networks import trained_networks
from refless.evaluation.read import Rated
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.names import SCHEDULES, Schedule
from refless.models.rnn_qe.scale import clip_to_scale, half_points
from refless.statistics.correlation import centred
from tests.models.rnn_qe.test_data import small

pytest.importorskip("torch", reason="make torch")
import torch

from refless.models.rnn_qe import cross_fit as fitting
from refless.models.rnn_qe import network, training
from refless.models.rnn_qe.cross_fit import cross_fit
from refless.models.rnn_qe.saved import SHIPPED_MODEL, QEModel, load_model, save_model

LOSSES = [1.8246785283088685, 0.5377142757177353, 0.5050677686929703]
"""Losses of three passes of the hand-written GRU, from the same start over the same batches."""
RATED = [2.7790935039520264, 2.8377583026885986, 2.7120137214660645, 2.859750270843506]
"""And its ratings of the test part after its best one, the second."""
ORDER = [
    *("embeddings.mr.weight", "embeddings.text.weight"),
    *(f"encoders.mr.{name}_l0" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")),
    *(f"encoders.text.{name}_l0" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")),
    *(f"head.{layer}.{name}" for layer in (0, 2, 4) for name in ("weight", "bias")),
]


def test_training_is_that_of_the_hand_written_gru_before(monkeypatch):
    def initial_network(data: Encoded, width: int, device: str) -> Any:
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

    def train_epoch(*given: Any) -> float:
        losses.append(one_epoch(*given))
        return losses[-1]

    one_epoch = training.train_epoch
    monkeypatch.setattr(training, "initial_network", initial_network)
    monkeypatch.setattr(training, "train_epoch", train_epoch)
    data = Encoded(small())
    made, best = training.fit(data, Schedule(1, 2, 0.01, 7), 5, 4)
    assert losses == pytest.approx(LOSSES, abs=1e-5)
    assert best["pass"] == 1
    found = network.predict(made, *data.inputs(data.rows("test")))
    assert found == pytest.approx(RATED, abs=1e-5)
    assert network.predict(made, [], []).shape == (0,)


def test_a_seed_decides_all_numbers():
    """Whatever was trained before in the same process."""
    data, schedule = Encoded(small()), Schedule(1, 2, 0.01, 7)
    made = [training.fit(data, schedule, seed, 4)[0] for seed in (3, 4, 3)]
    one, other, again = (network.predict(own, data.mr, data.text) for own in made)
    np.testing.assert_array_equal(one, again)
    assert not np.allclose(one, other)


@pytest.mark.parametrize("rounded", [half_points, clip_to_scale])
def test_the_best_pass_over_rated_rows_predicts(rounded):
    data = Encoded(small(150))
    made, best = training.fit(data, Schedule(1, 4, 0.02, 10), 3, 8, rounded=rounded)
    assert training.validation_score(made, data, rounded) == pytest.approx(best["score"])
    for undefined in (3.0, np.nan):
        data.rating = np.full(150, undefined)
        assert training.validation_score(made, data, rounded) == -2


def test_patience_ends_training(monkeypatch):
    epochs, one_epoch = [], training.train_epoch
    monkeypatch.setattr(training, "train_epoch", lambda *given: epochs.append(one_epoch(*given)))
    for patience, done in ((0, 12), (2, 2)):
        epochs.clear()
        best = training.fit(Encoded(small()), Schedule(0, 12, 0.02, 7, patience), 0, 4)[1]
        assert len(epochs) == (best["pass"] + done if patience else done) <= 12


def test_a_device_that_is_not_there_is_named():
    with pytest.raises(SettingError, match="cannot use the device"):
        training.fit(Encoded(small()), SCHEDULES["short"], 0, 4, device="xla:9")


def rated(count: int) -> tuple[list[str], list[str], np.ndarray]:
    """Ratings of 0 to 1 that the words good and bad decide, with MRs as slots."""
    generator = np.random.default_rng(0)
    words = [list(generator.choice(["good", "bad", "is", "so", "the"], 6)) for _ in range(count)]
    quality = [0.5 + 0.1 * (own.count("good") - own.count("bad")) for own in words]
    texts = [f"Hut{number} {' '.join(own)}." for number, own in enumerate(words)]
    mrs = [f"name[Hut{number}], kids[yes]" for number in range(count)]
    return texts, mrs, np.array(quality)


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    """A few steps of training show what is tested here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(fitting.SCHEDULES, "short", Schedule(1, 2, 0.01, 50))
        patch.setattr(fitting, "_EPOCH_BATCHES", 3)
        patch.setattr(fitting, "_WIDTH", 8)
        yield


@pytest.fixture(scope="module")
def model() -> QEModel:
    made, _ = cross_fit(*rated(120), np.arange(120) % 5, seed=0)
    return replace(made, scale=(0, 100))


def test_what_a_fold_holds_is_not_learned_from():
    (texts, mrs, quality), fold = rated(60), np.arange(60) % 4
    made, estimate = cross_fit(texts, mrs, quality, fold, seed=0, errors=True, scale=(1, 5))
    own = [centred(values, fold) for values in (estimate.clip(0, 1), quality)]
    assert made.cross_validation["pearson"] == pytest.approx(np.corrcoef(*own)[0, 1])
    assert made.cross_validation["mse"] == pytest.approx(
        16 * np.mean((estimate.clip(0, 1) - quality) ** 2)
    )
    changed = np.where(fold == 2, quality[::-1], quality)
    _, again = cross_fit(texts, mrs, changed, fold, seed=0, errors=True)
    same = again == estimate
    assert same[fold == 2].all()
    assert not same[fold == 3].any()


@pytest.mark.parametrize(("contexts", "tested"), [(30, "contexts"), (4, "texts")])
def test_contexts_of_the_test_are_new_where_there_are_enough(contexts, tested, model, monkeypatch):
    (texts, mrs, quality), group, folds = rated(120), np.arange(120) % contexts, []

    def cross_fit(texts: Any, answers: Any, quality: Any, fold: Any, *how: Any) -> Any:
        folds.append(fold)
        return replace(model, scale=how[-1]), quality

    monkeypatch.setattr(fitting, "cross_fit", cross_fit)
    given = Rated(texts, quality, np.arange(120), prompts=mrs, context_group=group, scale=(1, 5))
    made = trained_networks(given, seed=0, errors=False, threads=1)
    assert (made.metadata["tested"], made.scale) == (tested, (1, 5))
    apart = [len(set(folds[0][group == one])) for one in range(contexts)]
    assert (max(apart) == 1) == (tested == "contexts")


def test_a_model_is_the_same_from_its_file(model, tmp_path):
    save_model(model, tmp_path / "one.npz")
    loaded, (texts, mrs, _) = load_model(tmp_path / "one.npz"), rated(200)
    rows = mrs[120:], texts[120:]
    found = loaded.rate(*rows)
    before = model.rate(*rows)["prediction"].to_numpy()
    assert found["prediction"].to_numpy() == pytest.approx(before, abs=0.05)  # in half precision
    assert found["prediction"].std() > 0
    assert found["prediction"].between(0, 100).all()
    assert (loaded.scale, loaded.meanings) == (model.scale, "slots")
    assert loaded.training_texts == model.training_texts
    assert len(loaded.rate([], [])) == 0
    assert loaded.metadata["trained"] == model.metadata["trained"]


def test_what_a_model_has_seen(model):
    texts, mrs, _ = rated(120)
    assert model.rate(mrs, [f"{text.upper()} ." for text in texts])["in_training"].all()
    assert not model.rate([""], ["so good is the good"])["in_training"].any()


def test_files_that_are_no_models(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.zeros(2))
    (tmp_path / "text.npz").write_text("a,b\n")
    for name in ("none.npz", "other.npz", "text.npz"):
        with pytest.raises(FormatError, match="train-qe"):
            load_model(tmp_path / name)


@pytest.mark.parametrize(
    ("settings", "arrays"),
    [
        *(({name: 9}, {}) for name in ("width", "networks", "meanings", "scale", "layers")),
        *(({name: None}, {}) for name in ("width", "networks", "meanings", "scale")),
        ({"networks": 4}, {}),
        *(({}, {name: np.zeros(3)}) for name in ("0.head.0.bias", "0.text.words", "0.more")),
        *(({}, {name: None}) for name in ("seen", "0.mr.words", "4.head.0.bias")),
    ],
)
def test_a_model_of_another_version_is_refused(model, tmp_path, settings, arrays):
    save_model(model, path := tmp_path / "m.npz")
    with np.load(path) as stored:
        content = {**stored, **arrays}
    about = json.loads(str(content["about"]))
    about["settings"] |= settings
    for changed in (about["settings"], content):
        for name in [name for name, value in changed.items() if value is None]:
            del changed[name]
    np.savez(path, **content | {"about": json.dumps(about)})
    with pytest.raises(FormatError, match="train-qe"):
        load_model(path)


def test_no_flipped_bit_gives_another_model(model, tmp_path):
    save_model(model, path := tmp_path / "one.npz")
    raw, (texts, mrs, _) = path.read_bytes(), rated(20)
    expected = load_model(path).rate(mrs, texts)
    random = np.random.default_rng(2)
    # in the arrays, and in the list of them at the end
    for position in [
        *random.integers(0, len(raw), 20),
        *random.integers(len(raw) - 900, len(raw), 20),
    ]:
        changed = bytearray(raw)
        changed[position] ^= 1 << random.integers(8)
        path.write_bytes(changed)
        with suppress(FormatError):
            pd.testing.assert_frame_equal(load_model(path).rate(mrs, texts), expected)


RATES = [4.348385858535766, 3.9874223709106444, 4.327399158477784, 4.666415500640869]
"""Ratings that the hand-written GRU gave, before the file was written anew."""


def test_the_model_that_comes_along_rates_as_it_did():
    mrs = ["inform(name='the mill',food=thai)"] * 2 + ["", "reqmore()"]
    texts = ["The mill serves thai food.", "mill mill the serves serves food in in.", "hello .", ""]
    found = load_model(SHIPPED_MODEL).rate(mrs, texts)
    assert found["prediction"].tolist() == pytest.approx(RATES, abs=1e-5)
