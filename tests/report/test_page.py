"""The report: what it has, what it counts, and that it is one file."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from refless.errors import FormatError, StaleError
from refless.report import page
from tests.report.made_up import ITEMS, make_page, make_results


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return make_results(tmp_path / "results")


def test_every_item_is_named_once_and_linked(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    for name in ITEMS:
        assert text.count(f'id="{name}"') == 1
        assert text.count(f'<li><a href="#{name}"') == 1
    linked = set(re.findall(r'href="#([^"]+)"', text))
    assert linked <= set(re.findall(r' id="([^"]+)"', text))
    assert {"paper-first-paper", "paper-second--paper", "resources", "provenance"} <= linked


def test_published_cells_are_counted_by_agreement(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    found = re.search(r"(\d+) cells of the papers' tables: (.*)", text)
    assert found
    assert int(found[1]) == 8
    assert re.findall(r">(\d+) ([a-z ]+)<", found[2]) == [
        ("5", "equal"),
        ("2", "inside"),
        ("1", "outside"),
    ]
    assert "25 computed, 150 shipped, 4 not available" in text


def test_the_first_screen_says_which_claims_do_not_hold(report: Path) -> None:
    front = report.read_text(encoding="utf-8").partition('class="front"')[2].partition("<nav")[0]
    assert "4 claims" in front
    assert re.findall(r"<b>(\d+)</b> (hold|do not hold|undecided)", front) == [
        ("1", "hold"),
        ("1", "do not hold"),
        ("2", "undecided"),
    ]
    assert "(1 of these could not be tested here)" in front
    assert front.count("<li>") == 1
    assert "<li>what is &lt;said&gt; does not hold</li>" in front
    assert 'id="all_cells-drawn"' in front


def test_captions_have_the_facts_of_the_run(report: Path) -> None:
    assert "Intervals from 20 draws." in report.read_text()
    assert "What rises." in report.read_text()


def test_nothing_becomes_markup_and_no_text_of_the_data_is_there(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert "models &amp; &lt;annotators&gt;" in text
    assert "&lt;meteor&gt;" in text
    assert "tidy &amp; &lt;clean&gt;" in text
    assert not re.search("<(meteor|annotators|note|clean)>", text)
    assert "secret words" not in text


def test_the_file_asks_for_nothing(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert set(re.findall(r'(?:src|href)="(.)', text)) == {"#", "d"}
    assert "http://" not in text
    assert "https://" not in text


def test_cost_and_origin_stand_in_the_page_and_in_files(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert text.index("<th scope=row>slow") < text.index("<th scope=row>fast")
    assert "0123abc" in text
    assert "snakemake --cores 8 --config numbers=computed" in text
    record = json.loads((report.parent / "run/provenance.json").read_text())
    assert record["data"] == {"chat": {"raw.csv": "0123abc"}}
    assert record["tables"]["first_wide"]["provenance"] == {"shipped": 150}
    assert pd.read_csv(report.parent / "run/resources.csv")["rule"].tolist() == ["slow", "fast"]


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


@pytest.mark.drill(
    "A file between two stages is not what was written",
    "A drawn figure is edited",
    "refused",
    "by the report; deleted and run again, it is drawn",
)
@pytest.mark.parametrize("limit", [page.LARGEST_SVG, 10], ids=["svg", "png"])
def test_a_changed_figure_is_refused(
    report: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(page, "LARGEST_SVG", limit)
    path = report.parent / f"figures/first_figure1.{'png' if limit == 10 else 'svg'}"
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(StaleError, match="first_figure1") as caught:
        make_page(report.parent)
    assert caught.value.path == str(path)
    assert "run again" in caught.value.remedy


@pytest.mark.drill(
    "A file between two stages is not what was written",
    "A file, table or figure of another run, whole and valid, lies in the place of this run's",
    "refused",
    "by what reads it: it was not made from what lies here, or not under these settings",
)
def test_another_figure_under_this_name_is_refused(report: Path) -> None:
    figures = report.parent / "figures"
    for kind in ("svg", "png", "json"):
        shutil.copy(figures / f"second_table1.{kind}", figures / f"first_figure1.{kind}")
    with pytest.raises(StaleError, match="first_figure1"):
        make_page(report.parent)


@pytest.mark.drill(
    "Settings",
    "Snakemake is told to pass over a change of settings (--touch, --rerun-triggers mtime)",
    "refused",
    "by the report, which shows no table and no figure that was made under others",
)
def test_what_was_made_under_other_settings_is_refused(report: Path) -> None:
    place = str(report.parent / "tables/first_wide.json")
    make_page(report.parent, {place: json.loads(Path(place).read_text())["told"]})
    with pytest.raises(StaleError, match=r"first_wide\.json: was made under other settings"):
        make_page(report.parent, {place: "another sum"})


def test_a_missing_figure_is_named(report: Path) -> None:
    (report.parent / "figures/first_figure1.svg").unlink()
    with pytest.raises(FormatError, match="first_figure1"):
        make_page(report.parent)
