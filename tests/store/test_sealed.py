"""A sealed file is the one that was written, where it was written, from what lies there; or it is
refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.errors import FormatError, ReflessError, StaleError
from refless.store import sealed
from refless.store.files import write_text
from refless.store.tables import write_table

TABLE = pd.DataFrame({"id": ["a", "b"], "value": [0.1, np.nan], "text": ["NA", 'say "hi"\r']})
ARRAYS = {"kernel": np.arange(6.0).reshape(2, 3), "name": np.array(["x", "y"])}
FACTS = {"scale": [0, 5], "sizes": {"b": 1, "a": 2}}
CONTENT: dict[str, Any] = {".npz": ARRAYS, ".npy": ARRAYS["kernel"], ".csv": TABLE, ".gz": TABLE}


def same(found: sealed.Sealed, suffix: str) -> None:
    assert found.about["facts"] == FACTS
    if isinstance(found.content, pd.DataFrame):
        pd.testing.assert_frame_equal(found.content, CONTENT[suffix], check_dtype=False)
    else:
        np.testing.assert_equal(found.content, CONTENT[suffix])


@pytest.fixture(params=["a.csv", "a.csv.gz", "a.npz", "a.npy"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / request.param
    sealed.write(path, CONTENT[path.suffix], FACTS)
    return path


def test_what_is_written_is_read_and_always_the_same_bytes(file):
    found = sealed.read(file)
    same(found, file.suffix)
    assert found.about == sealed.record_of(file)
    before = file.read_bytes()
    sealed.write(file, CONTENT[file.suffix], dict(reversed(FACTS.items())))
    assert file.read_bytes() == before


def test_no_flipped_bit_gives_other_content(file):
    """It is refused by name, or what is read is what was written."""
    raw, refused = file.read_bytes(), 0
    bits = np.random.default_rng(13).choice(8 * len(raw), 600, replace=False)
    for bit in bits:
        changed = bytearray(raw)
        changed[bit // 8] ^= 1 << bit % 8
        file.write_bytes(changed)
        try:
            same(sealed.read(file), file.suffix)
        except FormatError as error:
            refused += str(file) in str(error) and bool(error.remedy)
    # of an archive, some bytes (times, names of tools) decide nothing
    assert refused > len(bits) * (0.95 if file.suffix in (".csv", ".npy") else 0.4)


def test_a_truncated_file_is_refused(file):
    whole = file.read_bytes()
    for other in (b"", whole[:40], whole[:-20], bytes(len(whole)), None):
        if other is None:
            file.unlink()
        else:
            file.write_bytes(other)
        with pytest.raises(FormatError, match="a\\."):
            sealed.read(file)


def made(path: str, *inputs: str) -> Path:
    """A result as a job with these inputs writes it, in the current folder."""
    with sealed.given(inputs):
        sealed.write(path, CONTENT[Path(path).suffix], FACTS)
    return Path(path)


def test_a_kernel_under_anothers_name_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    right = made("results/kernels/chat/bleu.char/1of1.npy")
    for name in ("kernels/chat/bleu.word/1of1.npy", "kernels/news/bleu.char/1of1.npy"):
        other = Path("results", name)
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_bytes(right.read_bytes())
        with pytest.raises(FormatError, match=r"kernels/chat/bleu\.char/1of1\.npy under another"):
            sealed.read(other)
    # seen from elsewhere, and moved with its whole folder
    monkeypatch.chdir("/")
    same(sealed.read(tmp_path / right), ".npy")


def test_a_result_of_other_inputs_than_lie_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = made("results/ratings/chat/texts.csv")
    kernel = made("results/kernels/chat/bleu.char.npz", str(texts))
    sealed.write(texts, TABLE)  # the same texts once more are the same texts
    same(sealed.read(kernel), ".npz")
    sealed.write(texts, TABLE.assign(value=1.0), FACTS)
    with pytest.raises(StaleError) as caught:
        sealed.read(kernel)
    assert caught.value.path == str(kernel)
    texts.unlink()  # nobody can tell
    same(sealed.read(kernel), ".npz")


@pytest.mark.parametrize("name", ["table.csv", "table.md", "table.json"])
def test_a_file_beside_its_record_is_the_one_that_was_written(tmp_path, name):
    sums = {
        "table.csv": write_table(TABLE, tmp_path / "table.csv"),
        "table.md": write_text("| a |\n", tmp_path / "table.md"),
    }
    record = tmp_path / "table.json"
    sealed.write_beside(record, {"rows": 2}, sums)
    assert sealed.read_beside(record, *sums)["rows"] == 2
    raw = (tmp_path / name).read_bytes()
    for bit in np.random.default_rng(0).choice(8 * len(raw), 60):
        changed = bytearray(raw)
        changed[bit // 8] ^= 1 << bit % 8
        (tmp_path / name).write_bytes(changed)
        with pytest.raises(ReflessError, match=name):
            sealed.read_beside(record, *sums)
    (tmp_path / name).unlink()
    with pytest.raises(FormatError, match=name):
        sealed.read_beside(record, *sums)
