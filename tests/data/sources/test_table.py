"""The loader of tidy files: three formats, one result; and what is wrong where."""

from __future__ import annotations

import json
import logging
import math

import pytest

from refless.compare.rated import mrs_apart
from refless.data import sources
from refless.data.ratings import TEXT_COLUMNS
from refless.data.sources import table
from refless.errors import FormatError
from refless.store.tables import read_table, write_table

ROWS = [
    {"text": "It is cheap.", "quality": 1, "context": "how much?", "system": "A"},
    {"text": 'A "fine" one, really', "quality": 5, "context": "how is it?", "system": "human"},
    {"text": "NA", "quality": "", "context": "how much?", "system": "B"},
    {"text": "nan", "quality": 2.5, "context": "", "system": "B"},
]


def delimited(rows, delimiter="\t", quote=False):
    def cell(value):
        text = json.dumps(value) if isinstance(value, list) else str(value)
        return '"' + text.replace('"', '""') + '"' if quote else text

    return "".join(
        delimiter.join(cell(value) for value in row) + "\n"
        for row in [list(rows[0]), *(row.values() for row in rows)]
    )


def json_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.tsv", delimited(ROWS)),
        ("x.CSV", delimited(ROWS, ",", quote=True)),
        ("x.jsonl", json_lines(ROWS)),
    ],
)
def test_the_formats_give_the_same(write, name, content):
    path = write(content, name)
    loaded = sources.load("table", "mine", {"path": path}, {"scale": [1, 5]}).require_clean()
    texts = loaded.texts
    assert list(texts) == [*TEXT_COLUMNS, "context_id"]
    assert texts["id"].tolist() == [f"mine:0000{k}" for k in (1, 2, 3, 4)]
    assert set(texts["task"]) == {"mine"}
    assert texts["text"].tolist() == [row["text"] for row in ROWS]
    assert texts["quality"].tolist()[:2] == [0, 1]
    assert math.isnan(texts["quality"][2])
    assert texts["quality"][3] == 0.375
    assert texts["n_ratings"].tolist() == [1, 1, 0, 1]
    assert texts["system"].tolist() == ["A", "human", "B", "B"]
    assert texts["context_id"].tolist() == ["c0001", "c0002", "c0001", "c0003"]
    assert loaded.ratings.empty
    assert loaded.scale == (1, 5)


def test_decimals_are_no_labels_with_raters_either(write):
    rows = "a\t0.1\tx\na\t0.2\ty\nb\t0.7\tx\n"
    loaded = table.load(write(f"text\tquality\trater\n{rows}", "x.tsv"), "mine", [0, 1])
    assert (loaded.scale, loaded.ends) == (None, (0, 1))
    assert sorted(loaded.ratings["label"]) == [0.1, 0.2, 0.7]


def test_means_are_no_labels(write):
    path = write("text\tquality\nA text.\t2.3\nB text.\t4\n", "x.tsv")
    assert table.load(path, "mine", [1, 5]).scale is None
    rated = write("text\tquality\nA text.\t2.5\nB text.\t4\n", "y.tsv")
    assert table.load(rated, "mine").scale == (2.5, 4)


def test_the_format_may_be_said(write):
    path = write(delimited(ROWS), "ratings.txt")
    assert len(table.load(path, "mine", [1, 5], "tsv").texts) == 4
    with pytest.raises(FormatError, match="does not tell the format") as caught:
        table.load(path, "mine")
    assert "tsv, csv or jsonl" in caught.value.remedy
    with pytest.raises(FormatError, match="unknown format 'xls'"):
        table.load(path, "mine", format="xls")


def test_two_columns_are_enough_and_the_scale_is_told(write, caplog):
    path = write("text\tquality\tmood\na\t-3\tx\nb\t7\ty\nc\t2\tz\n", "x.tsv")
    with caplog.at_level(logging.WARNING):
        texts = table.load(path, "mine").check().texts
    assert texts["quality"].tolist() == [0, 1, 0.5]
    assert set(texts["system"]) == {"unknown"}
    assert list(texts) == TEXT_COLUMNS
    assert "from the lowest quality, -3, to the highest, 7" in caplog.text
    assert "columns that are not read: 'mood'" in caplog.text


def test_a_scale_that_is_none(write):
    unrated = table.load(write("text,quality\na,\nb, \n", "x.csv"), "mine").check().texts
    assert unrated["n_ratings"].tolist() == [0, 0]
    path = write("text,quality\na,3\nb,3\n", "x.csv")
    with pytest.raises(FormatError, match="every quality is 3") as caught:
        table.load(path, "mine")
    assert "scale: [1, 5]" in caught.value.remedy
    assert table.load(path, "mine", scale=[1, 5]).texts["quality"].tolist() == [0.5, 0.5]
    for scale in ([5, 1], [1], [1, math.inf], "15", [True, 5], [math.nan, 1], ["1", "5"]):
        with pytest.raises(FormatError, match="the scale is"):
            table.load(path, "mine", scale=scale)


RATED = """text,quality,system,context,rater,score_x
yes,4,A,q,ann,0.5
no,1,A,q,ann,
yes,5,A,q,bob,0.5
yes,5,B,q,bob,0.1
no,,A,q,bob,
yes,5,A,other,bob,0.1
yes,3,A,q,cleo,0.4
no,2,A,q,,
"""


def test_a_row_may_be_one_rating(write):
    loaded = table.load(write(RATED, "x.csv"), "mine", scale=[1, 5]).check()
    texts = loaded.texts
    assert texts[["text", "system", "context"]].to_numpy().tolist() == [
        ["yes", "A", "q"],
        ["no", "A", "q"],
        ["yes", "B", "q"],
        ["yes", "A", "other"],
    ]
    assert texts["quality"].tolist() == [0.875, 0, 1, 1]
    assert texts["n_ratings"].tolist() == [2, 1, 1, 1]
    assert texts["score_x"].tolist()[::2] == [0.5, 0.1]
    assert math.isnan(texts["score_x"][1])
    assert loaded.ratings.to_numpy().tolist() == [
        ["mine:00001", "r001", 4, 0.75],
        ["mine:00002", "r001", 1, 0],
        ["mine:00001", "r002", 5, 1],
        ["mine:00003", "r002", 5, 1],
        ["mine:00004", "r002", 5, 1],
    ]
    assert loaded.scale == (1, 5)
    assert [(problem.line, problem.message) for problem in loaded.problems] == [
        (8, "references or scores differ from those of the text on line 2"),
        (9, "the rating has no rater"),
    ]


def test_references_and_meaning_representations(write, tmp_path):
    rows = [
        {"text": "t", "quality": 1, "mr": "inform(name=X, food='thai')", "references": ["a", "b"]},
        {"text": "u", "quality": 2, "mr": "inform(food=thai;name=X)", "references": "[]"},
        {"text": "v", "quality": 3, "mr": "name[X],  food[thai]"},
    ]
    texts = table.load(write(json_lines(rows), "x.jsonl"), "mine").check().texts
    assert texts["context"].tolist() == texts["mr"].tolist() == [row["mr"] for row in rows]
    assert texts["mr_set"][0] == texts["mr_set"][1] != texts["mr_key"][0] != texts["mr_key"][1]
    assert texts["mr_key"][2] == "name[X], food[thai]"
    assert texts["references"].tolist() == ['["a", "b"]', "[]", "[]"]
    write_table(texts, tmp_path / "texts.csv")
    back = read_table(tmp_path / "texts.csv", TEXT_COLUMNS)
    assert back["references"].tolist() == texts["references"].tolist()
    several = "text\tquality\treference1\treference_2\nt\t1\ta\tb\nu\t2\t\tc\n"
    texts = table.load(write(several, "x.tsv"), "mine").texts
    assert texts["references"].tolist() == ['["a", "b"]', '["c"]']


def test_rows_that_make_no_sense_are_named(write):
    rows = [
        ('{"text": "fine", "quality": 1}', ""),
        ("", ""),
        ('{"text": " ", "quality": 1}', "the text is empty"),
        ('{"text": 5, "quality": 1}', "text '5' is no text"),
        ('{"quality": 1}', "the text is empty"),
        ('{"text": "t", "quality": "good"}', "quality 'good' is not a finite number"),
        ('{"text": "t", "quality": NaN}', "quality 'nan' is not a finite number"),
        ('{"text": "t", "quality": true}', "quality 'True' is not a finite number"),
        ('{"text": "t", "quality": "1_0"}', "quality '1_0' is not a finite number"),
        ('{"text": "t", "quality": 6}', "quality 6 is not from 0 to 5"),
        ('{"text": "t", "quality": 1, "system": "=1+1"}', "'=1+1' is no name of a system"),
        ('{"text": "t", "quality": 1, "score_x": "?"}', "score_x '?' is not a finite number"),
        ('{"text": "t", "quality": 1, "references": "a"}', "references are no JSON list of texts"),
        ('{"text": "t", "quality": 1, "reference1": 3}', "reference1 '3' is no text"),
        ('{"text": "\\ud83d", "quality": 1}', "half a character"),
        ("[1]", "is no JSON object"),
        ('{"text": "t"', "cannot be read as JSON"),
        ('{"text": "last", "quality": 5}', ""),
    ]
    path = write("\n".join(line for line, _ in rows), "x.jsonl")
    loaded = table.load(path, "mine", scale=[0, 5]).check()
    assert loaded.texts["text"].tolist() == ["fine", "last"]
    wanted = [(number, fault) for number, (_, fault) in enumerate(rows, 1) if fault]
    assert [problem.line for problem in loaded.problems] == [number for number, _ in wanted]
    for problem, (_, fault) in zip(loaded.problems, wanted, strict=True):
        assert fault in problem.message
        assert problem.path == str(path)


def test_files_of_another_kind(write, tmp_path):
    for name, content, message in (
        ("x.tsv", "text,quality\na,1\n", "no column 'text'"),
        ("x.tsv", "text\tquality\na\n", "1 fields where the header has 2"),
        ("x.csv", "text;quality\na;1\n", "semicolons separate no fields"),
        ("x.csv", "text,qualty\na,1\n", "no column 'quality' among 'text', 'qualty'"),
        ("x.csv", 'text,quality\n"a,1\n', "never closed"),
        ("x.csv", "text,quality\n", "the file has no rows"),
        ("x.jsonl", '{"text": "a"}', "no object has the key 'quality'"),
        ("x.jsonl", '[{"text": "a", "quality": 1}]', "is a JSON array"),
        ("x.jsonl", b"\xff", "not UTF-8"),
        ("x.csv", "", "empty"),
    ):
        with pytest.raises(FormatError, match=message) as caught:
            table.load(write(content, name), "mine")
        assert caught.value.path == str(tmp_path / name)
        assert caught.value.remedy
    with pytest.raises(FormatError, match="cannot be read"):
        table.load(tmp_path / "none.csv", "mine")


def test_several_files_make_one_table(write):
    first = write(
        "text\tquality\tscore_judge\tsystem\nA text.\t2\t0.5\ts3\nB text.\t4\t0.1\ts3\n", "one.tsv"
    )
    second = write("text,quality,system\nC text.,1,s1\nA text.,5,s2\n", "two.csv")
    loaded = table.load_all([first, second], "mine").require_clean()
    assert loaded.texts["text"].tolist() == ["A text.", "B text.", "C text.", "A text."]
    # one scale for all: from 1, in the second file, to 5
    assert loaded.texts["quality"].tolist() == [0.25, 0.75, 0, 1]
    assert loaded.texts["system"].tolist() == ["s3", "s3", "s1", "s2"]
    assert loaded.texts["score_judge"].isna().tolist() == [False, False, True, True]
    assert loaded.ends == (1, 5)


def test_texts_without_a_system_are_no_system(write):
    path = write("text\tquality\tsystem\nA.\t2\ts1\nB.\t4\t\nC.\t5\ts2\n", "a.tsv")
    problems = table.load_all([path], "mine", [1, 5]).problems
    assert [(one.line, "no system" in one.message) for one in problems] == [(3, True)]
    alone = write("text\tquality\tsystem\nA.\t2\t\nB.\t4\t\n", "a.tsv")
    assert set(table.load_all([alone], "mine", [1, 5]).texts["system"]) == {"unknown"}


def test_a_plus_in_a_system_is_refused(write):
    path = write("text\tquality\tsystem\nA.\t2\tT5+RAG\nB.\t4\tGPT\n", "a.tsv")
    (problem,) = table.load_all([path], "mine", [1, 5]).problems
    assert (problem.line, "another sign" in problem.message) == (2, True)


def test_texts_without_a_context_share_none(write):
    lines = ["A.\t2\tone", "B.\t4\t", "C.\t5\t", "D.\t1\tone"]
    path = write("\n".join(["text\tquality\tcontext", *lines]) + "\n", "a.tsv")
    texts = table.load_all([path], "mine", [1, 5]).require_clean().texts
    assert texts["context_id"].tolist() == ["c0001", "c0002", "c0003", "c0001"]


def test_raters_in_several_files_rate_the_same_texts(write):
    first = write("text\tquality\trater\nA text.\t2\tann\nB text.\t4\tann\n", "one.tsv")
    second = write("text\tquality\trater\nB text.\t1\tbob\nA text.\t5\tbob\n", "two.tsv")
    loaded = table.load_all([first, second], "mine", [1, 5]).require_clean()
    assert loaded.texts["n_ratings"].tolist() == [2, 2]
    assert loaded.ratings["label"].tolist() == [2, 4, 1, 5]
    plain = write("text\tquality\nC text.\t1\n", "three.tsv")
    with pytest.raises(FormatError, match="rater") as caught:
        table.load_all([first, plain], "mine", [1, 5])
    assert caught.value.path == str(plain)


def test_blanks_and_composed_letters_make_no_other_text_of_a_rater(write):
    rows = "Caf\u00e9 open.\t1\tann\nCafe\u0301  open. \t3\tbob\nB text.\t4\tann\n"
    loaded = table.load(write(f"text\tquality\trater\n{rows}", "x.tsv"), "mine", [1, 5])
    assert loaded.texts["text"].tolist() == ["Caf\u00e9 open.", "B text."]
    assert loaded.texts["quality"].tolist() == [0.25, 0.75]


def test_spellings_of_a_context_make_no_other_text_of_a_rater(write):
    rows = "A text.\tWhere to?\t1\tann\nA text.\twhere to\t3\tbob\nB text.\tWhere to?\t4\tann\n"
    loaded = table.load(write(f"text\tcontext\tquality\trater\n{rows}", "x.tsv"), "mine", [1, 5])
    assert loaded.texts["quality"].tolist() == [0.25, 0.75]
    rows = (
        "A text.\ta(b=c, d=e)\t1\tann\nA text.\ta(d=E,b=c)\t3\tbob\nA text.\ta(b=e,d=c)\t4\tann\n"
    )
    loaded = table.load(write(f"text\tmr\tquality\trater\n{rows}", "x.tsv"), "mine", [1, 5])
    assert loaded.texts["quality"].tolist() == [0.25, 0.75]


def test_a_bad_row_is_named_with_its_own_file(write):
    first = write("text\tquality\nA text.\t2\n", "one.tsv")
    second = write("text\tquality\nB text.\thigh\n", "two.tsv")
    problems = table.load_all([first, second], "mine", [1, 5]).problems
    assert [(problem.path, problem.line) for problem in problems] == [(str(second), 2)]


@pytest.mark.parametrize("name", ["Rater", "raters", "Systems", "Score_x", "REFERENCE1"])
def test_a_column_in_other_letters_is_refused(write, name):
    path = write(f"text\tquality\t{name}\na\t1\tx\nb\t2\ty\n", "x.tsv")
    with pytest.raises(FormatError, match=f"column '{name}' is not read"):
        table.load(path, "mine")
    path = write(json.dumps({"text": "a", "quality": 1, name: "x"}) + "\n", "x.jsonl")
    with pytest.raises(FormatError, match=f"column '{name}' is not read"):
        table.load(path, "mine")


def test_what_is_about_references_is_none(write, caplog):
    path = write("text\tquality\treference_id\treference_2\na\t1\tx7\tc\nb\t2\tx8\td\n", "x.tsv")
    texts = table.load(path, "mine").texts
    assert texts["references"].tolist() == ['["c"]', '["d"]']
    assert "columns that are not read: 'reference_id'" in caplog.text


def test_a_key_that_stands_twice_is_a_problem(write):
    path = write('{"text": "a", "quality": 1, "quality": 5}\n' + json_lines(ROWS), "x.jsonl")
    (problem,) = table.load(path, "mine").problems
    assert problem.line == 1
    assert "'quality' stands twice" in problem.message


def test_a_rating_counts_once(write):
    rows = "a\t1\tx\na\t3\ty\nb\t5\tx\na\t1\tx\n"
    loaded = table.load(write(f"text\tquality\trater\n{rows}", "x.tsv"), "mine")
    assert [problem.line for problem in loaded.problems] == [5]
    assert "on line 2" in loaded.problems[0].message
    assert loaded.texts["n_ratings"].tolist() == [2, 1]


def test_a_file_counts_once(write):
    first, again = write(delimited(ROWS), "x.tsv"), write(delimited(ROWS, ",", quote=True), "y.csv")
    for paths in ([first, first], [first, again]):
        with pytest.raises(FormatError, match=f"has the rows of .*{first.name}"):
            table.load_all(paths, "mine")
    numbers = [("a", 1.0), ("b", 2.0), ("c", 3.5)]
    one = write("text\tquality\n" + "".join(f"{t}\t{q:g}\n" for t, q in numbers), "1.tsv")
    other = write(json_lines([{"text": t, "quality": q} for t, q in numbers]), "2.jsonl")
    with pytest.raises(FormatError, match="has the rows of"):
        table.load_all([one, other], "mine")
    rows = [{"text": t, "quality": q, "references": [f"a {t}", "b"]} for t, q in numbers]
    one = write(json_lines([*rows, {"text": "d", "quality": None, "references": []}]), "3.jsonl")
    lines = [f"{row['text']}\t{row['quality']}\ta {row['text']}\tb" for row in rows]
    names = "text\tquality\treference_1\treference_2"
    other = write("\n".join([names, *lines, "d\t\t\t", ""]), "4.tsv")
    with pytest.raises(FormatError, match="has the rows of"):
        table.load_all([one, other], "mine")


def test_a_rating_that_cannot_be_reckoned_with_is_a_problem(write):
    path = write("text\tquality\na\t1e307\nb\t2\nc\t3\n", "x.tsv")
    (problem,) = table.load(path, "mine").problems
    assert problem.line == 2
    assert "too large" in problem.message


@pytest.mark.parametrize("again", ["Müller  A", "Mu\u0308ller A"])
def test_a_rater_in_two_spellings_is_one(write, again):
    rows = [("a", 1, "Müller A"), ("a", 2, again), ("b", 3, "Müller A"), ("c", 3, again)]
    names = ("text", "quality", "rater")
    path = write(json_lines([dict(zip(names, row, strict=True)) for row in rows]), "x.jsonl")
    told = []
    loaded = table.load_all([path], "mine", [1, 5], tell=told.append)
    assert [problem.line for problem in loaded.problems] == [2]
    assert set(loaded.ratings["rater"]) == {"r001"}
    assert len(told) == 1


def test_a_system_may_be_called_unknown(write):
    path = write("text,quality,system\na,1,unknown\nb,2,s\n", "x.csv")
    loaded = table.load(path, "mine")
    assert loaded.texts["system"].tolist() == ["unknown", "s"]
    assert not loaded.problems


def test_a_score_with_half_a_character_in_its_name_is_refused(write):
    path = write('{"text": "a", "quality": 1, "score_\\ud83d": 1}\n', "x.jsonl")
    with pytest.raises(FormatError, match="half a character") as caught:
        table.load(path, "mine")
    assert "another name" in caught.value.remedy


def test_a_file_that_is_not_there_has_no_format(tmp_path):
    with pytest.raises(FormatError, match="no such file") as caught:
        table.load(tmp_path / "nosuch", "mine")
    assert "folder" in caught.value.remedy


def test_rows_that_stand_in_two_files_are_told(write):
    paths = [
        write(json_lines(rows), name) for rows, name in ((ROWS, "a.jsonl"), (ROWS[1:], "b.jsonl"))
    ]
    said: list[str] = []
    table.load_all(paths, "mine", tell=said.append)
    assert any("2 of b.jsonl" in sentence for sentence in said)


def test_a_key_in_other_letters_is_refused_in_any_object(write):
    rows = [{"text": "a", "quality": 1}, {"text": "b", "Quality": 2}]
    path = write(json_lines(rows), "x.jsonl")
    with pytest.raises(FormatError) as caught:
        table.load(path, "mine")
    assert caught.value.line == 2
    assert "'quality'" in caught.value.remedy


def test_a_context_that_raters_write_as_an_mr_is_told_apart_as_one(write):
    rows = (
        "A.\ta(b=?)\t1\tann\nA.\ta(b)\t3\tbob\nB.\ta(b=c,d=e)\t2\tann\nB.\ta(d=e, b=c)\t4\tbob\n"
        "B.\tno MR at all\t\tann\n"
    )
    path = write(f"text\tcontext\tquality\trater\n{rows}", "x.tsv")
    loaded = table.load_all([path], "mine", [1, 5], mrs_apart=mrs_apart).require_clean()
    assert loaded.texts["n_ratings"].tolist() == [1, 1, 2, 0]
