"""The report: what it has, what it counts, and that it is one file."""

import json
import re
from pathlib import Path

import pytest

from refless.errors import FormatError, StaleError
from refless.report import page
from tests.report.made_up import ITEMS, make_page, make_results, table1, wide


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return make_results(tmp_path / "results")


def test_every_item_is_there_once_whole_and_linked(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    for name in ITEMS:
        assert text.count(f'id="{name}"') == 1
    linked = set(re.findall(r'href="#([^"]+)"', text))
    assert linked <= set(re.findall(r' id="([^"]+)"', text))
    assert set(ITEMS) - {"all_cells-drawn"} <= linked
    assert text.count("<tr>") == 3 + len(table1()) + len(wide()) + 8  # with heads


def test_cells_and_rows_are_counted(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    counts = re.findall(r'<span class="(\w+)">(\d+) ', text)
    assert counts == [("equal", "5"), ("inside", "2"), ("outside", "1"), ("absent", "0")]
    rows = table1()["source"].eq("computed").sum() + 8
    assert f"{rows} computed, 150 shipped, {len(table1()) - rows + 8} absent" in text


def test_nothing_becomes_markup_and_no_text_of_the_data_is_there(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert "models &amp; &lt;annotators&gt;" in text
    assert not re.search("<(meteor|annotators)>", text)
    assert "secret words" not in text


def test_the_record_has_what_a_rerun_needs(report: Path) -> None:
    record = json.loads((report.parent / "run/provenance.json").read_text())
    assert record["data"] == {"chat": {"raw.csv": "0123abc"}}
    assert record["tables"]["first_wide"]["source"] == {"shipped": 150}
    assert record["settings"] == {"mirror": ""}
    assert {"code", "packages", "python", "machine"} <= set(record)


def test_a_huge_drawing_is_shown_in_pixels(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 'src="data:image/svg+xml;base64,' in report.read_text()
    monkeypatch.setattr(page, "LARGEST_SVG", 10)
    make_page(report.parent)
    assert 'src="data:image/png;base64,' in report.read_text()


def test_a_changed_table_is_refused(report: Path) -> None:
    path = report.parent / "tables/first_wide.csv"
    path.write_text(path.read_text().replace("row1", "row2", 1))
    with pytest.raises(StaleError, match="first_wide"):
        make_page(report.parent)


def test_a_changed_or_missing_figure_is_refused(report: Path) -> None:
    path = report.parent / "figures/first_figure1.svg"
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(StaleError, match="first_figure1"):
        make_page(report.parent)
    path.unlink()
    with pytest.raises(FormatError, match="first_figure1"):
        make_page(report.parent)
