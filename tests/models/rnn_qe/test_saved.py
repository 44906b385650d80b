"""Models as files, and the command `refless qe`."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refless.cli import main
from refless.data.tsv import read_tsv
from refless.errors import FormatError
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.delex import delexicalise
from tests.models.rnn_qe.test_network import small

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed: make torch"
)


@pytest.fixture(scope="module")
def made() -> tuple[Any, Any, Encoded]:
    """A trained model, what it was trained with, and its data."""
    from refless.models.rnn_qe.network import Architecture
    from refless.models.rnn_qe.saved import Model
    from refless.models.rnn_qe.training import Schedule, train

    architecture = Architecture(embedding=6, hidden=5)
    # the second fold has more words: the first one's model must not
    data = {0: Encoded(small(30)), 1: Encoded(small(200, 1))}
    done = train(data, [0], Schedule(0, 2, 0.01, 8), architecture)
    return Model.of(architecture, done.parameters[0], data[0], {"fold": 0}), done, data[0]


def test_a_saved_model_predicts_what_training_predicted(
    made: tuple[Any, Any, Encoded], tmp_path: Path
) -> None:
    from refless.models.rnn_qe.saved import load_model, save_model

    model, done, data = made
    save_model(model, tmp_path / "fold0.pt")
    loaded = load_model(tmp_path / "fold0.pt")
    assert loaded.about == {"fold": 0}
    rows = data.instances.rows("dev", "test")
    mrs, texts = ([getattr(data.instances, n)[row] for row in rows] for n in ("mr", "text"))
    raw, rounded = loaded.predict(mrs, texts)
    table = done.predictions[done.predictions["fold"] == 0]
    np.testing.assert_allclose(raw, table["raw"], rtol=0, atol=1e-6)
    np.testing.assert_array_equal(rounded, table["prediction"])
    assert loaded.predict([], [])[0].shape == (0,)


def test_refless_qe(
    made: tuple[Any, Any, Encoded], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from refless.models.rnn_qe.saved import save_model

    model = made[0]
    save_model(model, tmp_path / "m.pt")
    rows = [("inform(name='the hut',near=park)", "The Hut is near park."), ("reqmore()", "")]
    lines = ["mr\ttext\tsystem", *("\t".join([*row, "s"]) for row in rows)]
    given, out = tmp_path / "outputs.tsv", tmp_path / "pred.tsv"
    given.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = ["qe", "--model", str(tmp_path / "m.pt"), "--outputs", str(given)]
    assert main([*command, "--out", str(out)]) == 0
    table = read_tsv(str(out), ["mr", "text", "system", "raw", "prediction"])
    pairs = [delexicalise(*row) for row in rows]
    raw, rounded = model.predict(
        *([side.split() for side in pair] for pair in zip(*pairs, strict=True))
    )
    np.testing.assert_allclose(table.numbers("raw"), raw, atol=1e-4)
    assert table.numbers("prediction") == rounded.tolist()

    given.write_text("mr\ttext\nno mr\tHello.\n", encoding="utf-8")
    assert main([*command, "--out", str(out)]) == 1
    assert f"{given}:2: this is no meaning representation" in capsys.readouterr().err
    given.write_text("mr\ttext\traw\nhello()\tHello.\t1\n", encoding="utf-8")
    assert main([*command, "--out", str(out)]) == 1
    assert "already has a column 'raw'" in capsys.readouterr().err


def test_files_that_are_no_models(made: tuple[Any, Any, Encoded], tmp_path: Path) -> None:
    import torch

    from refless.models.rnn_qe.saved import load_model, save_model

    path = tmp_path / "m.pt"
    for write in (lambda: None, lambda: path.write_bytes(b"x"), lambda: torch.save({"a": 1}, path)):
        write()
        with pytest.raises(FormatError, match="model of RNN-QE"):
            load_model(path)
    wider = replace(made[0], architecture=replace(made[0].architecture, layers=3))
    save_model(wider, path)
    with pytest.raises(FormatError, match="layer2"):
        load_model(path)
