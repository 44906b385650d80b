"""Tables as web pages: what is shown, how it is coloured, and that no text becomes markup."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from refless.errors import FormatError
from refless.report.catalogue import Column, Entry, Section
from refless.report.webpage import read_view, table_page

TABLE = """\
model,task,spearman,spearman_low,spearman_high,paper_spearman,agreement,n,empty,note
bleu,a,0.3251,0.1,0.5,0.325,equal,199,,
rouge,a,0.2,0.1,0.5,0.3,inside,199,,one choice
meteor,a,0.2,0.1,0.25,0.3,outside,199,,
bertscore,a,,,,0.225,not available,,,no <model> & no torch
"""


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "table.csv"
    path.write_text(TABLE, encoding="utf-8")
    return table_page(path, "A <table>", "First & last.")


def cells(page: str) -> list[list[tuple[str, str]]]:
    """(class, content) of each cell of each row."""
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        re.findall(r'<t[hd](?: scope=row)?(?: class="([^"]*)")?[^>]*>(.*?)(?=<t[hd]|$)', row)
        for row in re.findall(r"<tr>(.*?)</tr>", body)
    ]


def test_interval_and_published_value_stand_in_the_column(page: str) -> None:
    heads = re.findall(r"<button>(.*?)</button>", page)
    assert heads == ["model", "task", "spearman", "agreement", "n", "note"]
    first = cells(page)[0][2][1]
    assert "0.3251" in first
    assert "(0.1, 0.5)" in first
    assert first.endswith("[0.325]")


def test_each_cell_has_the_colour_of_its_own_agreement(page: str) -> None:
    kinds = [row[2][0].split()[-1] for row in cells(page)]
    assert kinds == ["equal", "inside", "outside", "available"]
    assert [row[3][0] for row in cells(page)] == ["equal", "inside", "outside", "available"]


def test_a_missing_value_shows_the_published_one_and_sorts_last(page: str) -> None:
    assert cells(page)[3][2][1].startswith("–")
    assert cells(page)[3][2][1].endswith("[0.225]")
    assert 'data-value="">–' in page


def test_text_never_becomes_markup(page: str) -> None:
    assert "A &lt;table&gt;" in page
    assert "First &amp; last." in page
    assert "no &lt;model&gt; &amp; no torch" in page
    assert "<model>" not in page


@pytest.mark.parametrize("text", ['"><script>x()</script>', "=1+2", "\u202e\u0007", "'&quot;"])
def test_hostile_text_is_shown_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    quoted = text.replace('"', '""')
    path.write_text(f'model,value\n"{quoted}",1\n', encoding="utf-8")
    page = table_page(path, "title")
    assert page.count("<script>") == 1
    assert text.startswith(("=", "\u202e")) or text not in page


def test_the_page_asks_for_nothing_from_elsewhere(page: str) -> None:
    assert not re.search(r" (?:src|href)=|url\(|@import|https?://", page)
    assert "default-src 'none'" in page


def test_numbers_keep_what_they_say(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("n,p,x\n1672,1.58e-15,0.5\n3,0.25,2.0\n", encoding="utf-8")
    shown = [[content for _, content in row] for row in cells(table_page(path, "t"))]
    assert shown == [["1672", "1.58e-15", "0.5"], ["3", "0.25", "2"]]


def test_the_end_of_an_interval_is_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("x_ci95_low,paper_x_ci95_low\n0.1,0.4\n", encoding="utf-8")
    page = table_page(path, "t")
    [[(kind, content)]] = cells(page)
    assert kind == "number"
    assert content.endswith("[0.4]")
    assert 'class="key"' not in page


def test_what_was_printed_keeps_its_digits(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("ours,paper\n1.0,1.00\n", encoding="utf-8")
    assert [content for _, content in cells(table_page(path, "t"))[0]] == ["1", "1.00"]


@pytest.mark.parametrize(
    ("content", "what"), [("", "cannot be read"), ("a,b\n1\n", "1 fields, but the header has 2")]
)
def test_a_broken_table_is_named(tmp_path: Path, content: str, what: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=what) as error:
        table_page(path, "t")
    assert "table.csv" in str(error.value)


def test_heading_interval_and_star_are_those_of_the_entry(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(
        "x,x_low,x_high,x_wide_low,x_wide_high,paper_x,sure\n"
        "0.3,0.25,0.35,0.1,0.5,0.45,1\n"
        "0.2,0.15,0.25,0.0,0.4,0.2,0\n",
        encoding="utf-8",
    )
    column = Column("rho", 3, star="sure", interval="x_wide")
    entry = Entry("t", "p", "i", "c", sections=(Section(columns={"x": column}),))
    page = table_page(path, "t", entry=entry)
    first, second = ([content for _, content in row] for row in cells(page))
    assert "0.3* (0.1, 0.5) [0.45]" in " ".join(re.sub("<[^>]*>", "", first[0]).split())
    assert "*" not in second[0]
    assert 'title="x"><button>rho</button>' in page
    # the published value lies in the wide interval, which is about something else
    assert read_view(path, entry).rows[0][0].verdict == "outside"


def test_each_published_cell_is_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(
        "model,reading,x,paper_x,y,paper_y,agreement\n"
        "bleu,published,0.30,0.3,1,2,outside\n"
        "bleu,exact,0.31,0.4,1,2,outside\n"
        "rouge,published,,0.3,,,not available\n"
        "stand_in,published,0.3,0.3,,,\n",
        encoding="utf-8",
    )
    counts = {"equal": 1, "inside": 0, "outside": 1, "not available": 1}
    entry = Entry("t", "p", "i", "c", paper_row=("model",))
    assert read_view(path, entry).counts == counts
    # without the columns that name a row of the paper, each row is one
    assert read_view(path).counts == counts | {"outside": 3}
