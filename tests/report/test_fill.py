"""Numbers in prose are those of the tables."""

import re
from pathlib import Path

import pandas as pd
import pytest

from refless.errors import FormatError
from refless.report import fill
from refless.report.fill import PLACE, as_html, filled, read_numbers, section

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/findings.md")
NUMBERS = {"one": {"from": "t", "column": "r", "who": "a"}}


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"who": ["a", "b"], "r": [0.98765, None], "r_low": [-0.1, None], "r_high": [1, None]}
    monkeypatch.setattr(fill, "read_published", lambda path: pd.DataFrame(rows))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5", "1.0"),
        ("0.555", "0.988"),
        ("7%", "99%"),
        ("0.50 (0.1, 0.2)", "0.99 (-0.10, 1.00)"),
        ("", "0.988"),
    ],
)
def test_a_number_keeps_the_form_that_it_has_in_the_page(text: str, expected: str) -> None:
    page = f"r is <!--one-->{text}<!--/-->, and 3"
    assert filled(page, NUMBERS, Path()) == f"r is <!--one-->{expected}<!--/-->, and 3"


@pytest.mark.parametrize("row", [{}, {"who": "b"}, {"who": "c"}])
def test_a_number_that_is_not_one_cell_is_a_dash(row: dict[str, str]) -> None:
    numbers = {"one": {"from": "t", "column": "r", **row}}
    assert filled("<!--one-->1<!--/-->", numbers, Path()) == "<!--one-->–<!--/-->"


def test_an_unknown_number_is_named() -> None:
    with pytest.raises(FormatError, match="other"):
        filled("<!--other-->1<!--/-->", NUMBERS, Path())


def test_a_page_as_html_has_neither_marks_nor_links_into_the_repository() -> None:
    text = "![a](b.png)\n\n**r** is <!--one-->1<!--/-->. [More](docs/x.md#y)"
    assert as_html(text).strip() == "<p><strong>r</strong> is 1.</p>"


def test_a_section_ends_where_the_next_begins() -> None:
    assert section("# A\n\n## B\n\nb\n\n### c\n\n## D\n\nd\n", "B") == "b\n\n### c"


@pytest.mark.parametrize("page", PAGES)
def test_pages_name_numbers_that_there_are(page: str) -> None:
    text, numbers = (ROOT / page).read_text("utf-8"), read_numbers(ROOT / "resources/numbers.yaml")
    names = {name for name, _ in PLACE.findall(text)}
    assert names
    assert names <= set(numbers)
    assert "–" not in {number for _, number in PLACE.findall(text)}
    # a line that begins with a comment is no Markdown any more
    assert not re.search(r"(?m)^\s*<!--", text)
