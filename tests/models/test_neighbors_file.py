"""Fitted models in files: the same predictions, no damage unnoticed, the texts as they were."""

from pathlib import Path

import numpy as np
import pytest

from refless.errors import FormatError
from refless.models.neighbors import NeighborsRegressor
from refless.models.neighbors_file import load, save, signature_line
from tests.workflow.small_data import sentences

TEXTS = [*sentences(60, seed=3), "Ünïcödé 😀 \ud83d", "", "a\tb\nc"]
QUALITY = [i % 5 + 0.1 for i in range(len(TEXTS))]


def fitted(name: str = "bleu.char", tau: float | str = 0.1) -> NeighborsRegressor:
    return NeighborsRegressor(name, tau, 2).fit(TEXTS, QUALITY)


@pytest.mark.parametrize(("name", "tau"), [("bleu.char", "auto"), ("rouge_l.stem", 0.3)])
def test_a_model_from_a_file_predicts_the_same_bytes(
    name: str, tau: float | str, tmp_path: Path
) -> None:
    model = fitted(name, tau)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m", threads=1)
    candidates = [*sentences(30, seed=4), *TEXTS[:5], "", "zz top"]
    expected = model.predict(candidates)
    assert 0 < np.isnan(expected).sum() < len(expected)
    assert again.predict(candidates).tobytes() == expected.tobytes()
    assert again.texts_ == TEXTS
    assert signature_line(again) == signature_line(model)
    # saved once more, the file is the same
    save(again, tmp_path / "n")
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()


def test_what_is_no_whole_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m"
    save(fitted(), path)
    whole = path.read_bytes()
    damaged = []
    for place in [0, 30, *np.random.default_rng(0).integers(0, len(whole), 9)]:
        damaged.append(bytearray(whole))
        damaged[-1][place] ^= 1
    for content in (*damaged, whole[:-1], whole + b"x", b""):
        path.write_bytes(content)
        with pytest.raises(FormatError, match="no model of this version") as caught:
            load(path)
        assert "refless fit" in caught.value.remedy
    with pytest.raises(FormatError, match="cannot be read"):
        load(tmp_path / "nowhere")


def test_the_signature_hangs_on_texts_ratings_and_order() -> None:
    lines = {
        signature_line(NeighborsRegressor().fit(texts, quality))
        for texts, quality in (
            (["ab", "c"], [1, 2]),
            (["a", "bc"], [1, 2]),
            (["c", "ab"], [2, 1]),
            (["ab", "c"], [1, 3]),
        )
    }
    assert len(lines) == 4
