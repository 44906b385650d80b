"""The tidy tables: what comes back from disk is what was written, and a wrong row is named."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.data.ratings import (
    RATING_COLUMNS,
    TEXT_COLUMNS,
    RatedTexts,
    anonymise,
    separate_items,
)
from refless.errors import FormatError
from refless.store.tables import read_table, write_table


def texts_table(**changes: object) -> pd.DataFrame:
    columns: dict[str, object] = {
        "id": ["t:1", "t:2", "t:3"],
        "task": "t",
        "context": ["", "a question", "NA"],
        "text": ["one", 'with "quotes", commas', "null"],
        "quality": [0.5, 1.0, np.nan],
        "n_ratings": [2, 1, 0],
        "system": ["human", "lm", "lm"],
    }
    return pd.DataFrame(columns | changes)


def ratings_table(**changes: object) -> pd.DataFrame:
    columns: dict[str, object] = {
        "id": ["t:1", "t:2", "t:1"],
        "rater": ["r001", "r002", "r002"],
        "label": [5.0, 3.0, 1.0],
        "rating": [1.0, 0.5, 0.0],
        "mark": [1, 2, 3],
    }
    return pd.DataFrame(columns | changes)


# ---- on disk ----------------------------------------------------------------------------------


awkward = st.text(st.sampled_from("\r\n\",' \t\u2028\ufeff\\éNA"), max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(awkward, st.text(max_size=5).filter(str.isprintable)), min_size=1))
def test_every_text_comes_back_to_the_letter(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    """A text is data: line ends, quotes and the words for missing values mean nothing in it."""
    path = tmp_path_factory.getbasetemp() / "every_text.csv"
    table = pd.DataFrame({"id": "x", "text": texts, "context": texts[::-1]})
    write_table(table, path)
    back = read_table(path, ["id", "text", "context"])
    assert back["text"].tolist() == texts
    assert back["context"].tolist() == texts[::-1]
    assert len(pd.read_csv(path)) == len(texts)  # other readers agree on where a row ends


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=False), min_size=1, max_size=8))
def test_every_number_comes_back_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[float]
) -> None:
    path = tmp_path_factory.getbasetemp() / "every_number.csv"
    write_table(pd.DataFrame({"id": "x", "quality": numbers}), path)
    back = read_table(path, ["quality"])
    np.testing.assert_array_equal(back["quality"].to_numpy(np.float64), np.array(numbers))


@pytest.mark.parametrize("content", [None, b"", b'id,quality\n"a,0.5\n', b"id,quality\n\xff,0.5\n"])
def test_a_file_that_is_no_table_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "t.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FormatError, match="cannot be read as a table") as caught:
        read_table(path)
    assert caught.value.path == str(path)


# ---- checks -----------------------------------------------------------------------------------


def test_columns_come_in_order_and_labels_on_their_scale() -> None:
    ratings = ratings_table()[["mark", "label", "rater", "id"]]
    data = RatedTexts(texts_table().drop(columns="task"), ratings, (1, 5)).tidied("mine")
    assert list(data.texts) == [*TEXT_COLUMNS]
    assert set(data.texts["task"]) == {"mine"}
    assert list(data.ratings) == [*RATING_COLUMNS, "mark"]
    assert data.ratings["rating"].tolist() == [1, 0.5, 0]
    assert list(RatedTexts(texts_table()).tidied("mine").ratings) == RATING_COLUMNS


@pytest.mark.parametrize(
    ("texts", "ratings", "message"),
    [
        ({"id": ["t:1", "t:2", "t:2"]}, {}, "t:2 stands in two rows"),
        ({"quality": [0.5, 1.01, np.nan]}, {}, "t:2 has a quality"),
        ({"quality": [0.5, np.nan, np.nan]}, {}, "t:2 has a quality"),
        ({"quality": [0.5, 1, 0.2]}, {}, "t:3 has a quality"),
        ({}, {"label": [5, 6, 1]}, "t:2 has a rating"),
        ({}, {"label": [5, 5, np.nan]}, "t:1 has a rating"),
        ({}, {"id": ["t:1", "t:9", "t:1"]}, "t:9 is rated and has no text"),
    ],
)
def test_a_wrong_text_is_named(texts: Any, ratings: Any, message: str) -> None:
    data = RatedTexts(texts_table(**texts), ratings_table(**ratings), (1, 5))
    with pytest.raises(FormatError, match=message):
        data.tidied("mine")


# ---- raters and means -------------------------------------------------------------------------


def test_raters_are_numbered_by_first_appearance() -> None:
    assert anonymise(["W9", "W1", "W9", "A"]) == ["r001", "r002", "r001", "r003"]
    assert anonymise([str(i) for i in range(1001)])[-1] == "r1001"
    assert anonymise([]) == []


def test_outputs_that_share_a_row_come_apart() -> None:
    texts = pd.DataFrame(
        {
            "id": ["t:c:A", "t:c:C"],
            "text": ["same", "other"],
            "system": ["A+B", "C"],
            "quality": [0.5, 0.125],
            "n_ratings": [3, 1],
            "item": ["t:c:A+t:c:B", "t:c:C"],
        }
    )
    ratings = pd.DataFrame(
        {"item": ["t:c:A", "t:c:B", "t:c:B", "t:c:C"], "rating": [0.25, 0.5, 0.75, 0.125]}
    )
    apart = separate_items(texts, ratings)
    assert apart["id"].tolist() == ["t:c:A", "t:c:B", "t:c:C"]
    assert apart["text"].tolist() == ["same", "same", "other"]
    assert apart["system"].tolist() == ["A", "B", "C"]
    assert apart["quality"].tolist() == [0.25, 0.625, 0.125]
    assert apart["n_ratings"].tolist() == [1, 2, 1]
    assert separate_items(apart, ratings) is apart


def test_outputs_whose_names_have_no_system_keep_their_authors() -> None:
    texts = pd.DataFrame(
        {
            "id": ["t:1", "t:3", "t:6"],
            "text": ["same", "again", "thrice"],
            "system": ["model+human", "model", "model+human"],
            "quality": 0.5,
            "n_ratings": 2,
            "item": ["t:1+t:2", "t:3+t:4", "t:6+t:7+t:8"],
        }
    )
    rated = texts["item"].str.split("+").explode()
    apart = separate_items(texts, pd.DataFrame({"item": rated, "rating": 0.5}))
    # of three outputs by two systems nothing tells which is whose
    both = ["model+human"] * 3
    assert apart["system"].tolist() == ["model", "human", "model", "model", *both]
