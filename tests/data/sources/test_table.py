"""The loader of users' tables: tidy tables, labels, raters."""

from __future__ import annotations

import math

import pytest

from refless.data import sources
from refless.data.ratings import TEXT_COLUMNS
from refless.data.sources import table
from refless.errors import FormatError

ROWS = "text,quality,context,system\na,1,How much?,A+B\nb,5,how much,h\nc,,,B\nd,2.5,,B\n"


def test_a_table_is_brought_to_its_scale(write):
    path = write(ROWS.replace("text,", "response,", 1), "x.csv")
    options = {"scale": [1, 5], "columns": {"text": "response"}}
    loaded = sources.load("table", "mine", {"path": path}, options)
    texts = loaded.texts
    assert list(texts) == [*TEXT_COLUMNS, "context_id"]
    assert texts["id"].tolist() == [f"mine:0000{k}" for k in (1, 2, 3, 4)]
    assert texts["quality"].tolist()[:2] == [0, 1]
    assert math.isnan(texts["quality"][2])
    assert texts["quality"][3] == 0.375
    assert texts["n_ratings"].tolist() == [1, 1, 0, 1]
    assert texts["system"].tolist() == ["A+B", "h", "B", "B"]
    # texts that answer nothing that is known answer nothing in common
    assert texts["context_id"].tolist() == ["c0001", "c0001", "c0002", "c0003"]
    assert loaded.ratings.empty
    assert loaded.scale == (1, 5)


def test_what_is_not_there(write):
    loaded = table.load(write("text\tquality\na\t-3\nb\t7.2\nc\t2\n", "x.tsv"), "mine")
    assert list(loaded.texts) == TEXT_COLUMNS
    assert set(loaded.texts["system"]) == {"unknown"}
    assert loaded.scale == (-3, 7.2)
    assert loaded.texts["quality"].tolist() == [0, 1, 5 / 10.2]
    unrated = table.load(write("text,quality\na,\n", "y.csv"), "mine").check()
    assert unrated.texts["n_ratings"].tolist() == [0]


def test_a_scale_that_is_none(write):
    path = write("text,quality\na,3\nb,3\n", "x.csv")
    with pytest.raises(FormatError, match="3 to 3"):
        table.load(path, "mine")
    assert table.load(path, "mine", scale=[1, 5]).texts["quality"].tolist() == [0.5, 0.5]
    for scale in ([5, 1], [1], [1, math.inf], [math.nan, 1]):
        with pytest.raises(FormatError):
            table.load(path, "mine", scale=scale)


def test_raters(write):
    rows = "yes,4,A,ann\nno,1,A,ann\nyes,5,A,bob\nyes,5,B,bob\n"
    loaded = table.load(write(f"text,quality,system,rater\n{rows}", "x.csv"), "mine", [1, 5])
    loaded.check()
    assert loaded.texts["quality"].tolist() == [0.875, 0, 1]
    assert loaded.texts["n_ratings"].tolist() == [2, 1, 1]
    assert loaded.ratings.to_numpy().tolist() == [
        ["mine:00001", "r001", 4, 0.75],
        ["mine:00002", "r001", 1, 0],
        ["mine:00001", "r002", 5, 1],
        ["mine:00003", "r002", 5, 1],
    ]


def test_references_and_meaning_representations(write):
    rows = (
        '{"text": "t", "quality": 1, "mr": "inform(name=X, food=\'thai\')", "references": ["a"]}\n'
        '{"text": "u", "quality": 2, "mr": "inform(food=thai;name=X)"}\n'
        '{"text": "v", "quality": 3, "mr": "name[X],  food[thai]"}\n'
    )
    texts = table.load(write(rows, "x.jsonl"), "mine").check().texts
    assert texts["context"].tolist() == texts["mr"].tolist()
    assert texts["mr_set"][0] == texts["mr_set"][1] != texts["mr_key"][0] != texts["mr_key"][1]
    assert texts["mr_key"][2] == "name[X], food[thai]"
    assert texts["references"].tolist() == ['["a"]', "[]", "[]"]
