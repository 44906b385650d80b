"""The report in headless Chromium, offline, on a laptop's and a phone's width.

What a reader does: look at the first page, click on everything that it names, sort the tables, go
back by the menu. Skipped where there is no Chromium (``REFLESS_CHROMIUM`` may name one).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.browser import Browser, chromium
from tests.conftest import Project

PROGRAM = chromium()
pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif(
        PROGRAM is None,
        reason="needs Chromium: install chromium, or set REFLESS_CHROMIUM to the program",
    ),
]
WIDTHS = {"laptop": (1366, 768), "phone": (390, 844)}
LINKS = "document.querySelectorAll('.toc a')"
# which result a link of the first page leads to, by what it hands to the page
TARGET = "resultPath: '"
SHOWN = """(() => {
  const rows = [...document.querySelectorAll("tbody tr")];
  const size = e => (r => [r.width, r.height])(e.getBoundingClientRect());
  return {
    ready: document.readyState === "complete",
    title: document.querySelector("h1")?.textContent ?? "",
    text: document.body.innerText,
    images: [...document.images].map(e => [e.naturalWidth, ...size(e)]),
    table: rows.length ? size(document.querySelector("table")) : null,
    rows: rows.map(row => [...row.cells].map(cell => cell.textContent)),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  };
})()"""
VALUES = """const heads = [...document.querySelectorAll("th")];
const values = i => [...document.querySelectorAll("tbody tr")].map(
  row => row.cells[i].dataset.value ?? row.cells[i].textContent).filter(v => v !== "");"""
# the first column in which anything differs, or -1
FIRST = f"(() => {{ {VALUES} return heads.findIndex((_, i) => new Set(values(i)).size > 1) }})()"
ORDER = (
    f"(i => {{ {VALUES} const number = heads[i].dataset.number;"
    " const way = heads[i].getAttribute('aria-sort'), sign = way === 'descending' ? -1 : 1;"
    " return way && values(i).every((v, k, all) => k === 0 ||"
    " sign * (number ? v - all[k - 1] : v.localeCompare(all[k - 1])) >= 0) ? way : 'none' })(%d)"
)


@dataclass
class Walk:
    """What was met on the way: by result, what its page showed; and what went wrong."""

    report: Path
    links: list[tuple[str, str]] = field(default_factory=list)
    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    categories: dict[str, list[str]] = field(default_factory=dict)
    overflow: dict[str, int] = field(default_factory=dict)
    first_screen: int = 0
    errors: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def report(small: Project) -> Path:
    """The report of the small project, made again if another test has changed something."""
    small.snakemake("report")
    return small.path / "results/report.html"


@pytest.fixture(scope="module", params=WIDTHS)
def walk(
    request: pytest.FixtureRequest, report: Path, tmp_path_factory: pytest.TempPathFactory
) -> Walk:
    """A reader's way through the whole report."""
    assert PROGRAM is not None
    # one file: a copy elsewhere shows the same
    place = tmp_path_factory.mktemp("alone")
    alone = place / "report.html"
    alone.write_bytes(report.read_bytes())
    with Browser(PROGRAM, place / "profile", *WIDTHS[request.param]) as browser:
        found = Walk(report)
        try:
            walk_through(browser, alone, found)
        except AssertionError as error:
            browser.picture(place / "failed.png")
            error.add_note(f"seen then: {place / 'failed.png'}; errors: {browser.errors}")
            raise
        found.errors = browser.errors
    return found


def walk_through(browser: Browser, report: Path, walk: Walk) -> None:
    browser.open(report)
    browser.wait(f"window.app && {LINKS}.length")
    walk.overflow["first page"] = overflow(browser)
    walk.first_screen = browser.run(
        f"[...{LINKS}].filter(a => a.getBoundingClientRect().bottom <= innerHeight).length"
    )
    names = browser.run(f"[...{LINKS}].map(a => [a.textContent, a.getAttribute('href')])")
    walk.links = [(name, href.partition(TARGET)[2].partition("'")[0]) for name, href in names]
    for place, (_, path) in enumerate(walk.links):
        browser.click(f"{LINKS}[{place}]")
        walk.pages[path] = shown(browser)
        walk.overflow[path] = overflow(browser)
        if walk.pages[path]["rows"]:
            walk.pages[path]["sorted"] = sorts(browser)
        # home, by the first link of the menu's bar
        browser.click("document.querySelector('nav nav a')")
        browser.wait(f"{LINKS}.length")
    for category in browser.run("Object.keys(categories)"):
        browser.click(
            "[...document.querySelectorAll('nav li a')]"
            f".find(a => a.innerText.trim() === {category!r})"
        )
        browser.wait("document.querySelector('nav table')")
        rows = "[...document.querySelectorAll('nav tbody tr')].map(r => r.cells[1].textContent)"
        walk.categories[category] = browser.run(rows)
        walk.overflow[category] = overflow(browser)
        browser.click("document.querySelector('nav nav a')")
        browser.wait("!document.querySelector('nav table')")


def overflow(browser: Browser) -> int:
    """Pixels by which the page, its menu or its content is wider than there is room."""
    parts = "document.documentElement, ...document.querySelectorAll('nav, #app > div > div')"
    found: int = browser.run(f"Math.max(...[{parts}].map(e => e.scrollWidth - e.clientWidth))")
    return found


def shown(browser: Browser) -> dict[str, Any]:
    browser.wait("document.querySelector('iframe')")
    browser.wait("document.readyState === 'complete' && document.querySelector('h1')", True)
    found: dict[str, Any] = browser.run(SHOWN, True)
    return found


def sorts(browser: Browser) -> bool:
    """Whether a click on a head sorts the rows, and another turns them round.

    Tried on the first column in which anything differs; where none does, there is nothing to see.
    """
    place = browser.run(FIRST, True)
    for way in ("ascending", "descending"):
        if place < 0:
            break
        browser.click(f"document.querySelectorAll('th')[{place}].firstChild", True)
        if browser.run(ORDER % place, True) != way:
            return False
    return True


def catalogue(walk: Walk) -> dict[str, dict[str, str]]:
    path = walk.report.parents[1] / "workflow/report/catalogue.yaml"
    found: dict[str, dict[str, str]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def test_no_error_and_no_request(walk: Walk) -> None:
    assert walk.errors == []


def test_the_first_page_names_everything(walk: Walk) -> None:
    results = walk.report.parent
    expected = {f"results/tables/{table}.html" for table in catalogue(walk)}
    expected |= {f"results/figures/{path.name}" for path in results.glob("figures/*.svg")}
    expected |= {"results/run/provenance.html", "results/run/resources.svg"}
    assert sorted(path for _, path in walk.links) == sorted(expected)
    names = {path: name for name, path in walk.links}
    for table, entry in catalogue(walk).items():
        assert names[f"results/tables/{table}.html"] == f"{entry['item']}: {entry['content']}"


def test_a_laptops_first_screen_has_every_link(walk: Walk, request: pytest.FixtureRequest) -> None:
    if "laptop" in request.node.callspec.id:
        assert walk.first_screen == len(walk.links)


def test_one_click_shows_the_table_or_the_figure(walk: Walk) -> None:
    for path, page in walk.pages.items():
        assert page["title"], path
        if path.endswith(".svg"):
            [(natural, width, height)] = page["images"]
            assert natural > 0, path
            assert width > 300, path
            assert height > 100, path
            # the caption stands with it
            assert len(page["text"]) > len(page["title"]) + 80, path
        elif "/tables/" in path:
            assert page["table"][0] > 100, path
            assert page["table"][1] > 20, path
            with open(walk.report.parents[1] / path.replace(".html", ".csv")) as handle:
                assert len(page["rows"]) == len(list(csv.reader(handle))) - 1, path
    assert "snakemake --cores" in walk.pages["results/run/provenance.html"]["text"]


def test_every_published_cell_is_one_click_away(walk: Walk) -> None:
    seen = 0
    for table in catalogue(walk):
        rows = walk.pages[f"results/tables/{table}.html"]["rows"]
        path = walk.report.parent / f"tables/{table}.csv"
        with open(path, newline="", encoding="utf-8") as handle:
            for row, cells in zip(csv.DictReader(handle), rows, strict=True):
                for column, value in row.items():
                    if column.startswith("paper") and value:
                        printed = [cell.rpartition("paper ")[2] for cell in cells]
                        assert value in printed, (table, column, value)
                        seen += 1
    assert seen > 300


def test_tables_sort(walk: Walk) -> None:
    tables = {path: page["sorted"] for path, page in walk.pages.items() if "sorted" in page}
    assert len(tables) == len(catalogue(walk))
    assert [path for path, does in tables.items() if not does] == []


def test_nothing_is_wider_than_the_screen(walk: Walk) -> None:
    wide = {name: pixels for name, pixels in walk.overflow.items() if pixels > 0}
    inside = {path: page["overflow"] for path, page in walk.pages.items() if page["overflow"] > 0}
    assert (wide, inside) == ({}, {})


def test_the_menu_lists_every_category(walk: Walk) -> None:
    listed = [name for names in walk.categories.values() for name in names]
    assert len(listed) == len(walk.links)
    assert sorted(listed) == sorted(name.partition(": ")[2] for name, _ in walk.links)


def test_the_benchmark_shows_peer_ratio_machine_and_date(walk: Walk) -> None:
    text = walk.pages["results/tables/benchmark_peers.html"]["text"]
    for word in ("nltk", "rouge-score", "sacrebleu", "times as fast", "processor", "date", "load"):
        assert word in text
