"""`refless compare` from a file to its answer and its files."""

import html
import json
import os
import pickle
import re
import shlex
import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import refless
from refless import api
from refless.cli import build_parser, main
from refless.errors import FormatError, OutputError, SettingError
from refless.evaluation import FILES, read
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
        assert set(own["method"]) == {*methods, "score_judge", "surface_score_judge"}
        assert {"bleu.char", "bleu.word", "rouge_l.stem"} <= set(own["kernel"].dropna())
        assert set(own["n"]) == {90}  # the same texts for all
    # the mean of the other systems of a context falls as one's own rating rises
    assert np.isnan(by_method["pairwise_accuracy"]["texts", "context_mean"])
    assert (found["coverage"].isna() == found["reason"].notna()).all()
    known = found[found["pearson_low"].notna()]
    assert known["pearson"].between(known["pearson_low"], known["pearson_high"]).all()


def test_a_prediction_names_the_first_row_of_its_text():
    given = rows(60)
    single = pd.DataFrame(given).assign(quality=lambda table: table["quality"].round())
    both = pd.concat([single.assign(rater=rater) for rater in "ab"]).sort_index(kind="stable")
    answer = refless.compare(both, kernels=["bleu.char"], draws=1000, repeats=1)
    predictions = answer.comparison.predictions
    texts = both["text"].to_numpy()[predictions["row"] - 1]
    assert set(texts) == set(single["text"])
    assert set(predictions["row"]) == set(range(1, 120, 2))


def test_what_many_texts_take_is_said_before_they_are_compared(monkeypatch, caplog):
    monkeypatch.setattr(read, "TEXTS", 59)
    monkeypatch.setattr(api, "TEXTS_A_MINUTE", 20)

    def stop(*_: object) -> None:
        raise StopIteration

    with pytest.raises(StopIteration):
        refless.compare(rows(60), kernels=["bleu.char"], draws=1000, step=stop)
    assert "60 texts: about 3 minutes" in caplog.text


def test_the_unit_of_scores_is_refused_where_there_are_none():
    given = rows(60, score_judge=False)
    with pytest.raises(SettingError, match="unit of scores"):
        refless.compare(given, score_unit="rating")


def test_new_contexts_are_refused_where_no_context_is_known():
    given = rows(60, context=False, references=False)
    for method in ("ridge", "neighbors"):
        with pytest.raises(FormatError, match="context"):
            refless.score(given, [{"text": "new"}], method=method, new_contexts=True)


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
    assert sorted(found[0]) == sorted(FILES)
    for name in set(FILES) - {"report.html"}:  # which has its date, and the name of the input
        assert found[0][name] == found[1][name], name
    assert found[0]["learning_curve.csv"].count(b"\n") == 3
    for name, content in found[0].items():
        assert b"lovely" not in content
        assert name == "report.html" or str(tmp_path).encode() not in content


def test_the_answer_comes_before_its_files(tmp_path, monkeypatch, capsys):
    def fail(*_: object) -> None:
        raise OutputError("no space", path="out", remedy="make room")

    ratings = write(tmp_path / "predicted.tsv", rows(200, score_judge=False))
    monkeypatch.setattr("refless.evaluation.comparison_answer.write_together", fail)
    monkeypatch.chdir(tmp_path)
    told = "--kernel", "bleu.char", "--repeats", 1, "--ratings-format", "jsonl"
    assert compare(Path(ratings.name), "--out", "out", *told) == 1
    printed = capsys.readouterr()
    assert re.search("(?m)^systems .* 0[.]", printed.out)
    assert printed.err.endswith("make room\n")
    # the next command takes no file's place
    (command,) = re.findall(r"(?m)^next.*: refless (.*)$", printed.err)
    arguments = build_parser().parse_args(shlex.split(command))
    assert arguments.out not in {arguments.outputs, *arguments.ratings}
    assert arguments.ratings_format == "jsonl"


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
    assert {split["split"] for split in record["decisions"]["splits"]} == {
        "texts",
        "systems",
        "contexts",
    }
    # what it was made from
    facts = record["signature"], "rated.jsonl", str(date.today().year)
    assert {"seed:0", "draws:500"} <= set(record["signature"].split("|"))
    assert all(fact in page for fact in facts)
    # as the terminal has it: each cell of the answer, and the next command
    cells = {html.unescape(cell) for cell in re.findall(r"<td[^>]*>([^<]*)</td>", page)}
    verdicts = [line.strip() for line in record["answer"] if line.strip().startswith("lead ")]
    assert len(verdicts) == 3
    assert cells.issuperset(verdicts)
    assert "<pre>next" in page
    # on a narrow screen, r comes before rank
    assert page.index("<th>r</th>") < page.index("<th>rank</th>")


def test_a_table_gives_what_its_file_gives(tmp_path):
    given = rows(60, score_judge=False)
    more = {"kernels": ["bleu.char"], "draws": 500, "repeats": 1, "scale": [1, 5]}
    table = refless.compare(pd.DataFrame(given), **more)
    file = refless.compare(write(tmp_path / "rated.jsonl", given), **more)
    pd.testing.assert_frame_equal(table.table, file.table)
    pd.testing.assert_frame_equal(table.pairs, file.pairs)
    pd.testing.assert_frame_equal(table.learning_curve, file.learning_curve)
    assert table.answer == file.answer
    assert table.signature == file.signature
    assert repr(table).splitlines() == [*table.answer.splitlines(), f"signature {file.signature}"]
    assert json.loads(json.dumps(table.record()))["signature"] in html.unescape(table.to_html())
    assert table.next_step.startswith("next")
    assert html.escape(table.to_html()) in table._repr_html_()
    again = pickle.loads(pickle.dumps(table))
    assert again.to_html() == table.to_html()
    assert again.decisions == table.decisions


def test_answers_of_all_commands_can_be_pickled():
    given = pd.DataFrame(rows(60))
    for answer in (
        refless.score(given, given[:5]),
        refless.score(given, given[:5], kernel="bleu.char"),
        refless.estimate(given[:40], given),
    ):
        again = pickle.loads(pickle.dumps(answer))
        pd.testing.assert_frame_equal(again.table, answer.table)
        assert repr(again) == repr(answer)
        assert again.signature == answer.signature != ""
        assert again.signature in again.to_html()
        assert "<iframe" in again._repr_html_()
