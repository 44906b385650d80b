"""Blanked tables of a task: no text, and still who answers the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from refless.data.task import blank_task, read_task, read_whole_task
from refless.errors import StaleError
from tests.experiments.bleu_neighbors.written import written_task


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


@pytest.mark.drill(
    "A file between two stages is not what was written",
    "Tables that came with refless, and have no texts, lie where numbers are computed from texts",
    "refused",
    "the folder is to be deleted, and the same command reads the raw data",
)
def test_nothing_is_computed_from_texts_that_are_not_there(tmp_path: Path) -> None:
    written_task(tmp_path / "t", ["fine", "good", "bad"], np.array([0.1, 0.2, 0.3]), None)
    assert read_whole_task(tmp_path / "t").texts["text"].tolist() == ["fine", "good", "bad"]
    blank_task(tmp_path / "t", tmp_path / "out" / "t")
    with pytest.raises(StaleError, match="no texts"):
        read_whole_task(tmp_path / "out" / "t")
