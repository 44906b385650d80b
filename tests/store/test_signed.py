"""A signed file is the one that was written, or it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.errors import FormatError, StaleError
from refless.kernels.signatures import sign
from refless.store import signed

TABLE = pd.DataFrame({"id": ["a", "b"], "value": [0.1, np.nan], "text": ["NA", 'say "hi"\r']})
ARRAYS = {"kernel": np.arange(6.0).reshape(2, 3), "name": np.array(["x", "y"])}
ABOUT = {
    "kind": "numbers",
    "of": {"task": "chat", "kernel": "bleu.char"},
    "settings": {"tau": 0.08, "sizes": (1, 2)},
    "made_from": {"texts": "abc"},
    "facts": {"scale": [0, 5]},
}


@pytest.fixture(params=["a.csv", "a.csv.gz", "a.npz"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / request.param
    signed.write(path, ARRAYS if path.suffix == ".npz" else TABLE, ABOUT)
    return path


def test_what_is_written_is_read(file: Path) -> None:
    found = signed.read(
        file, "numbers", of={"task": "chat"}, settings={"sizes": (1, 2)}, made_from={"texts": "abc"}
    )
    assert found.about["provenance"] == "computed"
    assert found.about["facts"] == {"scale": [0, 5]}
    assert found.about == signed.record_of(file) == signed.verify(file)
    if file.suffix == ".npz":
        assert {name: array.tolist() for name, array in found.content.items()} == {
            name: array.tolist() for name, array in ARRAYS.items()
        }
    else:
        pd.testing.assert_frame_equal(found.content, TABLE, check_dtype=False)


def test_the_same_content_gives_the_same_bytes(file: Path) -> None:
    before = file.read_bytes()
    content = ARRAYS if file.suffix == ".npz" else TABLE
    signed.write(file, content, dict(reversed(ABOUT.items())))
    assert file.read_bytes() == before


def test_no_flipped_bit_gives_other_content(file: Path) -> None:
    """Whatever bit of the file is another: it is refused, or what is read is what was written."""
    raw = file.read_bytes()
    refused = 0
    for bit in range(8 * len(raw)):
        place, other = bit // 8, raw[bit // 8] ^ (1 << bit % 8)
        file.write_bytes(raw[:place] + bytes([other]) + raw[place + 1 :])
        try:
            found = signed.read(file, "numbers", of=ABOUT["of"])
        except FormatError as error:
            refused += str(file) in str(error) and bool(error.remedy)
            continue
        assert found.about["settings"] == {"tau": 0.08, "sizes": [1, 2]}
        if file.suffix == ".npz":
            assert found.content["kernel"].tolist() == ARRAYS["kernel"].tolist()
        else:
            pd.testing.assert_frame_equal(found.content, TABLE, check_dtype=False)
    # of an archive, some bytes (times, names of tools) decide nothing
    assert refused > 8 * len(raw) * (0.5 if file.suffix in {".npz", ".gz"} else 0.99)


@pytest.mark.parametrize("keep", [0, 1, 40, -1, -20])
def test_a_truncated_file_is_refused(file: Path, keep: int) -> None:
    whole = file.read_bytes()
    random = np.random.default_rng(7).bytes(len(whole))
    for content in (whole[:keep], random, bytes(len(whole))):
        file.write_bytes(content)
        with pytest.raises(FormatError, match="a\\.") as caught:
            signed.read(file, "numbers")
        assert caught.value.remedy


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"none\.csv"):
        signed.read(tmp_path / "none.csv", "numbers")


def test_rows_that_were_taken_away_or_changed_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    signed.write(path, TABLE, ABOUT)
    raw = path.read_bytes()
    for other in (raw.replace(b"0.1", b"0.2"), raw[: raw.rindex(b'"b"')]):
        path.write_bytes(other)
        with pytest.raises(FormatError):
            signed.read(path, "numbers")


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ({"kind": "kernel"}, FormatError),
        ({"of": {"kernel": "rouge_l.stem"}}, FormatError),
        ({"of": {"system": "x"}}, FormatError),
        ({"columns": ["rating"]}, FormatError),
        ({"settings": {"tau": 0.1}}, StaleError),
        ({"settings": {"step": 1}}, StaleError),
        ({"made_from": {"texts": "abd"}}, StaleError),
    ],
)
def test_another_file_than_the_expected_one_is_refused(
    file: Path, asked: dict[str, Any], fault: type[Exception]
) -> None:
    with pytest.raises(fault, match="a\\.") as caught:
        signed.read(file, **{"kind": "numbers", **asked})
    assert caught.value.remedy


def test_numbers_of_other_code_or_versions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    good = sign(["kernels/bleu.py"], "abc", packages=["numpy"], kernel="bleu.char")
    versions = good | {"packages": {"numpy": "1.0"}}
    cases: list[tuple[dict[str, Any], str, bool]] = [
        (good, "computed", True),
        (good | {"fingerprint": "0" * 64}, "computed", False),
        (good | {"fingerprint": "0" * 64}, "shipped", False),
        (good | {"code": ["kernels/gone.py"]}, "shipped", False),
        (versions, "computed", False),
        (versions, "shipped", True),
        (good | {"packages": {"no-such-package": "1.0"}}, "computed", True),
    ]
    for signature, provenance, fresh in cases:
        signed.write(path, TABLE, {**ABOUT, "signatures": [signature], "provenance": provenance})
        if fresh:
            signed.verify(path)
            continue
        with pytest.raises(StaleError, match=r"a\.csv"):
            signed.read(path, "numbers")
        assert signed.read(path, "numbers", fresh=False)


def test_what_is_made_from_shipped_numbers_is_shipped() -> None:
    assert signed.provenance([{"provenance": "computed"}]) == "computed"
    both = [{"provenance": "computed"}, {"provenance": "shipped"}]
    assert signed.provenance(both) == "shipped"
