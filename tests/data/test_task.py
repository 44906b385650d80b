"""Blanked tables of a task: no text, and still who answers the same."""

import json
from pathlib import Path

import numpy as np
import pytest

from refless.data import sources
from refless.data.task import blank_task, read_task, read_whole_task, write_task
from refless.errors import FormatError, StaleError
from tests.experiments.bleu_neighbors.written import written_task


def test_what_an_experiment_lacks_is_no_reason_to_read_the_data_again(tmp_path: Path) -> None:
    written_task(tmp_path / "mine", ["fine", "bad"], np.array([0.1, 0.2]))
    with pytest.raises(FormatError, match="no set and no part") as caught:
        read_whole_task(tmp_path / "mine", ["id", "set", "part"])
    assert "take the experiment out of those of mine" in caught.value.remedy


def test_a_blanked_task_says_which_texts_answer_the_same_and_nothing_more(tmp_path: Path) -> None:
    context = ["how  are you", "", "how are you", "", "why"]
    texts = ["fine", "good", "bad", "so", "well"]
    task = written_task(tmp_path / "t", texts, np.linspace(0.1, 0.9, 5), None, context)
    assert read_whole_task(tmp_path / "t").texts["text"].tolist() == texts
    blank_task(tmp_path / "t", tmp_path / "out" / "t")
    blanked = read_task(tmp_path / "out" / "t")
    assert set(blanked.texts["text"]) == {""}
    assert blanked.provenance == "shipped"
    written = b"".join(path.read_bytes() for path in (tmp_path / "out" / "t").iterdir())
    assert not any(word in written for word in (b"how", b"why", b"fine"))
    # contexts are known by their numbers; blank ones have none in common
    for one in (task, blanked):
        assert one.contexts is not None
        assert one.contexts.tolist() == [0, 1, 0, 2, 3]
    with pytest.raises(StaleError, match="no texts"):
        read_whole_task(tmp_path / "out" / "t")


def test_words_that_look_like_numbers_stay_words(tmp_path: Path) -> None:
    odd = ["007", "7", "1e3", "True", "NA", "nan", "1.0", "01", "null"]
    lines = [
        json.dumps({"text": f"t {w}", "quality": k, "mr": w, "system": w, "rater": w})
        for k, w in enumerate(odd)
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(lines) + "\n")
    data = sources.load("table", "mine", {"path": path}, {"scale": [0, 10]})
    write_task(data, tmp_path / "mine", {})
    read = read_whole_task(tmp_path / "mine")
    words = data.texts.select_dtypes(["object", "str"]).columns
    assert {"mr_key", "mr_set", "context_id"} <= set(words)
    for name in words:
        assert read.texts[name].tolist() == data.texts[name].tolist(), name
    assert read.ratings["rater"].tolist() == data.ratings["rater"].tolist()


def test_ratings_are_of_the_texts_beside_them(tmp_path: Path) -> None:
    written_task(tmp_path / "t", ["a b", "c d"], np.array([0.0, 1.0]))
    ratings = (tmp_path / "t/ratings.csv").read_bytes()
    written_task(tmp_path / "t", ["a b", "c d"], np.array([1.0, 0.0]))
    (tmp_path / "t/ratings.csv").write_bytes(ratings)
    with pytest.raises(StaleError):
        read_task(tmp_path / "t")
