"""The record beside files that people read: what it covers, and what is refused."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from refless.errors import FormatError, StaleError
from refless.store import beside
from refless.store.files import file_sum
from refless.store.signed import read_beside, write_beside


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Of a table and its page."""
    for name in ("a.csv", "a.md"):
        (tmp_path / name).write_text(f"{name}: 0.25\n")
    path = tmp_path / "a.json"
    sums = {name: file_sum(tmp_path / name) for name in ("a.csv", "a.md")}
    write_beside(path, {"rows": 1}, sums)
    return path


def test_files_as_they_were_written(record: Path) -> None:
    assert read_beside(record)["rows"] == 1
    assert read_beside(record, "a.md") == read_beside(record)


def test_another_file_is_refused_by_name(record: Path) -> None:
    page = record.with_suffix(".md")
    page.write_text(page.read_text().replace("5", "6"))
    with pytest.raises(StaleError) as caught:
        read_beside(record)
    assert caught.value.path == str(page)
    assert caught.value.remedy
    read_beside(record, "a.csv")
    page.rename(page.with_suffix(".html"))  # of which it knows nothing
    with pytest.raises(StaleError):
        read_beside(record, "a.html")


def test_a_file_that_is_gone(record: Path) -> None:
    record.with_suffix(".csv").unlink()
    with pytest.raises(FormatError, match="is missing") as caught:
        read_beside(record)
    assert caught.value.path == str(record.with_suffix(".csv"))


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_file_that_cannot_be_read(
    record: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def denied(path: Path) -> str:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(beside, "file_sum", denied)
    with pytest.raises(FormatError, match="cannot be read") as caught:
        read_beside(record)
    assert caught.value.path == str(record.with_suffix(".csv"))
    assert "may read" in (caught.value.remedy or "")


def test_a_folder_is_no_file(record: Path) -> None:
    record.with_suffix(".csv").unlink()
    record.with_suffix(".csv").mkdir()
    with pytest.raises(FormatError, match="cannot be read"):
        read_beside(record)


@pytest.mark.parametrize(
    "content", [[], None, 3, {}, {"record": "0", "files": {}}, {"a": "\ud800"}]
)
def test_a_record_that_is_none(record: Path, content: Any) -> None:
    record.write_text(json.dumps(content))
    with pytest.raises(StaleError):
        read_beside(record)
    with pytest.raises(StaleError):
        read_beside(record, "a.csv")


def test_a_record_with_another_sum_or_number_is_refused(record: Path) -> None:
    whole = json.loads(record.read_text())
    record.with_suffix(".md").write_text("a.md: 0.26\n")
    forged = {**whole, "files": {**whole["files"], "a.md": file_sum(record.with_suffix(".md"))}}
    record.write_text(json.dumps(forged))
    with pytest.raises(StaleError):
        read_beside(record)
