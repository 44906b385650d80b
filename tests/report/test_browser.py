"""The report and the handbook in headless Chromium, offline, on a laptop's and a phone's width.

Skipped where Playwright or Chromium is missing (``REFLESS_CHROMIUM`` may name the program).
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from tests.conftest import ROOT
from tests.report.made_up import ITEMS, make_results

playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
NAMES = ("chromium", "chromium-browser", "google-chrome")
PROGRAM = os.environ.get("REFLESS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(
        PROGRAM is None,
        reason="needs Chromium: install chromium, or set REFLESS_CHROMIUM to the program",
    ),
]
SCREENS = {"laptop": (1366, 768), "phone": (390, 844)}
# the visible rows of an open table, as the values that its columns are sorted by
ROWS = """table => [...table.tBodies[0].rows].filter(row => row.getClientRects().length)
  .map(row => [...row.cells].map(cell => cell.dataset.value ?? cell.textContent))"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file: a copy elsewhere shows the same."""
    made = make_results(tmp_path_factory.mktemp("made") / "results")
    return Path(shutil.copy(made, tmp_path_factory.mktemp("alone")))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as run:
        program = run.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        yield program
        program.close()


def new_page(browser: Any, size: str) -> tuple[Any, list[str]]:
    """A page, and what will go wrong on it: errors, and requests to elsewhere."""
    width, height = SCREENS[size]
    page = browser.new_page(viewport={"width": width, "height": height}, offline=True)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda one: one.url.startswith(("file:", "data:")) or faults.append(one.url))
    return page, faults


@pytest.fixture(scope="module", params=SCREENS)
def page(request: pytest.FixtureRequest, report: Path, browser: Any) -> Iterator[Any]:
    page, faults = new_page(browser, request.param)
    page.on("console", lambda message: faults.append(message.text))
    page.goto(report.as_uri())
    # what is far down is loaded where it is seen
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function("[...document.images].every(one => one.naturalWidth > 0)")
    yield page
    assert faults == []


def shown(page: Any, name: str) -> Any:
    """Click on an item's link on the first screen; its table."""
    page.goto(page.url.partition("#")[0])
    page.click(f"nav a[href='#{name}']")
    return page.locator(f"#{name} table")


def test_the_first_screen_of_a_laptop_has_the_results(page):
    size = page.viewport_size
    page.goto(page.url.partition("#")[0])
    for part in ("#reproducibility_cells-drawn img", ".front .counts"):
        box = page.locator(part).bounding_box()
        assert box["height"] > 10
        assert size["width"] < 500 or box["y"] + box["height"] <= size["height"]
    assert page.locator("nav li a").count() == len(ITEMS) - 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_and_contrast(page, scheme):
    """What axe-core finds, with every item open."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")
    page.goto(page.url.partition("#")[0])
    page.emulate_media(color_scheme=scheme)
    found = axe.Axe().run(page).response
    page.emulate_media(color_scheme="light")
    assert {"color-contrast", "image-alt", "label"} <= {one["id"] for one in found["passes"]}
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []


@pytest.mark.parametrize("name", ITEMS[:-1])
def test_one_click_shows_what_a_link_names(page, name):
    shown(page, name)
    item = page.locator(f"#{name}")
    content = item.locator("table, img").first
    content.wait_for(state="visible")
    assert content.bounding_box()["height"] > 20
    # a browser scrolls to whole pixels, and an item may begin between two
    assert -1 < item.bounding_box()["y"] < page.viewport_size["height"]


@pytest.mark.parametrize(("name", "column"), [("first_table1", 2), ("first_wide", 0)])
def test_tables_sort(page, name, column):
    table = shown(page, name)
    head = table.locator("th[scope=col]").nth(column)
    for way in ("ascending", "descending"):
        # once with the mouse, once with the keyboard
        head.click() if way == "ascending" else head.locator("button").press("Enter")
        assert head.get_attribute("aria-sort") == way
        values = [row[column] for row in table.evaluate(ROWS)]
        there = pd.Series([value for value in values if value != ""])
        numbers = pd.to_numeric(there, errors="coerce")
        there = there if numbers.isna().any() else numbers
        assert there.tolist() == sorted(there, reverse=way == "descending")
        assert "" not in values[: len(there)]


def test_tables_filter(page):
    table = shown(page, "first_wide")
    field = page.locator("#first_wide input")
    field.fill("ROW3")
    assert {row[0] for row in table.evaluate(ROWS)} == {"row3"}
    field.fill("no such word")
    assert table.evaluate(ROWS) == []
    field.fill("")
    assert len(table.evaluate(ROWS)) == 150


def test_nothing_is_wider_than_the_screen(page):
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    page.goto(page.url.partition("#")[0])
    assert page.evaluate(wider) <= 0


def test_what_is_printed_is_whole(page):
    """No table is cut by a frame, and each has its last row on paper."""
    page.goto(page.url.partition("#")[0])
    page.emulate_media(media="print")
    cut = """[...document.querySelectorAll(".frame")].filter(frame =>
      getComputedStyle(frame).overflow !== "visible" && (frame.scrollHeight > frame.clientHeight
      || frame.scrollWidth > frame.clientWidth)).length"""
    assert page.evaluate(cut) == 0
    lows = """[...document.querySelectorAll(".frame table")].map(table =>
      table.closest(".item").getBoundingClientRect().bottom
      - [...table.rows].at(-1).getBoundingClientRect().bottom)"""
    assert all(room >= 0 for room in page.evaluate(lows))
    page.emulate_media(media="screen")


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its pages, but for the one of the library, which takes most of the time."""
    pytest.importorskip("material", reason="needs what builds it: make .venv/docs.done")
    folder = tmp_path_factory.mktemp("handbook")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("api.md"))
    shutil.copy(ROOT / "CHANGELOG.md", folder)
    if not (folder / "docs/index.md").exists():  # `make docs` writes it
        (folder / "docs/index.md").write_text("# Start\n", encoding="utf-8")
    told = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    told["nav"] = [entry for entry in told["nav"] if "api.md" not in entry.values()]
    told["plugins"] = [one for one in told["plugins"] if "mkdocstrings" not in one]
    told["strict"] = False  # other pages name that one
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(told), encoding="utf-8")
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", folder / "site"]
    subprocess.run(build, cwd=folder, check=True)
    return folder / "site"


@pytest.mark.parametrize("size", SCREENS)
def test_pages_fit_their_screen_and_ask_nobody(handbook, browser, size):
    page, faults = new_page(browser, size)
    pages = sorted(path for path in handbook.glob("*.html") if path.name != "404.html")
    assert len(pages) > 10
    for path in pages:
        page.goto(path.as_uri())
        wide = page.evaluate("document.scrollingElement.scrollWidth")
        assert wide <= SCREENS[size][0], f"{path.name} is {wide} wide"
    assert faults == []
    # the search works without a server
    page.goto((handbook / "own_ratings.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.type("assignments", delay=30)
    page.locator(".md-search-result__item").first.wait_for(timeout=10_000)
