"""Rubbish in the raw files: named by file and line and left out, or a text like any other."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from refless.data.normalize import normalize, read_raw
from refless.data.own import read_ratings
from refless.data.ratings import RatedTexts
from refless.data.sources import table
from refless.data.task import read_task
from refless.errors import FormatError
from refless.kernels import kernel
from tests.conftest import ROOT, SMALL_CONFIG, Project
from tests.workflow import small_data

HOSTILE = [
    "=cmd()",
    "+1+1",
    "@SUM(1)",
    "<script>alert(1)</script>",
    "NaN",
    "null",
    "\u202eright to left",
    "bell \u0007 and escape \u001b[31m",
    "comma, quote and semicolon;",
    "word " * 20_000,
]


# ---- through the workflow ------------------------------------------------------------------------


@pytest.mark.slow
def test_hostile_texts_come_through_and_reach_no_table(fresh: Project) -> None:
    path = Path(fresh.mirror) / "huse/summarization_raw_outputs.csv"
    content = path.read_text(encoding="utf-8")
    for old, new in zip(small_data.sentences(60, 0), HOSTILE, strict=False):
        assert old in content
        content = content.replace(old, new)
    path.write_text(content, encoding="utf-8")
    small_data.register(fresh.path, {"huse/summarization_raw_outputs.csv": path})
    fresh.snakemake("bleu_neighbors_table1")
    texts = read_task(fresh.path / "results/ratings/huse_summarization").texts["text"]
    # as they are, but for blanks at the ends
    assert {text.strip() for text in HOSTILE} <= set(texts.str.strip())
    for kind in ("neighbors", "tables"):
        for file in (fresh.path / "results" / kind).iterdir():
            written = file.read_text(encoding="utf-8")
            assert not any(text in written for text in HOSTILE if text not in ("NaN", "null"))


@pytest.mark.drill(
    "What data hold",
    "Texts of a data set must not get out",
    "no effect",
    "no table, figure, page or number beside them has any in it",
)
def test_no_text_leaves_the_ratings(small: Project) -> None:
    """Of any data set: what holds for ordinary texts holds for formulas and markup."""
    results = small.path / "results"
    texts: set[str] = set()
    for folder in results.glob("ratings/*"):
        table = read_task(folder).texts
        texts |= {*table["text"], *table["context"]}
    texts = {text for text in texts if len(text) > 12}  # "set 3" is an essay's context
    assert len(texts) > 400
    # a text's words as a search finds them, whatever stands between
    wanted = re.compile("|".join(sorted(map(re.escape, texts), key=len, reverse=True)))
    found = [
        str(path.relative_to(results))
        for path in results.rglob("*")
        if path.suffix in (".csv", ".md", ".html", ".json", ".svg", ".txt")
        and path.relative_to(results).parts[0] not in ("ratings", "logs", "benchmarks")
        and wanted.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


# ---- one loader at a time ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The raw files of the small project."""
    mirror = tmp_path_factory.mktemp("sound")
    small_data.write_raw_files(mirror)
    return mirror


# What is spoilt: the seventh row of a file, or the second utterance of BAGEL.
ROW = 7
NUL, HALF = "a\0b", "half of \ud83d a character"


def delimited(path: Path, change: Callable[[list[list[str]]], None]) -> None:
    """Change the rows of a table with quotes."""
    delimiter = "\t" if path.suffix == ".tsv" else ","
    with open(path, newline="", encoding="utf-8") as handle:
        rows = list(csv.reader(handle, delimiter=delimiter))
    change(rows)
    with open(path, "w", newline="", encoding="utf-8") as handle:
        csv.writer(handle, delimiter=delimiter, lineterminator="\n").writerows(rows)


def unpack(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        return {m.name: archive.extractfile(m).read() for m in archive}  # type: ignore[union-attr]


def pack(path: Path, contents: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def packed(path: Path, member: str, change: Callable[[list[list[str]]], None]) -> None:
    """Change the rows of a table without quotes in an archive."""
    contents = unpack(path)
    name = next(name for name in contents if Path(name).name == member)
    rows = [line.split("\t") for line in contents[name].decode().split("\n")[:-1]]
    change(rows)
    pack(path, contents | {name: "".join("\t".join(row) + "\n" for row in rows).encode()})


def nested(path: Path, change: Callable[[list[Any]], None] = lambda rows: None) -> None:
    """Change the rows of a JSON file, USR's responses or RNNLG's triples; a value gets a line."""
    content = path.read_text(encoding="utf-8")
    start = content.index("[")  # after RNNLG's comments
    value = json.loads(content[start:])
    change([r for d in value for r in d["responses"]] if path.name.startswith("tc_") else value)
    path.write_text(content[:start] + json.dumps(value, indent=1), encoding="utf-8")


@dataclass
class Raw:
    """A data set's raw files in a folder of their own, to be spoilt and loaded as a job does."""

    task: str
    entry: dict[str, Any]
    files: dict[str, Path]
    out: Path

    def load(self, malformed: str = "error") -> pd.DataFrame:
        out = self.out / malformed / self.task
        files = {name: str(path) for name, path in self.files.items()}
        options = self.entry.get("options", {})
        normalize(
            self.task, self.entry["loader"], files, options, malformed, out, ROOT / "resources"
        )
        return read_task(out).texts

    @property
    def listed(self) -> str:
        """What was left out."""
        return (self.out / "skip" / self.task / "malformed.txt").read_text(encoding="utf-8")

    def change(self, file: str, change: Callable[[list[Any]], None]) -> str:
        """Change the rows of a file, or of a member of the archive; where errors place them."""
        path = self.files.get(file, next(iter(self.files.values())))
        if path.suffix == ".tgz":
            packed(path, file, change)
            return f"{path}:{file}"
        if path.suffix == ".json":
            nested(path, change)
        else:
            delimited(path, change)
        return str(path)

    def spoil(self, file: str, column: str | int, value: Any, row: int = ROW) -> str:
        """Put a value into a row; the file and line that an error must name."""

        def spoilt(rows: list[Any]) -> None:
            if isinstance(rows[0], list) and isinstance(column, str):  # with a header
                rows[row][rows[0].index(column)] = value
            else:
                rows[row - 1][column] = value

        path = self.change(file, spoilt)
        if not path.endswith(".json"):
            return f"{path}:{row + 1}"
        # the line on which the row's bracket opens
        depth = 3 if "tc_usr" in path else 1
        lines = Path(path).read_text(encoding="utf-8").split("\n")
        opens = [n for n, line in enumerate(lines, 1) if re.fullmatch(f" {{{depth}}}[\\[{{]", line)]
        return f"{path}:{opens[row - 1]}"


@pytest.fixture
def raw(sound: Path, tmp_path: Path) -> Callable[[str], Raw]:
    def copied(task: str) -> Raw:
        entry = yaml.safe_load(SMALL_CONFIG.read_text(encoding="utf-8"))["data"][task]
        files = {}
        for name, path in entry["files"].items():
            files[name] = tmp_path / Path(path).name
            shutil.copy(sound / path, files[name])
            if path.endswith(".json"):
                nested(files[name])
        return Raw(task, entry, files, tmp_path / "out")

    return copied


HUSE, JUDGES = "huse_summarization", "dstc7-task2-human-eval-per-judge.tsv"
RESPONSES, CONTEXTS = "dstc7-task2-system_responses.tsv", "dstc7-task2-context.tsv"
BAD_ROWS: list[tuple[str, str, str | int, Any, str]] = [
    (HUSE, "path", "Answer.2", "6", "item 2: label '6'"),
    (HUSE, "path", "Answer.2", "", "item 2: label ''"),
    (HUSE, "path", "Answer.2", "NaN", "item 2: label 'NaN'"),
    (HUSE, "path", "Answer.2", "-inf", "item 2: label '-inf'"),
    (HUSE, "path", "Input.OUT1", " ", "item 1: the text is empty"),
    (HUSE, "path", "Input.OUT1", NUL, "item 1: the text contains a NUL"),
    (HUSE, "path", "Input.TYPE0", "=cmd()", "item 0: type '=cmd()' is no name of a system"),
    (HUSE, "path", "Input.TYPE0", "<b>", "item 0: type '<b>' is no name of a system"),
    (HUSE, "path", "Input.LOGP0", "high", "item 0: LOGP 'high' is no number"),
    ("dstc7", JUDGES, "Relevance", "6", "ratings '6', "),
    ("dstc7", JUDGES, "Informativeness", "nan", "'nan' are not 1 to 5"),
    ("dstc7", RESPONSES, "Response", " ", "the text is empty"),
    ("dstc7", RESPONSES, "SystemID", "=cmd()", "system '=cmd()' is no name"),
    ("dstc7", RESPONSES, "InstanceID", "\u202e", "unknown context '\\u202e'"),
    ("dstc7", CONTEXTS, "Context", NUL, "the text contains a NUL"),
    ("asap_sas", "train", "Score1", "4", "Score1 '4' is not 0 to 3"),
    ("asap_sas", "train", "EssayText", "", "the text is empty"),
    ("asap_sas", "train", "EssaySet", "11", "essay set '11' is not 1 to 10"),
    ("asap_sas", "test", "EssayText", " ", "the text is empty"),
    ("asap_sas", "test", "Id", "=1+1", "id '=1+1' is no number"),
    ("asap_sas", "solution", "essay_score", "-1", "'-1'"),
    ("usr_topicalchat", "path", "Overall", [1, 2, 6], "Overall '[1, 2, 6]' is not 3 numbers"),
    ("usr_topicalchat", "path", "Overall", [1, 2, float("nan")], "Overall '[1, 2, nan]'"),
    ("usr_topicalchat", "path", "response", "\n", "the text is empty"),
    ("usr_topicalchat", "path", "response", HALF, "the text contains half a character"),
    ("usr_topicalchat", "path", "model", "=cmd()", "model '=cmd()' is no name of a system"),
    ("nem", "path", "quality", "7", "quality '7' is not 1, 1.5, ... 6"),
    ("nem", "path", "quality", "NaN", "quality 'NaN' is not 1, 1.5, ... 6"),
    ("nem", "path", "quality", "inf", "quality 'inf' is not 1, 1.5, ... 6"),
    ("nem", "path", "sys_ref", "", "the text is empty"),
    ("nem", "path", "mr", "=cmd()", "no meaning representation: '=cmd()'"),
    ("nem", "path", "METEOR", "high", "METEOR 'high' is no number"),
    ("sfhot", "train", 1, " ", "the text is empty"),
    ("sfhot", "valid", 1, HALF, "the text contains half a character"),
    ("sfrest", "test", 0, "=cmd()", "no meaning representation: '=cmd()'"),
    ("sfrest", "train", 2, HALF, "the text contains half a character"),
]


@pytest.mark.drill(
    "What data hold",
    "Rows of the raw data make no sense (a rating that is `NaN`, infinite or out of "
    "range, an empty text, a NUL, half of a surrogate pair, a system named `=cmd()` "
    "or `<b>`)",
    "refused",
    "with file, line and fault; `malformed_rows: skip` goes on without them, all "
    "other rows stay as they were, and tables say how many are missing",
)
@pytest.mark.parametrize(("task", "file", "column", "value", "message"), BAD_ROWS)
def test_a_bad_row_is_named_and_can_be_left_out(
    raw: Callable[[str], Raw], task: str, file: str, column: str | int, value: Any, message: str
) -> None:
    data = raw(task)
    before = data.load().set_index("id")
    shutil.rmtree(data.out)
    # HUSE's ids count items as they first appear; by its 60th row all have
    place = data.spoil(file, column, value, 60 if task == HUSE else ROW)
    with pytest.raises(FormatError) as caught:
        data.load()
    told = str(caught.value)
    assert re.search(f"{re.escape(place)}: .*{re.escape(message)}", told)
    assert "malformed_rows: skip" in told
    assert not data.out.exists()
    after = data.load("skip").set_index("id")
    assert re.search(f"(?m)^{re.escape(place)}: ", data.listed)
    # At most one text is gone (four with a context), or lost one of its ratings.
    left = before.loc[before.index.isin(after.index)]
    assert list(after.index) == list(left.index)
    assert len(before) - len(left) <= (4 if file == CONTEXTS else 1)
    columns = ["task", "context", "text", "system"]
    assert after[columns].equals(left[columns])
    assert (after["quality"] != left["quality"]).sum() - after["quality"].isna().sum() <= 1


@pytest.mark.drill(
    "What data hold",
    "A raw file lacks a column",
    "refused",
    "with the column and what was found, whatever `malformed_rows` says",
)
@pytest.mark.parametrize("malformed", ["error", "skip"])
@pytest.mark.parametrize(
    ("task", "file", "column"),
    [
        (HUSE, "path", "Input.OUT1"),
        ("dstc7", JUDGES, "Relevance"),
        ("asap_sas", "train", "Score2"),
        ("asap_sas", "solution", "essay_score"),
        ("nem", "path", "quality"),
    ],
)
def test_a_table_with_a_wrong_column_is_refused(
    raw: Callable[[str], Raw], task: str, file: str, column: str, malformed: str
) -> None:
    data = raw(task)

    def renamed(rows: list[list[str]]) -> None:
        rows[0][rows[0].index(column)] = "=cmd()"

    path = data.change(file, renamed)
    with pytest.raises(FormatError, match=f"no column '?{column}") as caught:
        data.load(malformed)
    assert (caught.value.path, caught.value.line) == (path, 1)
    assert caught.value.remedy
    assert not data.out.exists()


WIDTHS = [(HUSE, "path"), ("dstc7", RESPONSES), ("asap_sas", "test"), ("nem", "path")]


@pytest.mark.drill(
    "What data hold",
    "A row has too few or too many fields",
    "refused",
    "as any row that makes no sense",
)
@pytest.mark.parametrize("change", ["one more field", "one field less"])
@pytest.mark.parametrize(("task", "file"), WIDTHS)
def test_a_row_of_another_width_is_named(
    raw: Callable[[str], Raw], task: str, file: str, change: str
) -> None:
    data = raw(task)
    before = data.load()

    def widened(rows: list[list[str]]) -> None:
        rows[ROW] = [*rows[ROW], "more"] if change == "one more field" else rows[ROW][:-1]

    path = data.change(file, widened)
    with pytest.raises(FormatError, match=f"{re.escape(path)}:{ROW + 1}: .* fields where"):
        data.load()
    assert len(before) - 1 <= len(data.load("skip")) <= len(before)


@pytest.mark.drill(
    "What data hold",
    "A rating, essay or response stands there twice",
    "refused",
    "as any row that makes no sense; skipped, it counts once",
)
@pytest.mark.parametrize(
    ("task", "file", "message"),
    [
        (HUSE, "path", "assignment 'A7' stands on line 8 already"),
        ("dstc7", RESPONSES, "a second response of"),
        ("dstc7", CONTEXTS, "stood before"),
        ("asap_sas", "train", "essay 7 stands on line 8 already"),
        ("asap_sas", "solution", "has a gold score on line 8 already"),
    ],
)
def test_what_stands_there_twice_counts_once(
    raw: Callable[[str], Raw], task: str, file: str, message: str
) -> None:
    data = raw(task)
    before = data.load()
    path = data.change(file, lambda rows: rows.append(rows[ROW]))
    with pytest.raises(FormatError, match=f"{re.escape(path)}:[0-9]+: .*{message}"):
        data.load()
    assert data.load("skip").equals(before)


@pytest.mark.drill(
    "Raw files and downloads",
    "An archive has links, devices, or paths that climb out",
    "refused",
    "as a whole; archives are read, never unpacked",
)
@pytest.mark.parametrize("malformed", ["error", "skip"])
@pytest.mark.parametrize("name", ["../../climbed", "/climbed", "..\\climbed"])
def test_an_archive_that_climbs_out_is_refused_whole(
    raw: Callable[[str], Raw], name: str, malformed: str
) -> None:
    data = raw("dstc7")
    path = data.files["path"]
    pack(path, unpack(path) | {name: b"got out"})
    with pytest.raises(FormatError, match="would lie outside the archive") as caught:
        data.load(malformed)
    assert (caught.value.path, bool(caught.value.remedy)) == (str(path), True)
    assert list(path.parent.iterdir()) == [path]
    for place in (Path("/"), ROOT, ROOT.parent, path.parent.parent):
        assert not (place / "climbed").exists()


# What else texts may be, where no raw file has to be put together by hand.
ODD = [*HOSTILE, 'a "quoted" word', "| pipe | and `tick`", "1e309", "\ufeffmark", "long " * 200_000]
PLACES: list[tuple[str, str, str | int]] = [
    (HUSE, "path", "Input.OUT0"),
    ("dstc7", RESPONSES, "Response"),
    ("asap_sas", "train", "EssayText"),
    ("usr_topicalchat", "path", "response"),
    ("nem", "path", "sys_ref"),
    ("sfrest", "train", 1),
]


@pytest.mark.drill(
    "What data hold",
    "Texts are `NaN`, `=cmd()`, markup, control or right-to-left characters, a "
    "megabyte long, or the same as another",
    "no effect",
    "they are texts like any other. They stand as they are in "
    "`results/ratings/<task>/texts.csv`, so open that file as text and not in a "
    "spreadsheet",
)
@pytest.mark.parametrize(("task", "file", "column"), PLACES)
def test_odd_and_equal_texts_are_texts_like_any_other(
    raw: Callable[[str], Raw], task: str, file: str, column: str | int
) -> None:
    data = raw(task)
    before = data.load().set_index("id")
    for row, text in enumerate([*ODD[1:], ODD[1]], start=1):  # one of them twice
        data.spoil(file, column, text, row)
    after = data.load().set_index("id")
    assert {text.strip() for text in ODD[1:]} <= set(after["text"].str.strip())
    if task not in (HUSE, "dstc7"):  # there texts are known by their wording
        assert list(after.index) == list(before.index)
        assert after["quality"].equals(before["quality"])
        assert (after["text"] != before["text"]).sum() == len(ODD)
        assert after["text"].str.strip().value_counts()[ODD[1]] == 2


def test_bagel_has_no_columns_but_the_same_promises(raw: Callable[[str], Raw]) -> None:
    data = raw("bagel")
    path = data.files["path"]
    one = path.read_text(encoding="utf-8")
    texts = [text for text in ODD if "[" not in text]  # brackets are marks there
    path.write_text("".join(one.replace("lies near", text) for text in texts), encoding="utf-8")
    found = data.load()
    assert [text.strip() in row for text, row in zip(texts, found["text"], strict=True)] == (
        [True] * len(texts)
    )
    shutil.rmtree(data.out)
    spoilt = one.replace('"[name+X]X []lies near [area+X]X"', '" "')
    path.write_text(one + spoilt + one.replace("ABSTRACT_DA", "=cmd()"), encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        data.load()
    for place, message in ((5, "the text is empty"), (9, "the record has no abstract MR")):
        assert f"{path}:{place}: {message}" in str(caught.value)
    assert not data.out.exists()
    assert data.load("skip")["id"].tolist() == ["bagel:0001"]


# ---- kernels -------------------------------------------------------------------------------------

KERNELS = ["bleu.char", "bleu.word", "bleu.char.unclipped", "bleu_content.char"]
KERNELS += ["rouge_l.stem", "rouge_l.plain"]


@pytest.mark.drill(
    "What data hold",
    "Odd texts stand among ordinary ones",
    "no effect",
    "no other text's numbers change (but for the kernels `bleu_idf.*`, which weigh by all texts)",
)
@pytest.mark.parametrize("name", KERNELS)
def test_odd_texts_change_no_other_texts_numbers(name: str) -> None:
    ordinary = small_data.sentences(40, seed=3)
    odd = [*HOSTILE, "", " ", ".", ordinary[0]]
    mixed = [text for pair in zip(ordinary, odd, strict=False) for text in pair]
    mixed += ordinary[len(odd) :]
    place = [mixed.index(text) for text in ordinary]
    alone, among = kernel(name, ordinary, ordinary), kernel(name, mixed, mixed)
    np.testing.assert_array_equal(among[np.ix_(place, place)], alone)
    assert np.isfinite(among).all()
    assert among.min() >= 0
    # the same text twice has the same row twice
    twice = [n for n, text in enumerate(mixed) if text == ordinary[0]]
    np.testing.assert_array_equal(among[twice[0]], among[twice[1]])
    np.testing.assert_array_equal(kernel(name, mixed, mixed, threads=1), among)


@pytest.mark.drill(
    "Raw files and downloads",
    "A user's own files of one data set have the same name in two folders",
    "no effect",
    "each has a sum of its own",
)
def test_own_files_of_one_name_have_sums_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {}
    for part, text in (("one", "a"), ("two", "b")):
        path = tmp_path / part / "rated.tsv"
        path.parent.mkdir()
        path.write_text(f"text\tquality\n{text}\t1\nc{text}\t2\n")
        files[part] = str(path)

    def load(loader: str, task: str, files: dict[str, str], options: object) -> RatedTexts:
        return table.tidy(read_ratings(list(files.values())), task)

    monkeypatch.setattr("refless.data.sources.load", load)
    data, sums = read_raw("mine", "table", files, {}, "error")
    assert (len(data.texts), sorted(sums)) == (4, sorted(files.values()))
    read_raw("mine", "table", files, {}, "error", made_from=sums)
