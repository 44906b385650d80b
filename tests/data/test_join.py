"""More columns from another file, and columns of odd shape."""

import logging
from pathlib import Path

import pandas as pd
import pytest

from refless.data.user_ratings import read_ratings, read_texts
from refless.errors import FormatError, SettingError

RATED = pd.DataFrame({"text": ["a", "b", "c"], "quality": [1, 2, 3], "n": [7, 8, 9]})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("n,score_x\n7,1\n7,2\n", "more than once"),
        ("m,score_x\n7,1\n", "no column 'n'"),
        ("n,score_x\n1,1\n", "no row has the n"),
    ],
)
def test_a_bad_join_is_refused(tmp_path, table, words):
    path = tmp_path / "scores.csv"
    path.write_text(table)
    with pytest.raises(FormatError, match=words):
        read_ratings([RATED], join=(path, "n"))


def test_rows_are_joined_by_two_columns_and_outputs_too(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("n,system,score_x,text\n7,b,0.1,z\n7,a,0.7,z\n8,a,0.8,z\n")
    table = pd.DataFrame({"text": ["a", "b"], "quality": [1, 2], "n": [7, 7], "system": ["a", "b"]})
    join = (path, ["n", "system"])
    joined = read_ratings([table], join=join).texts
    assert joined["score_x"].tolist() == [0.7, 0.1]
    assert joined["text"].tolist() == ["a", "b"]  # the table's own stay
    outputs = table.drop(columns="quality")
    assert read_texts(outputs, ["score_*"], join=join).columns["score_x"] == [0.7, 0.1]
    assert "score_x" not in read_texts(table[["text"]], ["score_*"], join=join).columns


def test_what_has_no_key_is_joined_to_nothing(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("n,score_x\n,99\n0,1\n")
    table = pd.DataFrame({"text": ["a", "b", "c"], "n": [None, "", 0]})
    scores = read_texts(table, ["score_*"], join=(path, "n")).columns["score_x"]
    assert pd.Series(scores).fillna(-1).tolist() == [-1, -1, 1]
    assert len(read_texts(table.head(0), join=(path, "n")).rows) == 0
    with pytest.raises(FormatError, match="no column 'm'"):
        read_texts(table, join=(path, ["n", "m"]))
    with pytest.raises(SettingError):
        read_texts(table, join=(path, []))


def test_an_output_without_a_system_among_others_is_refused():
    table = pd.DataFrame({"text": ["a", "b"], "system": ["x", ""]})
    with pytest.raises(FormatError, match="system"):
        read_texts(table, ["system"])


def test_a_table_stays_a_table(tmp_path):
    (tmp_path / "rated.tsv").write_text("n\ttext\tquality\n7\ta\t1\n8\tb\t2\n")
    (tmp_path / "more.jsonl").write_text('{"n": 7, "references": ["c", "d"], "score_x": 0.5}\n')
    ratings = read_ratings([tmp_path / "rated.tsv"], join=(tmp_path / "more.jsonl", "n"))
    assert ratings.texts["references"].tolist() == [["c", "d"], []]
    assert ratings.files[0].format == "tsv"
    assert ratings.files[0].rows[0] == ["7", "a", "1", '["c", "d"]', 0.5]


def test_a_table_and_a_file_are_read_in_their_order(tmp_path):
    path = tmp_path / "rated.csv"
    path.write_text("text,quality\nd,4\n")
    texts = read_ratings([RATED, path, path, RATED.assign(text=["e", "f", "g"])]).texts
    assert texts["text"].tolist() == [*"abcdefg"]


def test_scores_of_a_text_that_raters_share_are_averaged(caplog):
    table = pd.DataFrame({"text": ["a", "a", "b"], "quality": [1, 3, 2], "rater": ["x", "y", "x"]})
    with caplog.at_level(logging.WARNING):
        own = read_ratings([table.assign(score_x=[0.5, 0.7, 1.0])])
    assert own.texts["score_x"].tolist() == pytest.approx([0.6, 1.0])
    assert "score_x differs between rows of 1 texts" in caplog.text


def test_lists_as_python_prints_them_and_columns_that_are_declined(tmp_path):
    path = Path(tmp_path / "rated.csv")
    path.write_text('text,quality,references\na,1,"[\'it\'\'s\', ""b""]"\nb,2,\n')
    assert read_ratings([path]).texts["references"][1] == []
    path.write_text('text,quality,references\na,1,"[\'b\', ""it\'s""]"\nb,2,\n')
    assert read_ratings([path]).texts["references"][0] == ["b", "it's"]
    path.write_text("text,quality,references\na,1,some words\n")
    with pytest.raises(FormatError, match="references"):
        read_ratings([path])
    assert "references" not in read_ratings([path], columns={"references": ""}).texts
