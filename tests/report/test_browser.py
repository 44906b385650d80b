"""The report and the handbook in headless Chromium, offline, on a laptop's and a phone's width.

What a reader does: look at the first screen, click on what it names, sort and filter the tables.
Skipped where Playwright or Chromium is missing (``REFLESS_CHROMIUM`` may name the program).
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass
class Screen:
    """The report on a screen, and what went wrong so far: errors, and requests to elsewhere."""

    page: Any
    faults: list[str]
    width: int
    height: int

    def open(self, name: str) -> Any:
        """Click on an item's link on the first screen; its table."""
        self.page.goto(self.page.url.partition("#")[0])
        self.page.click(f"nav a[href='#{name}']")
        return self.page.locator(f"#{name} table")


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


@pytest.fixture(scope="module", params=SCREENS)
def screen(request: pytest.FixtureRequest, report: Path, browser: Any) -> Screen:
    width, height = SCREENS[request.param]
    page = browser.new_page(viewport={"width": width, "height": height}, offline=True)
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url))
    page.goto(report.as_uri())
    assert faults.pop() == report.as_uri()
    return Screen(page, faults, width, height)


def test_no_error_and_no_request(screen: Screen) -> None:
    # all that is far down seen
    screen.page.reload()
    screen.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    screen.page.wait_for_function("[...document.images].every(one => one.naturalWidth > 0)")
    own = screen.page.url.partition("#")[0]
    elsewhere = [fault for fault in screen.faults if not fault.startswith((own, "data:"))]
    assert elsewhere == []


def test_the_first_screen_of_a_laptop_has_the_results(screen: Screen) -> None:
    screen.page.goto(screen.page.url.partition("#")[0])
    for part in ("#all_cells-drawn img", ".front .counts"):
        box = screen.page.locator(part).bounding_box()
        assert box["height"] > 10
        assert screen.width < 500 or box["y"] + box["height"] <= screen.height
    assert screen.page.locator("nav li a").count() == len(ITEMS) - 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_and_contrast(screen: Screen, scheme: str) -> None:
    """What axe-core finds, with every item open."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")
    screen.page.goto(screen.page.url.partition("#")[0])
    screen.page.emulate_media(color_scheme=scheme)
    found = axe.Axe().run(screen.page).response
    screen.page.emulate_media(color_scheme="light")
    assert {"color-contrast", "image-alt", "label"} <= {one["id"] for one in found["passes"]}
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []


@pytest.mark.parametrize("name", ITEMS[:-1])
def test_one_click_shows_what_a_link_names(screen: Screen, name: str) -> None:
    screen.open(name)
    item = screen.page.locator(f"#{name}")
    content = item.locator("table, img").first
    content.wait_for(state="visible")
    assert content.bounding_box()["height"] > 20
    # a browser scrolls to whole pixels, and an item may begin between two
    assert -1 < item.bounding_box()["y"] < screen.height


@pytest.mark.parametrize(("name", "column"), [("first_table1", 2), ("first_wide", 0)])
def test_tables_sort(screen: Screen, name: str, column: int) -> None:
    shown = screen.open(name)
    head = shown.locator("th[scope=col]").nth(column)
    for way in ("ascending", "descending"):
        # once with the mouse, once with the keyboard
        head.click() if way == "ascending" else head.locator("button").press("Enter")
        assert head.get_attribute("aria-sort") == way
        values = [row[column] for row in shown.evaluate(ROWS)]
        there = pd.Series([value for value in values if value != ""])
        numbers = pd.to_numeric(there, errors="coerce")
        there = there if numbers.isna().any() else numbers
        assert there.tolist() == sorted(there, reverse=way == "descending")
        assert "" not in values[: len(there)]


def test_tables_filter(screen: Screen) -> None:
    shown = screen.open("first_wide")
    field = screen.page.locator("#first_wide input")
    field.fill("ROW3")
    assert {row[0] for row in shown.evaluate(ROWS)} == {"row3"}
    field.fill("no such word")
    assert shown.evaluate(ROWS) == []
    field.fill("")
    assert len(shown.evaluate(ROWS)) == 150


def test_nothing_is_wider_than_the_screen(screen: Screen) -> None:
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    screen.page.goto(screen.page.url.partition("#")[0])
    assert screen.page.evaluate(wider) <= 0


# ---- the handbook, as it opens from a folder -----------------------------------------------------


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
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", folder / "site"],
        cwd=folder,
        check=True,
    )
    return folder / "site"


@pytest.mark.parametrize("size", SCREENS)
def test_pages_fit_their_screen_and_ask_nobody(handbook: Path, browser: Any, size: str) -> None:
    width, height = SCREENS[size]
    page = browser.new_page(viewport={"width": width, "height": height})
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url))
    pages = sorted(path for path in handbook.glob("*.html") if path.name != "404.html")
    assert len(pages) > 10
    for path in pages:
        page.goto(path.as_uri())
        wide = page.evaluate("document.scrollingElement.scrollWidth")
        assert wide <= width, f"{path.name} is {wide} wide"
    assert [fault for fault in faults if not fault.startswith(("file:", "data:"))] == []
    # the search works without a server
    page.goto((handbook / "own_ratings.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.type("assignments", delay=30)
    page.locator(".md-search-result__item").first.wait_for(timeout=10_000)
