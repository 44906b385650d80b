"""Tables in memory, binary files and packed files: each gives the rows that a CSV gives, or one
line that says why not."""

import bz2
import collections
import datetime
import decimal
import gzip
import importlib.util
import io
import json
import lzma
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import refless
from refless.cli.files import with_columns
from refless.data.frames import plain
from refless.data.rows import read_file
from refless.data.user_ratings import read_ratings, read_texts
from refless.errors import FormatError

ROWS: list[dict[str, Any]] = [
    {"text": "one text", "quality": 1.0, "system": "A", "references": ["r", "s"]},
    {"text": "another", "quality": None, "system": "7", "references": []},
    {"text": "third", "quality": 2.5, "system": "A", "references": ["t"]},
]


def installed(package: str) -> Any:
    missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"{package} is not installed")


def needs(package: str, name: str, make: Any) -> Any:
    return pytest.param(make, id=name, marks=installed(package))


def arrays() -> pd.DataFrame:
    """List columns as Parquet gives them."""
    table = pd.DataFrame(ROWS)
    return table.assign(references=[np.array(row["references"], object) for row in ROWS])


def columns() -> dict[str, list[Any]]:
    return {name: [row[name] for row in ROWS] for name in ROWS[0]}


def pyarrow_table() -> Any:
    import pyarrow

    return pyarrow.Table.from_pylist(ROWS)


def polars_table(lazy: bool = False) -> Any:
    polars = pytest.importorskip("polars")
    table = polars.DataFrame(ROWS)
    return table.lazy() if lazy else table


def datasets_table() -> Any:
    return pytest.importorskip("datasets").Dataset.from_list(ROWS)


TABLES = [
    pytest.param(lambda: pd.DataFrame(ROWS), id="pandas"),
    pytest.param(arrays, id="arrays"),
    pytest.param(lambda: pd.DataFrame(ROWS).astype({"system": "category"}), id="category"),
    pytest.param(lambda: pd.DataFrame(ROWS).convert_dtypes(), id="pandas with NA"),
    pytest.param(
        lambda: pd.DataFrame(ROWS).map(lambda v: tuple(v) if isinstance(v, list) else v),
        id="tuples",
    ),
    pytest.param(
        lambda: pd.DataFrame(ROWS).map(lambda v: v.encode() if isinstance(v, str) else v),
        id="bytes",
    ),
    pytest.param(lambda: pd.DataFrame(ROWS).rename(columns={"system": " system "}), id="blanks"),
    pytest.param(lambda: ROWS, id="list of dictionaries"),
    pytest.param(lambda: tuple(map(collections.OrderedDict, ROWS)), id="tuple of dictionaries"),
    pytest.param(columns, id="dictionary of columns"),
    pytest.param(lambda: pd.DataFrame(ROWS).to_records(index=False), id="records of numpy"),
    needs("pyarrow", "pyarrow", pyarrow_table),
    needs("polars", "polars", polars_table),
    needs("polars", "lazy polars", lambda: polars_table(lazy=True)),
    needs("datasets", "datasets", datasets_table),
]


@pytest.mark.parametrize("make", TABLES)
def test_a_table_of_any_kind_gives_the_same_rows(make):
    file = read_texts(make(), ["quality", "system", "references"])
    assert file.columns["text"] == [row["text"] for row in ROWS]
    assert file.columns["system"] == ["A", "7", "A"]
    assert file.columns["references"] == [row["references"] for row in ROWS]
    assert np.array(file.columns["quality"]) == pytest.approx([1, np.nan, 2.5], nan_ok=True)
    added = with_columns(file, pd.DataFrame({"n": range(3)}))
    assert [json.loads(line)["n"] for line in added.splitlines()] == [0, 1, 2]


def test_a_list_of_rows_is_one_table_and_a_list_of_tables_several():
    rows = [{"text": f"text {k}", "quality": k % 3} for k in range(60)]
    one = refless.estimate(rows).table
    two = refless.estimate([pd.DataFrame(rows[:30]), rows[30:]]).table
    pd.testing.assert_frame_equal(one, two)
    assert one["rated"].tolist() == [60]
    assert len(refless.score(rows, [{"text": "text 3"}], method="ridge").table) == 1


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.DataFrame({0: ["a"], 1: [2.0]}), "'text'"),  # columns without names
        (pd.DataFrame({"text": [["a"]], "quality": [1]}), "text"),
        (pd.DataFrame({"text": ["a"], "quality": [datetime.timedelta(1)]}), "quality"),
        (pd.DataFrame({"text": ["a"], "quality": [pd.Timestamp("2020-01-01")]}), "quality"),
        (pd.DataFrame({"text": [b"\xff\xfe"], "quality": [1]}), "text"),
        (pd.DataFrame({"text": ["a"], "quality": [1j]}), "quality"),
        (pd.DataFrame({"text": ["a"], "quality": [object()]}), "quality"),
        (pd.DataFrame([["a", "b", 1]], columns=["text", "text", "quality"]), "'text'"),
        ({"text": "a", "quality": 1}, "table"),  # no columns, but values
        ({"text": ["a", "b"], "quality": [1]}, "table"),
        ([{"text": "a", "quality": 1}, ["b", 2]], "dictionaries"),
        (5, "table"),
        (lambda: 1, "table"),
        (pd.Series(["a", "b"]), "'text'"),
        (np.zeros((2, 2)), "'text'"),
    ],
)
def test_what_is_no_table_of_ratings_is_refused_in_a_line(table, words):
    with pytest.raises(FormatError, match=words) as refused:
        refless.estimate(table)
    assert refused.value.path == "the table"
    assert refused.value.remedy
    with pytest.raises(FormatError):
        read_ratings([table])


def test_several_tables_under_one_name_are_refused():
    class Part:
        column_names = ("text", "quality")

    with pytest.raises(FormatError, match="several tables") as refused:
        refless.compare({"train": Part(), "test": Part()})
    assert "train" in refused.value.remedy


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64("nan"), None),
        (pd.NaT, None),
        (pd.NA, None),
        (np.int8(3), 3),
        (np.bool_(True), True),
        (np.array([[1, 2]]), [[1, 2]]),
        ((1, np.array(["x"])), [1, ["x"]]),
        (pd.Timestamp("2020-01-02"), "2020-01-02T00:00:00"),
        (datetime.date(2020, 1, 2), "2020-01-02"),
        (datetime.timedelta(hours=1), "1:00:00"),
        (decimal.Decimal("2.5"), 2.5),
        (b"caf\xc3\xa9", "café"),
        (b"\xff", b"\xff"),
        ({"a": np.array([1.0])}, {"a": [1.0]}),
    ],
)
def test_values_are_those_of_json(value, expected):
    assert plain(value) == expected
    assert type(plain(value)) is type(expected)


CSV = b"text,quality,system\none,1,A\ntwo,2.5,7\n"


def packed_by_zstandard() -> bytes:
    return bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(CSV))


@pytest.mark.parametrize(
    ("ending", "pack"),
    [
        (".gz", lambda: gzip.compress(CSV)),
        (".bz2", lambda: bz2.compress(CSV)),
        (".xz", lambda: lzma.compress(CSV)),
        pytest.param(".zst", packed_by_zstandard, marks=installed("zstandard")),
    ],
)
def test_packed_files_are_read_by_the_ending_inside(tmp_path, ending, pack):
    path = tmp_path / f"x.csv{ending}"
    path.write_bytes(pack())
    assert read_texts(path).columns["text"] == ["one", "two"]
    assert len(read_ratings([tmp_path]).texts) == 2  # also in a folder
    path.write_bytes(pack()[:-12])
    with pytest.raises(FormatError, match="cannot be read"):
        read_file(path)


def tar(mode: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name in ("data/a.csv", "data/b.csv"):
            member = tarfile.TarInfo(name)
            member.size = len(CSV)
            archive.addfile(member, io.BytesIO(CSV))
    return buffer.getvalue()


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("data/a.csv", CSV)
        archive.writestr("data/b.csv", CSV)
    return buffer.getvalue()


@pytest.mark.parametrize("content", [tar("w"), tar("w:gz"), tar("w:xz"), zipped()])
@pytest.mark.parametrize("name", ["x.tar.gz", "x.csv"])
def test_an_archive_is_named_with_what_is_in_it(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=r"archive.*data/a\.csv"):
        read_file(tmp_path / name)


def test_zstd_without_its_package_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "x.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd....")
    with pytest.raises(FormatError) as refused:
        read_file(tmp_path / "x.csv.zst")
    assert "zstandard" in refused.value.remedy


@pytest.mark.parametrize(
    ("content", "package"),
    [(b"PAR1....PAR1", "pyarrow"), (b"ARROW1\0\0..", "pyarrow"), (b"excel", "openpyxl")],
)
def test_without_the_extra_it_is_named(tmp_path, monkeypatch, content, package):
    if content == b"excel":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("xl/workbook.xml", "")
        content = buffer.getvalue()
    for name in ("pyarrow", "pyarrow.parquet", "pyarrow.feather", "openpyxl"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FormatError, match=package) as refused:
        read_file(tmp_path / "x")
    assert "refless[files]" in refused.value.remedy


def test_an_ending_that_is_not_true_is_said(tmp_path):
    for ending in ("parquet", "feather", "xlsx"):
        path = tmp_path / f"x.{ending}"
        path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
        with pytest.raises(FormatError, match=f"ends in .{ending}"):
            read_file(path)
    path = tmp_path / "old.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0....")
    with pytest.raises(FormatError, match="old kind"):
        read_file(path)


@installed("pyarrow")
@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_files_of_arrow(tmp_path, ending):
    path = tmp_path / f"x.{ending}"
    table = pd.DataFrame(ROWS).assign(when=pd.Timestamp("2020-01-02"), length=pd.Timedelta("1h"))
    table = table.assign(raw=[b"\xff", b"ok", None])
    getattr(table, f"to_{ending}")(path)
    file = read_texts(path, ["quality", "references"])
    assert file.columns["references"] == [["r", "s"], [], ["t"]]
    assert file.columns["text"] == [row["text"] for row in ROWS]
    first = json.loads(with_columns(file, pd.DataFrame({"n": range(3)})).splitlines()[0])
    assert first["when"] == "2020-01-02T00:00:00"
    assert read_ratings([tmp_path]).texts["quality"].notna().sum() == 2
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FormatError, match="cannot be read"):
        read_file(path)


@installed("openpyxl")
def test_files_of_excel(tmp_path):
    import openpyxl

    book = openpyxl.Workbook()
    cells = [
        ["text", " quality", "system", None],
        ["one", 1, "A", None],
        [2024, 2.5, 7, None],  # a text that is a number
        [None, None, None, None],
        ["three", None, 7.0, None],
    ]
    for row in cells:
        book.active.append(row)
    book.create_sheet("notes").append(["nothing"])
    path = tmp_path / "x.xlsx"
    book.save(path)
    file = read_texts(path, ["quality", "system"])
    assert file.columns["text"] == ["one", "2024", "three"]
    assert file.columns["system"] == ["A", "7", "7"]
    assert file.lines == [2, 3, 5]
    assert np.array(file.columns["quality"]) == pytest.approx([1, 2.5, np.nan], nan_ok=True)
    written = with_columns(file, pd.DataFrame({"n": [1, 2, 3]}))
    assert written.splitlines()[1] == "one,1,A,1"
    with pytest.raises(FormatError) as refused:
        read_texts(path, need=["context"])
    assert refused.value.path == str(path)


@pytest.mark.parametrize("first", ["sep=;\n", '"sep=;"\r\n', "SEP=;\n"])
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_the_line_that_excel_puts_first(tmp_path, first, ending):
    path = Path(tmp_path / f"x.{ending}")
    path.write_text(f"{first}text;quality\none, or so;1\ntwo;x\n", newline="")
    with pytest.raises(FormatError) as refused:
        read_ratings([path])
    assert refused.value.line == 4
    path.write_text(f"{first}text;quality\none, or so;1\ntwo;2\n", newline="")
    assert read_ratings([path]).texts["text"].tolist() == ["one, or so", "two"]
