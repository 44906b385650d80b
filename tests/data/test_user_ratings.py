"""Users' own files: every format gives one table, and every fault its file, line and column. And
columns that are joined from another file."""

import gzip
import json
import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.cli.files import with_columns
from refless.data import sources
from refless.data.ratings import TEXT_COLUMNS, RatedTexts
from refless.data.rows import File
from refless.data.user_ratings import UserRatings, read_ratings, read_texts
from refless.errors import FormatError, SettingError

ROWS: list[dict[str, Any]] = [
    {"text": "It is cheap.", "quality": 1, "context": "how much?", "system": "A&B"},
    {"text": 'A "fine" one, really', "quality": 5, "context": "", "system": "GPT-4+RAG"},
    {"text": "", "quality": 2.5, "context": "why?", "system": "[MASK] model"},
    {"text": "NA", "quality": None, "context": "why?", "system": "7"},
]
NAMES = list(ROWS[0])


def delimited(delimiter: str, quoted: bool, end: str = "\n") -> str:
    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        return '"' + text.replace('"', '""') + '"' if quoted else text

    rows = [NAMES, *(row.values() for row in ROWS)]
    return "".join(delimiter.join(map(cell, row)) + end for row in rows)


LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
FORMATS = {
    "quoted.tsv": delimited("\t", True),
    "windows.TSV": delimited("\t", False, "\r\n"),
    "mac.tsv": delimited("\t", False, "\r"),
    "blank last line.tsv": delimited("\t", False) + "\n",
    "blank first line.csv": "\n" + delimited(",", True),
    "mark.csv": "\ufeff" + delimited(",", True),
    "lines.jsonl": LINES,
    "array.json": json.dumps(ROWS, indent=2),
    "lines.json": LINES.replace("\n", "\n\n"),
    "packed.csv.gz": delimited(",", True),
    "no ending": delimited("\t", False),
}


def write(path: Path, content: str | bytes) -> Path:
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def rows_of(read: UserRatings) -> list[dict[str, Any]]:
    return [
        {name: None if value != value else value for name, value in row.items()}
        for row in read.texts.to_dict("records")
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_rows(tmp_path, name):
    path = write(tmp_path / name, FORMATS[name])
    assert rows_of(read_ratings([path])) == ROWS
    file = read_texts(path, ["system", "quality"])
    assert file.columns["text"] == [row["text"] for row in ROWS]
    assert file.columns["system"] == [row["system"] for row in ROWS]
    assert math.isnan(file.columns["quality"][3])


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        ('"say ""hi"""\t1\nplain\t1\n', ['say "hi"', "plain"]),  # as pandas writes it
        ('"hi"\t1\n5" or so\t1\n', ["hi", '5" or so']),
        ('"open\t1\n"shut"\t1\n', ['"open', '"shut"']),
        ('"hi" he said\t1\n"shut"\t1\n', ['"hi" he said', '"shut"']),
        ("a\u2028b\t1\n=cmd()\t1\n", ["a\u2028b", "=cmd()"]),
    ],
)
def test_quotes_of_tsv(tmp_path, rows, texts):
    path = write(tmp_path / "x.tsv", "text\tquality\n" + rows)
    assert read_ratings([path]).texts["text"].tolist() == texts


def test_a_table_that_was_written_reads_back_the_same(tmp_path):
    texts = ['"Sure."', 'say "hi" to', '5" or so', "plain", ""]
    for format in ("tsv", "csv"):
        read = File(f"x.{format}", format, ["text"], rows=[[one] for one in texts])
        path = write(tmp_path / f"x.{format}", with_columns(read, pd.DataFrame({"n": range(5)})))
        assert read_texts(path).columns["text"] == texts


def test_columns_have_the_users_names(tmp_path):
    path = write(tmp_path / "x.csv", "Response,text,overall,Rater\na,b,3,ann\n")
    with pytest.raises(FormatError, match="--column quality="):
        read_ratings([path])
    named = {"text": "Response", "quality": "overall"}
    read = read_ratings([path], columns=named)
    assert read.texts.to_dict("records") == [{"text": "a", "quality": 3}]
    assert read.ratings["rater"].tolist() == ["ann"]
    assert read_texts(path, columns={"system": "who"}).columns["text"] == ["b"]
    with pytest.raises(FormatError, match="who"):
        read_ratings([path], columns={**named, "system": "who"})


def test_letters_are_composed_once(tmp_path):
    row = {"text": "cafe\u0301", "system": " Mu\u0308ller  A", "references": ["e\u0301"]}
    read = read_ratings([write(tmp_path / "x.jsonl", json.dumps({**row, "quality": 1}))])
    assert read.texts.loc[0, ["text", "system"]].tolist() == ["caf\u00e9", "M\u00fcller A"]
    assert read.texts["references"][0] == ["\u00e9"]


def test_references_and_scores(tmp_path):
    path = write(tmp_path / "x.tsv", 'text\tquality\treferences\nt\t1\t["b", ""]\nu\t2\t\n')
    other = write(tmp_path / "y.csv", "text,quality,score_J\nv,3,0.5\n")
    assert rows_of(read_ratings([path, other])) == [
        {"text": "t", "quality": 1, "references": ["b"], "score_J": None},
        {"text": "u", "quality": 2, "references": [], "score_J": None},
        {"text": "v", "quality": 3, "references": [], "score_J": 0.5},
    ]


RATED = """text,quality,system,context,rater
yes,4,A,where  to,ann
no,1,A,q,ann
yes ,5,A,where to,bob
yes,5,B,q,bob
no,,A,q,bob
yes,5,A,other,bob
"""


def test_raters_of_a_text_are_averaged(tmp_path):
    read = read_ratings([write(tmp_path / "x.csv", RATED)])
    assert read.texts["quality"].tolist() == [4.5, 1, 5, 5]
    assert read.texts["system"].tolist() == ["A", "A", "B", "A"]
    assert read.text_of == [0, 1, 0, 2, 1, 3]
    assert [line for _, line in read.where] == [2, 3, 5, 7]
    single = [(0, "ann", 4), (1, "ann", 1), (0, "bob", 5), (2, "bob", 5), (3, "bob", 5)]
    assert list(read.ratings.itertuples(index=False, name=None)) == single


@pytest.mark.parametrize(
    ("one", "other"), [("का", "कि"), ("C++", "C#"), ("3.5", "35"), ("x<y", "x>y")]
)
@pytest.mark.parametrize("column", ["text", "context", "mr"])
def test_ratings_of_what_differs_in_signs_stay_apart(column, one, other):
    """Two rows by one rater are no text that was rated again."""
    rows = [
        {"text": "so", "quality": k, "rater": "ann", column: given}
        for k, given in enumerate((one, other))
    ]
    assert read_ratings([pd.DataFrame(rows)]).texts["quality"].tolist() == [0, 1]


def test_case_blanks_and_composition_keep_no_ratings_apart():
    texts = ["Caf\u00e9 \u00a0noir", "cafe\u0301 Noir "]
    table = pd.DataFrame(
        {"text": texts, "quality": [1, 3], "rater": ["ann", "bob"], "context": texts}
    )
    assert read_ratings([table.assign(system="A")]).texts["quality"].tolist() == [2]
    assert len(read_ratings([table.assign(system=["A", "a"])]).texts) == 2  # names


def test_a_text_is_rated_once_by_each_rater_or_the_mean_counts(tmp_path):
    path = write(tmp_path / "x.csv", RATED + "yes,1,A,where to,bob\u00a0\n")
    with pytest.raises(FormatError, match="--repeated-ratings mean") as caught:
        read_ratings([path])
    assert caught.value.line == 8
    read = read_ratings([path], repeated="mean")
    assert read.texts["quality"].tolist() == [3.5, 1, 5, 5]
    assert len(read.ratings) == 5


def test_files_and_folders_make_one_table(tmp_path, caplog):
    write(tmp_path / "2.csv", "text,rater,quality,system\nb,bob,2,s\nc,bob,1,s\n")
    write(tmp_path / "1.tsv", "text\tquality\trater\tsystem\nb\t4\tann\ts\n")
    for name in ("._x.jsonl", "readme.md", "notes.txt"):
        write(tmp_path / name, "no ratings")
    read = read_ratings([tmp_path, tmp_path / "2.csv"])
    assert caplog.messages == [f"{tmp_path}: not read: notes.txt, readme.md"]
    assert read.texts[["text", "quality"]].to_numpy().tolist() == [["b", 3], ["c", 1]]
    assert [Path(file.path).name for file, _ in read.where] == ["1.tsv", "2.csv"]
    write(tmp_path / "3.csv", "text,quality\nd,1\n")
    with pytest.raises(FormatError, match="rater") as caught:
        read_ratings([tmp_path])
    assert caught.value.path == str(tmp_path / "3.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match="empty"):
        read_ratings([tmp_path / "empty"])


def objects(*rows: str) -> str:
    return "\n".join(['{"text": "fine", "quality": 3}', *rows])


BAD = [  # name, content, line, columns that are named
    ("x.tsv", "text\tquality\na\thigh\nb\t2\n", 2, ["quality"]),
    ("x.tsv", "text\tquality\na\t6\nb\t2\n", 2, ["quality"]),
    ("x.csv", "text,quality\nb,2\n\n\na,1,2\n", 5, ["row"]),
    ("x.csv", 'text,quality\n"a\nb",x\n"c",1\n', 2, ["quality"]),
    ("x.csv", b"text,quality\nb,2\n\xff,1\n", 3, []),
    ("x.csv", "text;quality\na;1\n", None, ["';'"]),
    ("no ending", "text,quality\na,1\n", None, ["','"]),
    ("x.csv", "text,quality\na,1e101\nb,2\n", 2, ["1e+100"]),
    ("x.jsonl", objects(f'{{"text": "t", "quality": {10**400}}}'), 2, ["1e+100"]),
    ("x.tsv", 'text\tquality\n"a\tb"\t1\n', 2, ["row"]),
    ("x.csv", "text,text,quality\na,b,1\n", None, ["text"]),
    ("x.csv", "text,quality,references\na,1,[b\n", 2, ["references"]),
    ("x.csv", "text,quality,rater\na,1,ann\nb,2,\n", 3, ["rater"]),
    ("x.csv", "text,quality,rater\na,1,ann\na,2,ann\n", 3, ["rater"]),
    ("x.csv", "text,quality,system\na,1,s\nb,2,\n", 3, ["system"]),
    ("x.csv", "text,quality\na\0,1\n", 2, ["text"]),
    ("x.csv", "text,quality\na,1\n".encode("utf-16"), 1, []),
    ("x.jsonl", objects("[1]"), 2, ["row"]),
    ("x.csv", "text,quality,rater\na,1,x\na\0,1,x\n", 3, ["text"]),
    ("x.jsonl", objects('{"text": 5, "quality": 1}'), 2, ["text"]),
    ("x.jsonl", objects('{"text": "t", "quality": true}'), 2, ["quality"]),
    ("x.jsonl", objects('{"text": "t", "system": ["a"]}'), 2, ["system"]),
    ("x.jsonl", '{"text": "t", "quality": 1, "context": ["a", "b"]}\n' * 9, 1, ["context: 9 of 9"]),
    ("x.jsonl", objects('{"text": "\\ud83d", "quality": 1}'), 2, ["text"]),
    ("x.json", '[{"text": "a", "quality": 1},\n{"text": "b", "quality": "x"}]', 2, ["quality"]),
    ("x.json", '[{"text": "a", "quality": 1},\n{"text": "b', 2, []),
    ("cut.csv", gzip.compress(b"text,quality\na,1\n" * 99, mtime=0)[:40], None, []),
]


@pytest.mark.parametrize(("name", "content", "line", "columns"), BAD)
def test_a_fault_has_file_line_and_column(tmp_path, name, content, line, columns):
    path = write(tmp_path / name, content)
    with pytest.raises(FormatError) as caught:
        read_ratings([path], scale=[1, 5])
    assert (caught.value.path, caught.value.line) == (str(path), line)
    assert caught.value.remedy
    assert all(column in caught.value.message for column in columns)
    assert len(str(caught.value)) < 500


def test_all_faults_come_at_once_one_line_each(tmp_path):
    header = "text,quality,rater,score_x\n"
    words = "".join(f"t{k},{('yes', 'no')[k % 2]},ann,\n" for k in range(1200))
    path = write(tmp_path / "x.csv", header + words + "a,9,ann,?\nb,8,ann,\nc,1,ann,\nc,2,ann,\n")
    with pytest.raises(FormatError) as caught:
        read_ratings([path], scale=[1, 5])
    first, *rest = caught.value.message.splitlines()
    assert "1,200 of 1,204" in first
    places = ("1202: score_x: 1", "1202: quality: 2", "1205: rater: 1")
    for line, place in zip(rest, places, strict=True):
        assert f"{path}:{place} of 1,204" in line


def test_fields_may_be_long_where_a_c_long_has_32_bits(tmp_path, monkeypatch):
    limits: list[int] = []
    monkeypatch.setattr("refless.data.rows.csv.field_size_limit", limits.append)
    read_texts(write(tmp_path / "x.csv", "text\na\n"))
    assert 2**24 < max(limits) < 2**31


def test_plain_lines_are_texts(tmp_path):
    path = write(tmp_path / "x.txt", "one\n\n\tthree\n")
    assert read_texts(path).columns["text"] == ["one", "", "\tthree"]
    for name in ("x.tsv", "x.csv"):  # of one column
        column = read_texts(write(tmp_path / name, "text\none\n\n'three\n\n"))
        assert (column.columns["text"], column.lines) == (["one", "", "'three"], [2, 3, 4])
    with pytest.raises(FormatError):
        read_texts(path, need=["system"])


def load(path: Path, **options: Any) -> RatedTexts:
    return sources.load("table", "mine", {"path": path}, options)


def test_a_table_is_brought_to_its_scale(tmp_path):
    rows = "a,1,How much?,A+B\nb,5,how  much?,h\nc,,,B\nd,2.5,,B\n"
    path = write(tmp_path / "x.csv", f"response,quality,context,system\n{rows}")
    loaded = load(path, scale=[1, 5], columns={"text": "response"})
    texts = loaded.texts
    assert list(texts) == [*TEXT_COLUMNS, "context_id"]
    assert texts["id"].tolist() == [f"mine:0000{k}" for k in (1, 2, 3, 4)]
    assert texts["quality"].tolist() == pytest.approx([0, 1, math.nan, 0.375], nan_ok=True)
    assert texts["n_ratings"].tolist() == [1, 1, 0, 1]
    assert texts["system"].tolist() == ["A+B", "h", "B", "B"]
    # texts that answer nothing that is known answer nothing in common
    assert texts["context_id"].tolist() == ["c0001", "c0001", "c0002", "c0003"]
    assert loaded.ratings.empty


def test_without_a_scale_it_is_that_of_the_ratings(tmp_path):
    loaded = load(write(tmp_path / "x.tsv", "text\tquality\na\t-3\nb\t7.2\nc\t2\n"))
    assert list(loaded.texts) == TEXT_COLUMNS
    assert set(loaded.texts["system"]) == {"unknown"}
    assert loaded.texts["quality"].tolist() == [0, 1, 5 / 10.2]
    path = write(tmp_path / "x.csv", "text,quality\na,3\nb,3\n")
    for scale in (None, [5, 1], [1, math.inf], [math.nan, 1]):
        with pytest.raises(FormatError):
            load(path, scale=scale)


def test_raters(tmp_path):
    loaded = load(write(tmp_path / "x.csv", RATED), scale=[1, 5])
    assert loaded.texts["quality"].tolist() == [0.875, 0, 1, 1]
    assert loaded.texts["n_ratings"].tolist() == [2, 1, 1, 1]
    assert loaded.ratings.to_numpy().tolist()[1:3] == [
        ["mine:00002", "r001", 1, 0],
        ["mine:00001", "r002", 5, 1],
    ]
    equal = "".join(f"a,0.1,{rater}\n" for rater in ("ann", "bob", "cy"))
    path = write(tmp_path / "y.csv", f"text,quality,rater\n{equal}b,0,ann\n")
    assert load(path).texts["quality"].tolist() == [1, 0]


def test_references_and_meaning_representations(tmp_path):
    rows = (
        '{"text": "t", "quality": 1, "mr": "inform(name=X, food=\'thai\')", "references": ["a"]}\n'
        '{"text": "u", "quality": 2, "mr": "inform(food=thai;name=X)"}\n'
        '{"text": "v", "quality": 3, "mr": "name[X],  food[thai]"}\n'
    )
    texts = load(write(tmp_path / "x.jsonl", rows)).texts
    assert texts["context"].tolist() == texts["mr"].tolist()
    assert texts["mr_set"][0] == texts["mr_set"][1] != texts["mr_key"][0] != texts["mr_key"][1]
    assert texts["mr_key"][2] == "name[X], food[thai]"
    assert texts["references"].tolist() == ['["a"]', "[]", "[]"]


TABLE = pd.DataFrame({"text": ["a", "b", "c"], "quality": [1, 2, 3], "n": [7, 8, 9]})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("n,score_x\n7,1\n7,2\n", "more than once"),
        ("m,score_x\n7,1\n", "no column 'n'"),
        ("n,score_x\n1,1\n", "no row has the n"),
    ],
)
def test_a_bad_join_is_refused(tmp_path, table, words):
    path = tmp_path / "scores.csv"
    path.write_text(table)
    with pytest.raises(FormatError, match=words):
        read_ratings([TABLE], join=(path, "n"))


def test_rows_are_joined_by_two_columns_and_outputs_too(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("n,system,score_x,text\n7,b,0.1,z\n7,a,0.7,z\n8,a,0.8,z\n")
    table = pd.DataFrame({"text": ["a", "b"], "quality": [1, 2], "n": [7, 7], "system": ["a", "b"]})
    join = (path, ["n", "system"])
    joined = read_ratings([table], join=join).texts
    assert joined["score_x"].tolist() == [0.7, 0.1]
    assert joined["text"].tolist() == ["a", "b"]  # the table's own stay
    outputs = table.drop(columns="quality")
    assert read_texts(outputs, ["score_*"], join=join).columns["score_x"] == [0.7, 0.1]
    # of outputs without these columns, the other file is not even read
    gone = (tmp_path / "gone.csv", join[1])
    assert "score_x" not in read_texts(table[["text"]], ["score_*"], join=gone).columns


def test_keys_of_a_join_are_one_by_the_merge_key():
    table = pd.DataFrame({"context": ["कि", "WHERE  to?", "c"], "text": ["a", "b", "d"]})
    more = pd.DataFrame({"context": ["का", "कि", "where to?", "C"], "score_x": [1, 2, 3, 4]})
    assert read_texts(table, ["score_*"], join=(more, "context")).columns["score_x"] == [2, 3, 4]
    # of names that differ in case alone, each has its own row, and another spelling has none
    more = pd.DataFrame({"id": ["aB", "Ab", "x"], "score_x": [1, 2, 3]})
    table = pd.DataFrame({"id": ["Ab", "aB", "AB", "X"], "text": ["a", "b", "c", "d"]})
    scores = read_texts(table, ["score_*"], join=(more, "id")).columns["score_x"]
    assert pd.Series(scores).fillna(-1).tolist() == [2, 1, -1, 3]


def test_what_has_no_key_is_joined_to_nothing(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("n,score_x\n,99\n0,1\n")
    table = pd.DataFrame({"text": ["a", "b", "c"], "n": [None, "", 0]})
    scores = read_texts(table, ["score_*"], join=(path, "n")).columns["score_x"]
    assert pd.Series(scores).fillna(-1).tolist() == [-1, -1, 1]
    assert len(read_texts(table.head(0), join=(path, "n")).rows) == 0
    with pytest.raises(FormatError, match="no column 'm'"):
        read_texts(table, join=(path, ["n", "m"]))
    with pytest.raises(SettingError):
        read_texts(table, join=(path, []))


def test_an_output_without_a_system_among_others_is_refused():
    table = pd.DataFrame({"text": ["a", "b"], "system": ["x", ""]})
    with pytest.raises(FormatError, match="system"):
        read_texts(table, ["system"])


def test_a_table_stays_a_table(tmp_path):
    (tmp_path / "rated.tsv").write_text("n\ttext\tquality\n7\ta\t1\n8\tb\t2\n")
    (tmp_path / "more.jsonl").write_text('{"n": 7, "references": ["c", "d"], "score_x": 0.5}\n')
    ratings = read_ratings([tmp_path / "rated.tsv"], join=(tmp_path / "more.jsonl", "n"))
    assert ratings.texts["references"].tolist() == [["c", "d"], []]
    assert ratings.files[0].format == "tsv"
    assert ratings.files[0].rows[0] == ["7", "a", "1", '["c", "d"]', 0.5]


def test_a_table_and_a_file_are_read_in_their_order(tmp_path):
    path = tmp_path / "rated.csv"
    path.write_text("text,quality\nd,4\n")
    texts = read_ratings([TABLE, path, path, TABLE.assign(text=["e", "f", "g"])]).texts
    assert texts["text"].tolist() == [*"abcdefg"]


def test_scores_of_a_text_that_raters_share_are_averaged(caplog):
    table = pd.DataFrame({"text": ["a", "a", "b"], "quality": [1, 3, 2], "rater": ["x", "y", "x"]})
    with caplog.at_level(logging.WARNING):
        own = read_ratings([table.assign(score_x=[0.5, 0.7, 1.0])])
    assert own.texts["score_x"].tolist() == pytest.approx([0.6, 1.0])
    assert "score_x differs between rows of 1 texts" in caplog.text


def test_lists_as_python_prints_them_and_columns_that_are_declined(tmp_path):
    path = Path(tmp_path / "rated.csv")
    path.write_text('text,quality,references\na,1,"[\'it\'\'s\', ""b""]"\nb,2,\n')
    assert read_ratings([path]).texts["references"][1] == []
    path.write_text('text,quality,references\na,1,"[\'b\', ""it\'s""]"\nb,2,\n')
    assert read_ratings([path]).texts["references"][0] == ["b", "it's"]
    path.write_text("text,quality,references\na,1,some words\n")
    with pytest.raises(FormatError, match="references"):
        read_ratings([path])
    assert "references" not in read_ratings([path], columns={"references": ""}).texts


WIDE = "text,system, ann ,bob,cy\na,A,1,2,\nb,A,4,,\na,B,5,3,4\nc,B,,,\n"


def test_raters_stand_in_columns(tmp_path):
    path = write(tmp_path / "x.csv", WIDE)
    read = read_ratings([path], raters=["ann", "bob", "cy"])
    assert read.texts["quality"].fillna(-1).tolist() == [1.5, 4, 4, -1]
    assert read.text_of == [0, 1, 2, 3]
    single = [
        (0, "ann", 1),
        (0, "bob", 2),
        (1, "ann", 4),
        (2, "ann", 5),
        (2, "bob", 3),
        (2, "cy", 4),
    ]
    assert list(read.ratings.itertuples(index=False, name=None)) == single
    long = (
        pd.read_csv(path)
        .rename(columns=str.strip)
        .melt(["text", "system"], var_name="rater", value_name="quality")
    )
    same = read_ratings([long]).texts
    pd.testing.assert_frame_equal(same[["text", "quality"]], read.texts[["text", "quality"]])
    centered = read_ratings([path], raters=["ann", "bob", "cy"], center=True).ratings
    means = centered.groupby("rater")["quality"].mean()
    assert means.to_numpy() == pytest.approx(np.full(3, 19 / 6))
    loaded = load(path, scale=[1, 5], raters=["ann", "bob"])
    assert loaded.texts["n_ratings"].tolist() == [2, 1, 2, 0]


def test_equal_texts_are_apart_where_raters_have_columns_also_if_it_is_one(tmp_path):
    path = write(tmp_path / "x.csv", "text,ann,bob\nok,1,2\nok,3,\nno,2,2\n")
    for raters in (["ann", "bob"], ["ann"]):
        assert read_ratings([path], raters=raters).text_of == [0, 1, 2]


@pytest.mark.parametrize(
    ("content", "raters", "scale", "words", "line"),
    [
        (WIDE, ["ann", "dan"], None, "'dan'", None),
        (WIDE.replace("4,,", "good,,"), ["ann", "bob"], None, "ann: 1 of 4", 3),
        (WIDE, ["ann", "bob"], [1, 4], "ann: 1 of 4", 4),
        (WIDE, None, None, "--raters", None),
    ],
)
def test_faults_of_raters_in_columns(tmp_path, content, raters, scale, words, line):
    path = write(tmp_path / "x.csv", content)
    with pytest.raises(FormatError) as refused:
        read_ratings([path], raters=raters or [], scale=scale)
    assert words in str(refused.value)
    assert refused.value.line == line


def test_a_column_reference_is_one_reference(tmp_path):
    path = write(tmp_path / "x.csv", 'text,quality,reference\nt,1,"[b] or ""c"""\nu,2,\n')
    assert read_ratings([path]).texts["references"].tolist() == [['[b] or "c"'], []]
    path = write(tmp_path / "y.csv", 'text,quality,Reference,references\nt,1,b,"[""c"", ""b""]"\n')
    assert read_ratings([path]).texts["references"].tolist() == [["c", "b"]]
    named = {"reference": "gold"}
    table = pd.DataFrame({"text": ["t"], "quality": [1], "gold": ["g"]})
    assert read_ratings([table], columns=named).texts["references"].tolist() == [["g"]]
    assert (
        "references" not in read_ratings([path], columns={"reference": "", "references": ""}).texts
    )


def test_headers_with_blanks_are_read_and_not_called_unread(tmp_path, caplog):
    path = write(tmp_path / "x.csv", "text, quality, system, n\na,1,A,7\n")
    assert read_ratings([path]).texts.loc[0, ["quality", "system"]].tolist() == [1, "A"]
    assert caplog.messages == [f"{path}: columns that are not read: n"]
    more = write(tmp_path / "y.csv", " n ,score_x \n7,0.5\n")
    joined = read_ratings([path], join=(more, "n")).texts
    assert joined["score_x"].tolist() == [0.5]


@pytest.mark.parametrize(
    ("ratings", "said"),
    [
        ([1, 2, 5, 3, -999, -999], "-999 (2 of 6"),
        ([1, 2, 5, 3, 99], "99 (1 of 5"),
        ([0, 1, 0, 1, -1], ""),
        ([1, 2, 3, 4, 5], ""),
        ([14, 90, 350, 2000, 5656], ""),
        ([3, 3, 3, 100], ""),
        ([1, None, 5, -100], "-100 (1 of 3"),
    ],
)
def test_a_rating_far_from_all_others_is_said(caplog, ratings, said):
    table = pd.DataFrame({"text": list("abcdef")[: len(ratings)], "quality": ratings})
    read_ratings([table])
    assert bool(caplog.messages) == bool(said)
    assert said in caplog.text
    caplog.clear()
    read_ratings([table], scale=[-1000, 6000])
    assert not caplog.messages


def test_texts_that_are_all_empty_are_said_to_be(caplog):
    table = pd.DataFrame({"text": ["", " ", ""], "quality": [1, 2, 3]})
    for read in (lambda: read_ratings([table]), lambda: read_texts(table)):
        read()
        assert "3 texts are empty" in caplog.messages[-1]
        caplog.clear()
    read_ratings([table.assign(text=["", "a", ""])])
    assert not caplog.messages
