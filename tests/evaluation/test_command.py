"""`refless compare` from a file to its answer and its files."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import refless
from refless.cli import build_parser, main
from refless.errors import OutputError
from refless.evaluation import FILES
from refless.evaluation.evaluate import COLUMNS
from refless.methods import METHODS, is_text_blind
from tests.evaluation.made_up import rows, write


def compare(ratings: Path, *more: object) -> int:
    told = ["compare", "--ratings", ratings, "--draws", 500, "--no-networks", *more]
    return main([str(argument) for argument in told])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    ratings = write(folder / "rated.jsonl", rows(90))
    told = "--out", folder / "out", "--scale", 1, 5, "--repeats", 2
    assert compare(ratings, *told) == 0
    return folder / "out"


def test_the_table_has_every_method_under_every_split(made):
    found = pd.read_csv(made / "comparison.csv", keep_default_na=False, na_values=[""])
    assert list(found) == COLUMNS
    methods = {name for name in METHODS if is_text_blind(name)} - {
        "human"
    }  # a file does not say it
    methods |= {"ridge", "ridge_system", "surface_ridge", "neighbors"}
    methods |= {"bleu", "delta_bleu", "rnn_qe"}
    by_method = found.set_index(["split", "method"])
    for split in ("texts", "systems", "contexts"):
        assert by_method["pearson"][split, "ridge"] > 0.5
        assert by_method["pearson"][split, "length"] < 0.3
        own = found[found["split"] == split]
        assert set(own["method"]) == {*methods, "score_judge"}
        assert {"bleu.char", "bleu.word", "rouge_l.stem"} <= set(own["kernel"].dropna())
        assert set(own["n"]) == {90}  # the same texts for all
    # the mean of the other systems of a context falls as one's own rating rises
    assert np.isnan(by_method["pairwise_accuracy"]["texts", "context_mean"])
    assert (found["coverage"].isna() == found["reason"].notna()).all()
    known = found[found["pearson_low"].notna()]
    assert known["pearson"].between(known["pearson_low"], known["pearson_high"]).all()


def test_predictions_give_the_table(made):
    """In the unit of the ratings, with the mean of the other folds where a method abstains."""
    found = pd.read_csv(made / "comparison.csv").set_index(["split", "method", "kernel"])
    row = found.loc["contexts", "neighbors", "bleu.char"]
    whole, ours = pd.read_csv(made / "predictions.csv"), []
    assert whole["quality"].between(1, 5).all()
    for _, own in whole[whole["split"] == "contexts"].groupby("repeat"):
        mean = [own.loc[own["fold"] != fold, "quality"].mean() for fold in own["fold"]]
        filled = own["neighbors:bleu.char"].fillna(pd.Series(mean, index=own.index))
        x, y = (v - v.groupby(own["fold"]).transform("mean") for v in (filled, own["quality"]))
        values = {"pearson": stats.pearsonr(x, y).statistic}
        values |= {"mse": ((filled - own["quality"]) ** 2).mean()}
        ours.append(values | {"mse_of_mean": ((mean - own["quality"]) ** 2).mean()})
    assert len(ours) == 2
    for name, value in pd.DataFrame(ours).mean().items():
        assert row[name] == pytest.approx(value, abs=2e-4), name


def test_same_input_same_bytes_and_no_text_in_them(tmp_path):
    ratings, found = write(tmp_path / "rated.jsonl", rows(60)), []
    for name, threads in (("one", 1), ("two", 2)):
        told = "--kernel", "bleu.char", "--repeats", 1, "--threads", threads
        assert compare(ratings, "--out", tmp_path / name, *told) == 0
        found.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert found[0] == found[1]
    assert sorted(found[0]) == sorted(FILES)
    assert found[0]["learning_curve.csv"].count(b"\n") == 3
    for content in found[0].values():
        assert b"lovely" not in content
        assert str(tmp_path).encode() not in content


def test_the_answer_comes_before_its_files(tmp_path, monkeypatch, capsys):
    def fail(*_: object) -> None:
        raise OutputError("no space", path="out", remedy="make room")

    ratings = write(tmp_path / "predicted.tsv", rows(200, score_judge=False))
    monkeypatch.setattr("refless.evaluation.report.write_together", fail)
    monkeypatch.chdir(tmp_path)
    told = "--kernel", "bleu.char", "--repeats", 1, "--ratings-format", "jsonl"
    assert compare(Path(ratings.name), "--out", "out", *told) == 1
    printed = capsys.readouterr()
    assert "new systems: " in printed.out
    assert printed.err.endswith("make room\n")
    # the next command takes no file's place
    (command,) = re.findall(r"(?m)^next.*: refless (.*)$", printed.err)
    arguments = build_parser().parse_args(shlex.split(command))
    assert arguments.out not in {arguments.outputs, *arguments.ratings}


def test_figures_need_nothing_of_a_notebook():
    """Whichever module comes first; matplotlib refuses a backend that is not installed."""
    call = [sys.executable, "-c", "import refless.report.figures_delta_bleu"]
    backend = {"MPLBACKEND": "module://matplotlib_inline.no_such_backend"}
    for name in (*backend.values(), "no_such_backend"):
        subprocess.run(call, env={**os.environ, "MPLBACKEND": name}, check=True)


def test_the_page_is_whole_and_asks_for_nothing(made):
    page = (made / "report.html").read_text(encoding="utf-8")
    record = json.loads((made / "comparison.json").read_text())
    assert all(line in page for line in record["warnings"])
    assert "mean of the system" in page
    assert not re.search(r"(src|href)=[\"']?https?:", page)
    assert set(record["shown"]) == {"texts", "systems", "contexts"}


def test_a_table_gives_what_its_file_gives(tmp_path):
    given = rows(60, score_judge=False)
    more = {"kernels": ["bleu.char"], "draws": 500, "repeats": 1, "scale": [1, 5]}
    table = refless.compare(pd.DataFrame(given), **more)
    file = refless.compare(write(tmp_path / "rated.jsonl", given), **more)
    pd.testing.assert_frame_equal(table.table, file.table)
    pd.testing.assert_frame_equal(table.pairs, file.pairs)
    assert table.answer == file.answer
    assert len(table.answer.splitlines()) <= 12
    assert "mean of the system" in table.to_html()


def test_every_method_that_is_named_next_rates_texts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = [{**row, "score_b": row["quality"] + k % 3} for k, row in enumerate(rows(60))]
    write(Path("rated.jsonl"), given)
    write(Path("NEW.jsonl"), given[:5])
    for method in ("combined", "score_b", "ridge_system"):
        words = ["score", "--ratings", "rated.jsonl", "--outputs", "NEW.jsonl", "--method", method]
        assert main(words) == 0
        out = capsys.readouterr().out.splitlines()
        assert all(np.isfinite(json.loads(line)["prediction"]) for line in out)
    scored = refless.score("rated.jsonl", pd.DataFrame(given[:5]), method="score_b")
    line = np.polyfit(*pd.DataFrame(given)[["score_b", "quality"]].to_numpy().T, 1)
    expected = np.polyval(line, [row["score_b"] for row in given[:5]])
    assert scored.table["prediction"].tolist() == pytest.approx(expected)
    write(Path("bare.jsonl"), [{"text": "a"}])
    assert main([*words[:4], "bare.jsonl", "--method", "combined"]) == 1
    assert "bare.jsonl: has no column score_" in capsys.readouterr().err
