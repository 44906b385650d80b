"""One renderer: CSV, Markdown, HTML and record of a table from its entry."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.errors import FormatError, StaleError
from refless.report import tables
from refless.report.catalogue import Column, Entry, Section
from refless.store import inputs

COLUMNS = {
    "model": Column(),
    "kernel": Column(code=True),
    "rho": Column(label="Spearman", digits=3, star="significant"),
    "n_covered": Column(label="covered", of="n"),
}
TRICKY = 'put it at "manual/a;b | c.csv"; or leave it, <i>maybe</i>'
MISSING = [
    {
        "of": {"task": "news", "kernel": "rouge"},
        "code": "raw_file_missing",
        "sentence": "the file a;b | c.csv is missing",
        "remedy": TRICKY,
    },
    {"of": {"task": "news"}, "code": "second", "sentence": "so is another", "remedy": ""},
    {"of": {"task": "chat"}, "code": "elsewhere", "sentence": "not this row", "remedy": ""},
]


def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "task": ["news", "news", "news"],
            "model": ["bleu", "bleu", "rouge"],
            "kernel": ["bleu.char", "bleu.word", "rouge"],
            "rho": [0.3254, 0.1, np.nan],
            "rho_low": [0.2, 0.1, np.nan],
            "rho_high": [0.4, 0.1, np.nan],
            "paper_rho": ["0.325", "", "0.2"],
            "significant": [1, 0, None],
            "n_covered": pd.array([198, 10, None], "Int64"),
            "n": pd.array([199, 199, None], "Int64"),
            "provenance": ["computed", "shipped", ""],
            "note": [["first; with a semicolon", "second | with a bar"], [], []],
        }
    )


@pytest.fixture
def entry(monkeypatch: pytest.MonkeyPatch) -> Entry:
    made = Entry("one", "A paper", "table 1", "models", "With {draws} draws.", columns=COLUMNS)
    monkeypatch.setattr(tables, "catalogue", lambda: {"one": made})
    return made


def published(tmp_path: Path, **more: Any) -> tuple[list[dict[str, str]], str, str]:
    tables.publish("one", table(), tmp_path, missing=MISSING, facts={"draws": 7}, **more)
    with open(tmp_path / "one.csv", newline="", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    texts = [(tmp_path / f"one.{kind}").read_text(encoding="utf-8") for kind in ("md", "html")]
    return rows, texts[0], texts[1]


def test_a_row_without_numbers_never_stands_without_a_reason(entry: Entry, tmp_path: Path) -> None:
    tables.publish("one", table(), tmp_path, missing=MISSING[2:], facts={"draws": 7})
    with open(tmp_path / "one.csv", newline="", encoding="utf-8") as handle:
        assert "not available" in list(csv.DictReader(handle))[2]["note"]


def test_rows_without_numbers_get_the_reasons_that_are_about_them(
    entry: Entry, tmp_path: Path
) -> None:
    rows, _, web = published(tmp_path)
    assert rows[2]["reason"] == "raw_file_missing second"
    assert [row["reason"] for row in rows[:2]] == ["", ""]
    assert TRICKY in rows[2]["note"]
    assert "not this row" not in rows[2]["note"]
    assert "<i>" not in web


def test_a_row_keeps_a_reason_of_its_own() -> None:
    own = table().assign(reason=["", "", "quoted"])
    found = tables.join_reasons(own, MISSING, {})
    assert found["reason"].tolist() == ["", "", "quoted"]
    assert found["note"][2] == []


def test_reasons_are_whole_whatever_characters_they_hold(entry: Entry, tmp_path: Path) -> None:
    """Reasons were once split at semicolons and bars."""
    _, page, _ = published(tmp_path)
    listed = page.partition("## Reasons and notes")[2].strip().splitlines()
    assert [line for line in listed if line[:1].isdigit()] == [
        "1. first; with a semicolon",
        "2. second | with a bar",
        f"3. not available: the file a;b | c.csv is missing; {TRICKY}",
        "4. not available: so is another",
    ]
    assert "| 1, 2 |" in page
    assert "| 3, 4 |" in page


def test_a_cell_has_interval_star_total_and_the_published_value(
    entry: Entry, tmp_path: Path
) -> None:
    _, page, _ = published(tmp_path, notes=["made from x", "made from x"])
    assert "| bleu | `bleu.char` | 0.325* (0.200, 0.400) [0.325] | 198 of 199 |" in page
    assert "| bleu | `bleu.word` | 0.100 | 10 of 199 |" in page
    assert "| rouge | `rouge` | – [0.2] |  |" in page
    assert "With 7 draws." in page
    assert page.count("- made from x\n") == 1


def test_a_bare_cell_has_the_value_alone() -> None:
    row = table().to_dict("records")[0]
    assert tables.cell(row, "rho", Column(digits=3, bare=True)) == "0.325"


def test_the_record_tells_where_rows_came_from(entry: Entry, tmp_path: Path) -> None:
    published(tmp_path)
    record = json.loads((tmp_path / "one.json").read_text())
    assert record["provenance"] == {"computed": 1, "shipped": 1, "not available": 1}
    assert record["title"] == "A paper, table 1: models"


@pytest.mark.drill(
    "A file between two stages is not what was written",
    "A finished table is edited, or is another table under this one's name",
    "refused",
    "by what reads it; deleted and run again, it is made",
)
def test_who_reads_a_table_knows_that_it_is_whole(entry: Entry, tmp_path: Path) -> None:
    published(tmp_path)
    path = tmp_path / "one.csv"
    assert list(tables.read_published(path, ["rho"])["rho"])[:2] == [0.3254, 0.1]
    with pytest.raises(FormatError, match="sigma"):
        tables.read_published(path, ["sigma"])
    record, raw = path.with_suffix(".json"), path.read_bytes()
    path.write_bytes(raw.replace(b"0.3254", b"0.4254"))
    with pytest.raises(StaleError) as caught:
        tables.read_published(path)
    assert "run again" in caught.value.remedy
    path.write_bytes(raw)
    # another table with its record under this one's name
    for file in (path, record):
        shutil.copy(file, file.with_stem("other"))
    with pytest.raises(StaleError):
        tables.read_published(path.with_stem("other"))


@pytest.mark.drill(
    "A file between two stages is not what was written",
    "A file, table or figure of another run, whole and valid, lies in the place of this run's",
    "refused",
    "by what reads it: it was not made from what lies here, or not under these settings",
)
def test_a_table_of_another_run_is_refused(
    entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "other"):
        (tmp_path / name / "results").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / name)
        Path("results/numbers.csv").write_text(name, encoding="utf-8")
        with inputs.given(["results/numbers.csv"]):
            published(Path("results"))
        tables.read_published("results/one.csv")
    for kind in ("csv", "json"):
        shutil.copy(tmp_path / f"one/results/one.{kind}", f"results/one.{kind}")
    with pytest.raises(StaleError, match="was made from another"):
        tables.read_published("results/one.csv")


@pytest.mark.drill(
    "A file between two stages is not what was written",
    "One bit of a finished table or of its record is another (each bit was tried)",
    "refused",
    "by what reads it: the report, a figure, the count of agreeing cells",
)
def test_no_flipped_bit_of_a_table_or_its_record_goes_unnoticed(
    entry: Entry, tmp_path: Path
) -> None:
    published(tmp_path)
    path = tmp_path / "one.csv"
    before = tables.read_record(path)
    for file in (path, path.with_suffix(".json")):
        raw = file.read_bytes()
        for bit in range(8 * len(raw)):
            place, other = bit // 8, raw[bit // 8] ^ (1 << bit % 8)
            file.write_bytes(raw[:place] + bytes([other]) + raw[place + 1 :])
            try:
                found = tables.read_record(path)
            except (FormatError, StaleError):
                continue
            assert found == before  # white space
        file.write_bytes(raw)


def test_a_table_without_its_files_is_named(entry: Entry, tmp_path: Path) -> None:
    published(tmp_path)
    path = tmp_path / "one.csv"
    path.unlink()
    with pytest.raises(FormatError):
        tables.read_published(path)


@pytest.mark.parametrize(
    ("section", "models"),
    [
        (Section(), ["bleu.char", "bleu.word", "rouge"]),
        (Section(first_of=("task", "model")), ["bleu.char", "rouge"]),
        (Section(rest_of=("task", "model")), ["bleu.word"]),
        (Section(where={"provenance": ["shipped"]}), ["bleu.word"]),
        (Section(where={"model": "rouge"}), ["rouge"]),
        (Section(has="rho"), ["bleu.char", "bleu.word"]),
    ],
)
def test_a_section_has_its_rows(section: Section, models: list[str]) -> None:
    page = tables.markdown_page(
        Entry("", "", "", "", columns=COLUMNS, sections=(section,)), table(), "", []
    )
    lines = [line for line in page.splitlines() if line.startswith("| ") and "`" in line]
    assert [line.split("`")[1] for line in lines] == models


def test_a_section_for_each_value_and_a_table_that_goes_across() -> None:
    wide = Section(
        title="from {value}",
        by="task",
        pivot={"rows": ["model"], "columns": "kernel", "value": "rho"},
    )
    page = tables.markdown_page(
        Entry("", "", "", "", columns=COLUMNS, sections=(wide,)), table(), "", []
    )
    assert "## from news" in page
    assert "| model | bleu.char | bleu.word | rouge |" in page
    assert "| bleu | 0.325* (0.200, 0.400) [0.325] (1, 2) | 0.100 |  |" in page


def test_every_entry_of_the_catalogue_can_be_read() -> None:
    from refless.report.catalogue import catalogue

    for name, made in catalogue().items():
        assert made.paper, name
        assert made.item, name
        assert made.caption, name
        assert not made.made_with or made.made_with in catalogue(), name


@pytest.mark.parametrize("misspelt", ["columns", "section", "function"])
def test_a_column_that_is_not_there_is_named(
    entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, misspelt: str
) -> None:
    given = table()
    wrong = "spaerman"
    if misspelt == "columns":
        made = replace(entry, columns={**COLUMNS, wrong: Column()})
    elif misspelt == "section":
        made = replace(entry, sections=(Section(where={wrong: 1}),))
    else:
        made, wrong = entry, "provenance"
        given = given.drop(columns=wrong)
    monkeypatch.setattr(tables, "catalogue", lambda: {"one": made})
    with pytest.raises(FormatError, match=wrong) as caught:
        tables.publish("one", given, tmp_path, facts={"draws": 7})
    assert "rho_low" in caught.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_an_optional_column_may_be_missing(
    entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = replace(entry, columns={**COLUMNS, "other": Column(optional=True)})
    monkeypatch.setattr(tables, "catalogue", lambda: {"one": made})
    assert published(tmp_path)[0][0]["model"] == "bleu"


def test_whole_numbers_stay_whole_beside_empty_cells() -> None:
    row = {"tokens": 60.0, "share": 60.5}
    assert tables.cell(row, "tokens", Column()) == "60"
    assert tables.cell(row, "share", Column()) == "60.5"


def test_a_key_that_no_entry_has_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from refless.report import catalogue as package

    (tmp_path / "mine.yaml").write_text("one: {paper: A, item: table 1, content: c, captoin: x}")
    monkeypatch.setattr(package, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(FormatError, match=r"one:.*captoin") as caught:
        package.catalogue.__wrapped__()
    assert "mine.yaml" in str(caught.value.path)


@pytest.mark.drill(
    "A file between two stages is not what was written",
    "Another run writes its table over this one's while it is being written",
    "refused",
    "sums are of what a run wrote, not of what it finds",
)
def test_a_table_of_another_run_is_not_sealed(
    entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = tables.write_table

    def overtaken(own: pd.DataFrame, path: Path) -> str:
        found = write(own, path)
        path.write_bytes(path.read_bytes().replace(b"0.", b"1."))
        return found

    monkeypatch.setattr(tables, "write_table", overtaken)
    with pytest.raises(StaleError, match="not the file that was written"):
        tables.publish("one", table(), tmp_path, missing=MISSING, facts={"draws": 7})
