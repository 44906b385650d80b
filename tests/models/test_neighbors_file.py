"""Fitted models in files: the same predictions, no byte changed unnoticed, nothing run."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from refless.errors import FormatError, SettingError, StaleError
from refless.models import neighbors_file
from refless.models.neighbors import NeighborsRegressor
from refless.models.neighbors_file import (
    data_sum,
    kernel_of,
    load,
    require_unchanged,
    save,
    signature_line,
    standing_in,
)
from tests.workflow.small_data import sentences

TEXTS = [*sentences(60, seed=3), "Ünïcödé 😀 \ud83d", "", "a\tb"]
QUALITY = [i % 5 + 0.1 for i in range(len(TEXTS))]


def fitted(name: str = "bleu.char", **settings: object) -> NeighborsRegressor:
    own = {"tau": 0.1, "min_neighbors": 2, **settings}
    return NeighborsRegressor(name, **own).fit(TEXTS, QUALITY)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["bleu.char", "bleu.word", "bleu.char.unclipped", "rouge_l.stem"])
def test_a_model_from_a_file_predicts_the_same_bytes(name: str, tmp_path: Path) -> None:
    model = fitted(name)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    candidates = [*sentences(30, seed=4), *TEXTS[:5], "", "zz top"]
    expected = model.predict(candidates)
    assert 0 < np.isnan(expected).sum() < len(expected)
    assert again.predict(candidates).tobytes() == expected.tobytes()
    np.testing.assert_array_equal(again.neighbors_, model.neighbors_)
    assert again.leave_one_out().tobytes() == model.leave_one_out().tobytes()
    for got, wanted in zip(again.nearest(candidates), model.nearest(candidates), strict=True):
        np.testing.assert_array_equal(got, wanted)
    assert list(again.texts_) == TEXTS
    assert again.texts_[-1] == TEXTS[-1]
    assert list(again.texts_[2:5]) == TEXTS[2:5]
    assert signature_line(again) == signature_line(model)
    assert kernel_of(tmp_path / "m") == name
    # saved once more, the file is the same
    save(again, tmp_path / "n")
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()


def test_every_damaged_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m"
    save(fitted(), path)
    whole = path.read_bytes()
    head = len(whole.partition(b"\n")[0])
    refused: list[FormatError] = []
    rng = np.random.default_rng(0)
    places = [0, 5, 20, head - 3, len(whole) - 1, *rng.integers(head, len(whole), 60).tolist()]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        gap = place > head and whole[place] == 0
        try:
            model = load(path)
        except FormatError as error:
            refused.append(error)
        else:  # a byte between two arrays, which nothing reads
            assert gap
            assert model.predict(TEXTS).tobytes() == fitted().predict(TEXTS).tobytes()
    assert len(refused) > 40
    assert all(error.path == str(path) and "refless fit" in error.remedy for error in refused)
    for content in (whole[:-1], whole[: head // 2], whole + b"x", b"", b"# refless mapped", b"{}"):
        path.write_bytes(content)
        with pytest.raises(FormatError):
            load(path)
    with pytest.raises(FormatError, match="No such file"):
        load(tmp_path / "nowhere")


def test_writing_to_what_was_opened_does_not_reach_the_file(tmp_path: Path) -> None:
    save(fitted(), tmp_path / "m")
    before = hashlib.sha256((tmp_path / "m").read_bytes()).hexdigest()
    model = load(tmp_path / "m")
    model.quality_[:] = 7
    del model
    assert hashlib.sha256((tmp_path / "m").read_bytes()).hexdigest() == before


def test_a_model_of_other_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(fitted(), tmp_path / "m")
    real = neighbors_file.signature
    monkeypatch.setattr(
        neighbors_file, "signature", lambda *a, **o: {**real(*a, **o), "fingerprint": "other"}
    )
    with pytest.raises(StaleError, match="with other code") as caught:
        load(tmp_path / "m")
    assert "refless fit" in caught.value.remedy


def test_the_data_sum_hangs_on_texts_ratings_and_order(tmp_path: Path) -> None:
    sums = {
        data_sum(NeighborsRegressor().fit(texts, quality))
        for texts, quality in (
            (["ab", "c"], [1, 2]),
            (["a", "bc"], [1, 2]),
            (["c", "ab"], [2, 1]),
            (["ab", "c"], [1, 3]),
        )
    }
    assert len(sums) == 4


def test_texts_of_the_training_set_are_recognised(tmp_path: Path) -> None:
    asked = [TEXTS[3], "zzzz", TEXTS[-1], TEXTS[3] + " ", ""]
    model = fitted()
    save(model, tmp_path / "m")
    for one in (model, load(tmp_path / "m")):
        assert standing_in(one, asked).tolist() == [True, False, True, True, True]


def test_a_model_that_is_not_fitted_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="call fit first"):
        save(NeighborsRegressor(), tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_file_that_was_written_into_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m"
    save(fitted(), path)
    model = load(path)
    require_unchanged(model)
    save(fitted(tau=0.2), path)  # another file under this name
    require_unchanged(model)
    model = load(path)
    with path.open("r+b") as file:
        file.write(path.read_bytes())
    os.utime(path, ns=(1, 1))
    with pytest.raises(StaleError, match="was written into"):
        require_unchanged(model)
    require_unchanged(fitted())


@pytest.mark.parametrize("name", ["bleu.char", "bleu.word"])
def test_equal_models_are_equal_files(name: str, tmp_path: Path) -> None:
    """Nothing of the process goes into a file."""
    texts = [f"the {k} rooms of hotel number {k * k} are fine" for k in range(40)]
    written = []
    for number in range(3):
        rubbish = [np.full(size, number, np.int64) for size in (64, 512, 4096, 32768)] * 50
        del rubbish
        path = tmp_path / f"{number}.model"
        save(NeighborsRegressor(name, 0.1).fit(texts, np.arange(40) / 39), path)
        written.append(path.read_bytes())
    assert len(set(written)) == 1


def test_another_kernel_after_fit_is_refused(tmp_path: Path) -> None:
    model = NeighborsRegressor("bleu.char", 0.1).fit(["a b", "a c"], [0, 1])
    model.set_params(kernel="rouge_l.stem")
    for use in (lambda: model.predict(["a"]), lambda: save(model, tmp_path / "x.model")):
        with pytest.raises(SettingError) as caught:
            use()
        assert "fit" in caught.value.remedy
    assert not (tmp_path / "x.model").exists()
    model.set_params(kernel="bleu.char")
    assert len(model.predict(["a b c d"])) == 1
