"""Models as files, and the command `refless qe`."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from refless.cli import main
from refless.errors import FormatError
from refless.models.rnn_qe.batches import Encoded
from refless.models.rnn_qe.delex import delexicalise
from refless.store import signed
from tests.models.rnn_qe.test_network import small

torch = pytest.importorskip("torch", reason="torch is not installed: make torch")

from refless.models.rnn_qe.network import Architecture  # noqa: E402
from refless.models.rnn_qe.saved import Model, load_model, save_model  # noqa: E402
from refless.models.rnn_qe.scale import Scale  # noqa: E402
from refless.models.rnn_qe.training import Schedule, train  # noqa: E402


@pytest.fixture(scope="module")
def made() -> tuple[Any, Any, Encoded]:
    """A trained model, what it was trained with, and its data."""
    architecture = Architecture(embedding=6, hidden=5)
    # the second fold has more words: the first one's model must not
    data = {0: Encoded(small(30)), 1: Encoded(small(200, 1))}
    done = train(data, [0], Schedule(0, 2, 0.01, 8), architecture)
    model = Model.of(architecture, done.parameters[:1], [data[0]], {"fold": 0})
    return model, done, data[0]


def test_a_saved_model_predicts_what_training_predicted(
    made: tuple[Any, Any, Encoded], tmp_path: Path
) -> None:
    model, done, data = made
    save_model(model, tmp_path / "fold0.npz")
    loaded = load_model(tmp_path / "fold0.npz")
    assert loaded.about == {"fold": 0}
    rows = data.instances.rows("dev", "test")
    mrs, texts = ([getattr(data.instances, n)[row] for row in rows] for n in ("mr", "text"))
    raw, rounded = loaded.predict(mrs, texts)
    table = done.predictions[done.predictions["fold"] == 0]
    np.testing.assert_allclose(raw, table["raw"], rtol=0, atol=1e-6)
    np.testing.assert_array_equal(rounded, table["prediction"])
    assert loaded.predict([], [])[0].shape == (0,)


def test_several_models_predict_their_mean_on_their_scale(
    made: tuple[Any, Any, Encoded], tmp_path: Path
) -> None:
    _, done, data = made
    both = [data, Encoded(small(200, 1))]
    architecture = Architecture(embedding=6, hidden=5)
    scale = Scale(0, 100, 10)
    others = {"scale": scale, "seen": frozenset({3, 2**64 - 1})}
    model = Model.of(architecture, done.parameters, both, {}, **others)
    save_model(model, tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    assert (loaded.scale, loaded.seen) == (scale, model.seen)
    mrs, texts = data.instances.mr[:5], data.instances.text[:5]
    raw, rounded = loaded.predict(mrs, texts)
    alone = [
        Model.of(architecture, [parameters], [own], {}).predict(mrs, texts)[0]
        for parameters, own in zip(done.parameters, both, strict=True)
    ]
    np.testing.assert_allclose(raw, (np.mean(alone, axis=0) - 1) * 20, atol=1e-5)
    np.testing.assert_allclose(rounded, np.clip(np.round(raw, -1), 0, 100), atol=1e-9)


def test_no_word_stands_in_a_file(made: tuple[Any, Any, Encoded], tmp_path: Path) -> None:
    save_model(made[0], tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz", allow_pickle=False) as stored:
        kinds = {name: stored[name].dtype.kind for name in stored.files}
        assert kinds.pop("about") == "U"
        assert set(kinds.values()) == {"f", "u"}
        assert not any(f'"{word}"' in str(stored["about"]) for word in made[2].text_words)


def test_refless_qe(
    made: tuple[Any, Any, Encoded], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = made[0]
    save_model(model, tmp_path / "m.npz")
    rows = [("inform(name='the hut',near=park)", "The Hut is near park."), ("reqmore()", "")]
    lines = ["mr\ttext\tsystem", *("\t".join([*row, "s"]) for row in rows)]
    given, out = tmp_path / "outputs.tsv", tmp_path / "pred.tsv"
    given.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = ["qe", "--model", str(tmp_path / "m.npz"), "--outputs", str(given)]
    assert main([*command, "--out", str(out)]) == 0
    table = pd.read_csv(out, sep="\t", quoting=3)
    pairs = [delexicalise(*row) for row in rows]
    raw, rounded = model.predict(
        *([side.split() for side in pair] for pair in zip(*pairs, strict=True))
    )
    np.testing.assert_allclose(table["raw"], raw, atol=1e-4)
    assert table["prediction"].tolist() == rounded.tolist()

    given.write_text("mr\ttext\nhello()\tHi.\nno mr\tHello.\n", encoding="utf-8")
    assert main([*command, "--out", str(out)]) == 1
    assert f"{given}:3: this is no meaning representation" in capsys.readouterr().err
    given.write_text("text\nHello.\n", encoding="utf-8")
    assert main([*command, "--out", str(out)]) == 1
    assert "no column mr or context" in capsys.readouterr().err
    given.write_text("mr\ttext\traw\nhello()\tHello.\t1\n", encoding="utf-8")
    assert main([*command, "--out", str(out)]) == 1
    assert "already has a column 'raw'" in capsys.readouterr().err


def test_the_column_of_the_training_is_read(
    made: tuple[Any, Any, Encoded], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_model(replace(made[0], about={"column": "context"}), tmp_path / "m.npz")
    given = tmp_path / "outputs.tsv"
    command = ["qe", "--model", str(tmp_path / "m.npz"), "--outputs", str(given)]
    found, near = [], "inform(name='the hut',near=park)"
    for header in ("context\tmr", "mr\tcontext"):
        given.write_text(f"{header}\ttext\nhello()\t{near}\tHi.\n", encoding="utf-8")
        assert main(command) == 0
        found.append(capsys.readouterr())
    given.write_text("mr\ttext\nhello()\tHi.\n", encoding="utf-8")
    assert main(command) == 0
    found.append(capsys.readouterr())
    first, swapped, alone = (one.out.split()[-2] for one in found)
    assert first == alone
    assert first != swapped
    assert [("trained with the column context" in one.err) for one in found] == [False, False, True]


def test_outputs_are_not_written_over(
    made: tuple[Any, Any, Encoded], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_model(made[0], tmp_path / "m.npz")
    given = tmp_path / "outputs.tsv"
    given.write_text("mr\ttext\nhello()\tHi.\n", encoding="utf-8")
    command = ["qe", "--model", str(tmp_path / "m.npz"), "--outputs", str(given)]
    assert main([*command, "--out", str(given)]) == 1
    assert "is an input" in capsys.readouterr().err
    assert given.read_text() == "mr\ttext\nhello()\tHi.\n"


def test_quality_beside_the_outputs_gives_statistics(
    made: tuple[Any, Any, Encoded], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, _, data = made
    save_model(model, tmp_path / "m.npz")
    rows = [
        (" ".join(text), number % 5 + 1) for number, text in enumerate(data.instances.text[2:20])
    ]
    given, out = tmp_path / "outputs.tsv", tmp_path / "pred.tsv"
    lines = ["mr\ttext\tquality", *(f"hello()\t{text}\t{quality}" for text, quality in rows)]
    given.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = ["qe", "--model", str(tmp_path / "m.npz"), "--outputs", str(given)]
    assert main([*command, "--out", str(out)]) == 0
    said = capsys.readouterr().err
    raw = pd.read_csv(out, sep="\t", quoting=3)["raw"]
    truth = np.array([quality for _, quality in rows])
    rho = scipy.stats.spearmanr(raw, truth).statistic
    assert f"Spearman {rho:.4f}" in said
    pearson = float(said.split("Pearson ")[1].split()[0])
    assert pearson == pytest.approx(np.corrcoef(raw, truth)[0, 1], abs=2e-3)
    assert main(["qe", "--model", str(tmp_path / "m.npz"), "--card"]) == 0
    assert json.loads(capsys.readouterr().out)["fold"] == 0


def test_files_that_are_no_models(made: tuple[Any, Any, Encoded], tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    save_model(made[0], path)
    whole = path.read_bytes()
    signed.write(tmp_path / "other.npz", {"a": np.zeros(2)}, {"kind": "kernel"})
    other = (tmp_path / "other.npz").read_bytes()
    path.unlink()
    for content in (None, b"x", whole[:-9], other, pickle.dumps({"a": 1})):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(FormatError, match="model of RNN-QE") as caught:
            load_model(path)
        assert "train-qe" in caught.value.remedy
    wider = replace(made[0], architecture=replace(made[0].architecture, layers=3))
    save_model(wider, path)
    with pytest.raises(FormatError, match="layer2"):
        load_model(path)
