"""Blanked tables of a task: no text, and still who answers the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refless.data import sources
from refless.data.ratings import RatedTexts
from refless.data.task import blank_task, read_task, read_whole_task, write_task
from refless.errors import FormatError, StaleError
from refless.store import sealed
from tests.experiments.bleu_neighbors.written import written_task


def test_what_an_experiment_lacks_is_no_reason_to_read_the_data_again(tmp_path: Path) -> None:
    written_task(tmp_path / "mine", ["fine", "bad"], np.array([0.1, 0.2]))
    with pytest.raises(FormatError, match="no set and no part") as caught:
        read_whole_task(tmp_path / "mine", ["id", "set", "part"])
    assert "take the experiment out of those of mine" in caught.value.remedy


def test_a_blanked_task_says_which_texts_answer_the_same_and_nothing_more(tmp_path: Path) -> None:
    context = ["how are you", "", "how are you", "why"]
    folder = tmp_path / "t"
    written_task(
        folder, ["fine", "good", "bad", "so"], np.array([0.1, 0.2, 0.3, 0.4]), None, context
    )
    blank_task(folder, tmp_path / "out" / "t")
    blanked = read_task(tmp_path / "out" / "t")
    own = blanked.texts["context"].tolist()
    assert own[0] == own[2] != own[3]
    assert own[1] == ""
    assert set(blanked.texts["text"]) == {""}
    assert blanked.provenance == "shipped"
    written = b"".join(path.read_bytes() for path in (tmp_path / "out" / "t").iterdir())
    assert not any(word in written for word in (b"how are", b"why", b"fine"))
    # texts are known by their sum
    assert blanked.text_sum == read_task(folder).text_sum


def test_nothing_is_computed_from_texts_that_are_not_there(tmp_path: Path) -> None:
    written_task(tmp_path / "t", ["fine", "good", "bad"], np.array([0.1, 0.2, 0.3]), None)
    assert read_whole_task(tmp_path / "t").texts["text"].tolist() == ["fine", "good", "bad"]
    blank_task(tmp_path / "t", tmp_path / "out" / "t")
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
    write_task("mine", data, tmp_path / "mine")
    read = read_whole_task(tmp_path / "mine")
    words = data.texts.select_dtypes(["object", "str"]).columns
    assert {"mr_key", "mr_set", "context_id"} <= set(words)
    for name in words:
        assert read.texts[name].tolist() == data.texts[name].tolist(), name
    assert read.ratings["rater"].tolist() == data.ratings["rater"].tolist()


def test_ratings_do_not_adopt_the_texts_of_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = written_task(tmp_path / "mine", ["a b", "c d"], np.array([0.0, 1.0]))
    other = (tmp_path / "mine/texts.csv").read_bytes()
    write = sealed.write

    def overtaken(path: Path, *content: Any) -> Any:
        record = write(path, *content)
        if path.name == "texts.csv":
            path.write_bytes(other)
        return record

    monkeypatch.setattr(sealed, "write", overtaken)
    data = RatedTexts(mine.texts.assign(quality=[1.0, 0.0]))
    write_task("mine", data, tmp_path / "mine")
    with pytest.raises(StaleError):
        read_task(tmp_path / "mine")


def test_texts_that_answer_nothing_have_no_context_in_common(tmp_path: Path) -> None:
    context = ["how  are you", "", "how are you", "", "why"]
    texts = [f"text {k}" for k in range(5)]
    written_task(tmp_path / "t", texts, np.linspace(0.1, 0.9, 5), None, context)
    blank_task(tmp_path / "t", tmp_path / "out" / "t")
    for folder in (tmp_path / "t", tmp_path / "out" / "t"):
        found = read_task(folder).contexts
        assert found is not None
        assert found.tolist() == [0, 1, 0, 2, 3], folder
