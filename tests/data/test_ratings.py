"""The tidy tables: what comes back from disk is what was written, and a wrong row is named."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.data import sources
from refless.data.ratings import RatedTexts, separate_items
from refless.data.task import read_task, write_task
from refless.errors import FormatError, StaleError
from refless.shipping import blank_task
from refless.store.tables import read_csv, table_text
from tests.evaluation.made_up import write
from tests.experiments.bleu_neighbors.written import written_task

TEXTS = pd.DataFrame(
    {
        "id": ["t:1", "t:2", "t:3"],
        "context": ["", "a question", "NA"],
        "text": ["one", 'with "quotes", commas', "null"],
        "quality": [0.5, 1.0, np.nan],
        "n_ratings": [2, 1, 0],
        "system": ["human", "lm", "lm"],
    }
)
RATINGS = pd.DataFrame(
    {
        "mark": [1, 2, 3],
        "label": [5.0, 3.0, 1.0],
        "rater": ["r001", "r002", "r002"],
        "id": ["t:1", "t:2", "t:1"],
    }
)


awkward = st.text(st.sampled_from("\r\n\",' \t\u2028\ufeff\\éNA"), max_size=4)
printable = st.text(max_size=5).filter(str.isprintable)
numbers = st.floats(allow_nan=True, allow_infinity=False)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(awkward | printable, numbers), min_size=1))
def test_every_text_and_number_comes_back(tmp_path_factory, rows):
    """To the letter: line ends, quotes and words for missing values mean nothing. To the bit."""
    texts, quality = [text for text, _ in rows], [number for _, number in rows]
    written = table_text(pd.DataFrame({"id": "x", "text": texts, "quality": quality}))
    path = tmp_path_factory.getbasetemp() / "t.csv"
    path.write_bytes(written.encode())
    back = read_csv(path)
    assert back["text"].tolist() == texts
    np.testing.assert_array_equal(back["quality"].to_numpy(np.float64), quality)
    # other readers agree on where a row ends
    assert len(pd.read_csv(path)) == len(texts)


@pytest.mark.parametrize("text", ["", 'id,quality\n"a,0.5\n'])
def test_a_text_that_is_no_table_is_named(tmp_path, text):
    (path := tmp_path / "t.csv").write_text(text)
    with pytest.raises(FormatError) as caught:
        read_csv(path)
    assert caught.value.path == str(path)


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
def test_a_wrong_text_is_named(texts, ratings, message):
    data = RatedTexts(TEXTS.assign(**texts), RATINGS.assign(**ratings), (1, 5))
    with pytest.raises(FormatError, match=message):
        data.tidied("mine")


def test_outputs_that_share_a_row_come_apart():
    rows = [  # of three outputs by two systems whose names have none, nothing tells which is whose
        ("t:c:A", "A+B", 0.5, 3, "t:c:A+t:c:B"),
        ("t:c:C", "C", 0.125, 1, "t:c:C"),
        ("t:1", "model+human", 0.5, 2, "t:1+t:2"),
        ("t:6", "model+human", 0.5, 3, "t:6+t:7+t:8"),
    ]
    texts = pd.DataFrame(rows, columns=["id", "system", "quality", "n_ratings", "item"])
    rated = {"t:c:A": [0.25], "t:c:B": [0.5, 0.75], "t:c:C": [0.125], "t:1": [0.5], "t:2": [0.5]}
    ratings = pd.Series(rated).explode().rename("rating").rename_axis("item").reset_index()
    apart = separate_items(texts.assign(text=texts["id"]), ratings)
    assert " ".join(apart["id"]) == "t:c:A t:c:B t:c:C t:1 t:2 t:6 t:7 t:8"
    assert " ".join(apart["text"]) == "t:c:A t:c:A t:c:C t:1 t:1 t:6 t:6 t:6"
    assert apart["system"].tolist() == [*"ABC", "model", "human", *["model+human"] * 3]
    assert apart["quality"].tolist()[:5] == [0.25, 0.625, 0.125, 0.5, 0.5]
    assert apart["n_ratings"].tolist() == [1, 2, 1, 1, 1, 0, 0, 0]


def test_what_an_experiment_lacks_is_no_reason_to_read_the_data_again(tmp_path):
    written_task(tmp_path / "mine", ["fine", "bad"], np.array([0.1, 0.2]))
    with pytest.raises(FormatError, match="no set and no part") as caught:
        read_task(tmp_path / "mine", ["id", "set", "part"], whole=True)
    assert "take the experiment out of those of mine" in caught.value.remedy


def test_a_blanked_task_says_which_texts_answer_the_same_and_nothing_more(tmp_path):
    context = ["how  are you", "", "how are you", "", "why"]
    texts = ["fine", "good", "bad", "so", "well"]
    dataset = written_task(tmp_path / "t", texts, np.linspace(0.1, 0.9, 5), context)
    assert read_task(tmp_path / "t", whole=True).texts["text"].tolist() == texts
    blank_task(tmp_path / "t", tmp_path / "out/t")
    blanked = read_task(tmp_path / "out/t")
    assert set(blanked.texts["text"]) == {""}
    assert blanked.metadata["provenance"] == "shipped"
    written = b"".join(path.read_bytes() for path in (tmp_path / "out/t").iterdir())
    assert not any(word in written for word in (b"how", b"why", b"fine"))
    # contexts are known by their numbers; blank ones have none in common
    for one in (dataset, blanked):
        np.testing.assert_array_equal(one.contexts, [0, 1, 0, 2, 3])
    with pytest.raises(StaleError, match="no texts"):
        read_task(tmp_path / "out/t", whole=True)


def test_words_that_look_like_numbers_stay_words(tmp_path):
    odd = ["007", "7", "1e3", "True", "NA", "nan", "1.0", "01", "null"]
    names = "text", "mr", "system", "rater"
    rows = [{"quality": k, **dict.fromkeys(names, word)} for k, word in enumerate(odd)]
    path = write(tmp_path / "mine.jsonl", rows)
    data = sources.load("table", "mine", {"path": path}, {"scale": [0, 10]})
    write_task(data, tmp_path / "mine", {})
    read = read_task(tmp_path / "mine", whole=True)
    words = data.texts.select_dtypes(["object", "str"]).columns
    assert {"mr_key", "mr_set", "context_id"} <= set(words)
    for name in words:
        assert read.texts[name].tolist() == data.texts[name].tolist(), name
    assert read.ratings["rater"].tolist() == data.ratings["rater"].tolist()


def test_ratings_are_of_the_texts_beside_them(tmp_path):
    written_task(tmp_path / "t", ["a b", "c d"], np.array([0.0, 1.0]))
    written_task(tmp_path / "other/t", ["a b", "c d"], np.array([1.0, 0.0]))
    for name in ("ratings.csv", "ratings.json"):
        (tmp_path / "other/t" / name).replace(tmp_path / "t" / name)
    with pytest.raises(StaleError):
        read_task(tmp_path / "t")
