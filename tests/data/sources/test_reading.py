"""Records with true line numbers, text, JSON arrays: what all loaders stand on."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.data.sources import _reading as reading
from refless.errors import FormatError


@pytest.mark.parametrize(
    ("text", "style", "wanted"),
    [
        (
            'a,b\r\n1,"two\r\nlines"\r\n\r\n2,"x ""y"""\n3,z',
            {},
            [(1, ["a", "b"]), (2, ["1", "two\r\nlines"]), (5, ["2", 'x "y"']), (6, ["3", "z"])],
        ),
        (
            "a\x0bb\x0cc\x1cd\x85e\u2028f,g\nh,i\n",
            {},
            [(1, ["a\x0bb\x0cc\x1cd\x85e\u2028f", "g"]), (2, ["h", "i"])],
        ),
        (
            '"a\tb"\n"c ""d"\te\r\n',
            {"delimiter": "\t", "quoting": False},
            [(1, ['"a', 'b"']), (2, ['"c ""d"', "e"])],
        ),
    ],
    ids=["quoted", "other separators", "unquoted"],
)
def test_records_know_the_line_on_which_they_start(text, style, wanted):
    assert reading.records(text, "f", **style) == wanted


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=3),
        min_size=1,
        max_size=6,
    )
)
def test_records_give_back_what_csv_wrote_and_where(rows):
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    starts = []
    for row in rows:
        starts.append(out.getvalue().count("\n") + 1)
        writer.writerow(row)
    assert reading.records(out.getvalue(), "f") == list(zip(starts, rows, strict=True))


def test_fields_larger_than_the_csv_module_allows_are_read_and_its_limit_is_put_back():
    # the limit of this process may be a gigabyte by now
    before, small = csv.field_size_limit(1000), 1000
    try:
        big = "x" * (small + 1)
        with pytest.raises(csv.Error):
            list(csv.reader([big]))
        assert reading.records(f"{big},b\n", "f") == [(1, [big, "b"])]
        assert csv.field_size_limit() == small
        with pytest.raises(FormatError):
            reading.records('a,"b', "f")
        assert csv.field_size_limit() == small
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("row", ['"Yes" he said,3', '"abc"def,3', '"abc" ,3'])
def test_a_field_that_goes_on_after_its_quotes_is_refused(row):
    """Else its quotes would be lost without a word."""
    with pytest.raises(FormatError, match="doubled") as caught:
        reading.records(f"text,quality\na,1\n{row}\n", "x.csv")
    assert caught.value.line == 3


@pytest.mark.parametrize(
    "end", ['"never closed', '"never closed\nover lines\n', 'a"b,"then open', '"a ""b"",']
)
def test_an_unclosed_quotation_is_an_error_where_its_record_starts(end):
    with pytest.raises(FormatError, match="never closed; the file seems to be cut short") as caught:
        reading.records(f"a,b\n1,2\n{end}", "cut.csv")
    assert (caught.value.path, caught.value.line) == ("cut.csv", 3)
    for closed in ("", "\n", "\n\n\n", '"closed"', '"closed"\n\n', 'a "b', 'a "b" c'):
        rows = reading.records(f"a,b\n1,2\n3,{closed}", "f")
        assert [line for line, _ in rows] == [1, 2, 3]
    with pytest.raises(FormatError, match="delimited text") as caught:
        reading.records("a,b\n1\r2,3\n", "f")
    assert caught.value.line == 2


def test_header_wants_its_columns_once():
    rows = [(1, [" a", "b ", ""])]
    assert reading.header(rows, ["a", "b"], "f", "it") == {"a": 0, "b": 1, "": 2}
    with pytest.raises(FormatError, match="not it: no column 'c' among 'a', 'b', ''") as bad:
        reading.header(rows, ["a", "c"], "f", "it")
    assert bad.value.line == 1
    with pytest.raises(FormatError, match="column 'a' stands twice"):
        reading.header([(1, ["a", "b", "a"])], ["a"], "f", "it")
    with pytest.raises(FormatError, match="no header"):
        reading.header([], ["a"], "f", "it")


def test_named_records_and_those_of_another_width():
    text = "b,,a,\n1,,2,\n1\n1,2,3,4,5\n"
    names, rows, problems = reading.named_records(text, "f", ["a"], "it")
    assert (names[0], rows[0][0], rows[0][1]["a"], len(rows)) == ("b", 2, "2", 1)
    assert list(map(str, problems)) == [
        "f:3: 1 fields where the header has 4",
        "f:4: 5 fields where the header has 4",
    ]
    with pytest.raises(FormatError, match="stops after 2 of this record's 3 fields") as caught:
        reading.named_records("a,b,c\n1,2,3\n1,2", "f", ["a"], "it")
    assert caught.value.line == 3


def test_bytes_and_encoding(write, tmp_path):
    assert reading.read_text(write(b"\xef\xbb\xbfgr\xc3\xbcn")) == "grün"
    with pytest.raises(FormatError, match="byte 0xfc is not UTF-8") as caught:
        reading.read_text(write(b"a\nb\ngr\xfcn\n"))
    assert caught.value.line == 3
    with pytest.raises(FormatError) as caught:
        reading.read_text(write(b"\xfc\n"))
    assert caught.value.line == 1
    assert "delete it and run again" in caught.value.remedy
    with pytest.raises(FormatError, match="UTF-16"):
        reading.read_text(write("a\tb\n".encode("utf-16")))
    with pytest.raises(FormatError, match="empty"):
        reading.read_text(write(b" \n\n"))
    with pytest.raises(FormatError, match="cannot be read: No such file") as caught:
        reading.read_text(tmp_path / "none.csv")
    assert str(tmp_path / "none.csv") in str(caught.value)
    with pytest.raises(FormatError, match="cannot be read"):
        reading.read_text(tmp_path)


def test_json_array_tells_offsets_lines_and_values():
    text = '\n[1,\n {"a": "[\\n"}\n\n ,"x"\n]\n'
    found = reading.json_array(text, "f")
    assert [(line, value) for _, line, value in found] == [(2, 1), (3, {"a": "[\n"}), (5, "x")]
    assert text[found[1][0]] == "{"
    assert reading.json_array('{"a": [ ]}', "f", 6) == []


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ('{"a": 1}', "not a JSON array", 1),
        ("<html>", "not a JSON array", 1),
        ("\n\n{", "not a JSON array", 3),
        ("[1,\n2", "not closed", 2),
        ("[1,\n2\n3]", "not closed", 3),
        ('[1,\n"a', "cannot be read as JSON", 2),
        ("[1,\n2,\n]", "cannot be read as JSON", 3),
        ("[1,\n" + "[" * 100_000, "cannot be read as JSON", 2),
    ],
)
def test_json_that_is_none(text, message, line):
    with pytest.raises(FormatError, match=message) as caught:
        reading.json_array(text, "f")
    assert caught.value.line == line


def test_whole_numbers():
    assert [reading.whole_number(text, 0, 3) for text in ("0", " 3 ")] == [0, 3]
    for text in ("4", "-1", "+1", "1.0", "", "²", "٣", "nan"):
        assert reading.whole_number(text, 0, 3) is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [(" \t\n\u00a0", "empty"), ("a\0b", "NUL"), ("a\ud83d", "half"), ("\ude00\ud83d", "half")],
)
def test_text_fault(text, fault):
    assert fault in reading.text_fault(text)
    for fine in ("nan", "NA", " a\x07\x1b ", "\U0001f600"):
        assert reading.text_fault(fine) == ""


def test_names():
    for name in ("SUM", "LOGP_1.0.txt", "Nucleus Decoding (p = 0.3)", "Größe 2"):
        assert reading.name_fault(name) == ""
    for name in ("", " a", "_a", "=a", "+1", "-1", "@a", "<b>", "a|b", "a\nb", "a\u202eb", "a'b"):
        assert reading.name_fault(name).startswith(f"{name!r} is no name of a system")
    assert len(reading.name_fault("<" + "x" * 99)) < 170
