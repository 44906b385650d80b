"""The command `refless score`: what it reads, what it writes, what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from refless.cli import main
from refless.data.own import read_texts
from refless.kernels import kernel
from refless.models.neighbors import enough_evidence, neighbor_means
from refless.models.rnn_qe.scale import Scale
from tests.kernels.test_bertscore import bert_folder, needs_torch
from tests.workflow.small_data import sentences

TEXTS = sentences(60, seed=7)
QUALITY = [round(0.1 + 0.8 * (i % 7) / 6, 3) for i in range(40)]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Training examples, candidates with a further column, and the place for the output."""
    train, candidates = tmp_path / "train.tsv", tmp_path / "cand.tsv"
    rows = [f"{t}\t{q}" for t, q in zip(TEXTS[:40], QUALITY, strict=True)]
    train.write_text("\n".join(["text\tquality", *rows]) + "\n", encoding="utf-8")
    rows = [f"s{i}\t{text}" for i, text in enumerate(TEXTS[40:])]
    candidates.write_text("\n".join(["system\ttext", *rows]) + "\n", encoding="utf-8")
    return train, candidates, tmp_path / "out.tsv"


def score(*arguments: object) -> int:
    return main(["score", *map(str, arguments)])


def test_predictions_are_the_mean_quality_of_the_neighbors(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    train, candidates, out = files
    assert score("--train", train, "--candidates", candidates, "--out", out) == 0
    means, counts = neighbor_means(
        kernel("bleu.char", TEXTS[40:], TEXTS[:40]), np.array(QUALITY), 0.08
    )
    expected = enough_evidence(means, counts, 40, 5, 0.66)
    table = read_texts(out)
    found = [float(value or "nan") for value in table.cells("prediction")]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.isnan(expected).any()
    assert not np.isnan(expected).all()
    assert list(map(int, table.cells("neighbors"))) == counts.tolist()
    assert table.columns["text"] == TEXTS[40:]
    assert "coverage" in capsys.readouterr().err


def test_correlations_are_printed_where_candidates_have_quality(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    train, _, out = files
    assert score("--train", train, "--candidates", train, "--out", out) == 0
    assert "Spearman" in capsys.readouterr().err


def test_standard_input_and_output(files: tuple[Path, Path, Path]) -> None:
    train, candidates, out = files
    assert score("--train", train, "--candidates", candidates, "--out", out) == 0
    command = [sys.executable, "-m", "refless.cli", "score", "--train", str(train)]
    result = subprocess.run(
        [*command, "--candidates", "-"],
        input=candidates.read_bytes(),
        capture_output=True,
        check=True,
    )
    assert result.stdout == out.read_bytes()


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--kernel", "bleu.syllable"], "bleu.syllable"),
        (["--tau", "0"], "tau"),
        (["--min-neighbors", "0"], "min_neighbors"),
        (["--max-share", "1.5"], "max_share"),
        (["--train", "nowhere.tsv"], "nowhere.tsv"),
        (["--option", "layer=3"], "the options of bleu.char are: none"),
        (["--kernel", "meteor.nltk39", "--option", "wordnet"], "NAME=VALUE"),
        (["--kernel", "bertscore.mine", "--option", "depth=3"], "are: model, layer, rescale"),
        (["--kernel", "bertscore.mine", "--option", "layer=3"], "give --tau"),
        (["--kernel", "bertscore.roberta-large", "--option", "rescale=false"], "give --tau"),
        (
            ["--kernel", "bertscore.mine", "--tau", "0.5", "--option", "layer=three"],
            "layer is 'three'; it must be a whole number",
        ),
        (
            ["--kernel", "bertscore.mine", "--tau", "0.5", "--option", "rescale=1"],
            "rescale is 1; it must be true or false",
        ),
    ],
)
def test_bad_settings_fail_and_leave_no_output(
    files: tuple[Path, Path, Path],
    extra: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    train, candidates, out = files
    assert score("--train", train, "--candidates", candidates, "--out", out, *extra) == 1
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_no_candidates_give_only_the_header(files: tuple[Path, Path, Path]) -> None:
    train, candidates, out = files
    candidates.write_text("text\n")
    assert score("--train", train, "--candidates", candidates, "--out", out) == 0
    assert out.read_text() == "text\tprediction\tneighbors\n"


def test_an_unknown_kernel_is_named(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    train, candidates, out = files
    common = ["--train", train, "--candidates", candidates, "--out", out]
    assert score(*common, "--kernel", "nothing.char") == 1
    assert "nothing.char" in capsys.readouterr().err
    assert not out.exists()


def test_without_torch_the_kernel_that_needs_it_is_named(
    files: tuple[Path, Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    train, candidates, out = files
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    common = ["--train", train, "--candidates", candidates, "--out", out, "--tau", "0.5"]
    assert score(*common, "--kernel", "embedding.mine") == 1
    assert capsys.readouterr().err.startswith("refless: embedding.mine needs torch, which is not")


@needs_torch
def test_options_reach_the_kernel(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    train, candidates, out = files
    model = bert_folder(tmp_path / "tiny")
    common = ["--kernel", "bertscore.tiny", "--tau", "0.8", "--option", f"model={model}"]
    common += ["--train", train, "--candidates", candidates, "--out", out]
    for layer in (1, 3):
        assert score(*common, "--option", f"layer={layer}", "--option", "rescale=false") == 0
        matrix = kernel("bertscore.tiny", TEXTS[40:], TEXTS[:40], model=model, layer=layer)
        found = list(map(int, read_texts(out).cells("neighbors")))
        assert found == (matrix >= 0.8).sum(1).tolist()


def test_a_model_says_what_it_is_without_torch(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it fails
    assert main(["qe", "--card"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card["models"] == 5
    assert card["data"]["name"] == "nem"
    assert card["worth"]["n"] == card["trained"]["texts"]


def test_what_is_wrong_with_a_training_is_known_before_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ratings = tmp_path / "rated.tsv"
    ratings.write_text("text\tquality\na\t1\nb\t2\n")
    told = ["train-qe", "--ratings", str(ratings), "--out", str(tmp_path / "m.npz")]
    assert main([*told, "--seed", "-1"]) == 1
    assert "--seed is -1" in capsys.readouterr().err
    for out in ("-", str(tmp_path / "pipe.npz")):
        if out != "-":
            os.mkfifo(out)
        assert main([*told[:-1], out]) == 1
        assert "name a file" in capsys.readouterr().err
    assert main(["train-qe", "--ratings", "-", *told[3:]]) == 2
    assert main([*told, "--scale", "1", "1e200"]) == 1
    assert "--scale" in capsys.readouterr().err
    nowhere = tmp_path / "no" / "m.npz"
    assert main([*told[:-1], str(nowhere)]) == 1
    assert "mkdir -p" in capsys.readouterr().err
    assert not nowhere.parent.exists()


@pytest.mark.parametrize(("low", "high"), [(1, 6), (0.001, 0.004), (1e-11, 4e-11), (-300, 5000)])
def test_ratings_of_any_scale_come_back(low: float, high: float) -> None:
    given = low + np.arange(6) / 5 * (high - low)
    found = Scale(low, high, None).of_shares((given - low) / (high - low))
    np.testing.assert_allclose(found, given, rtol=1e-9, atol=0)
    assert low <= found.min() < found.max() <= high
    assert Scale(1, 6, None).of_shares(np.array([0.4]))[0] == 3
