"""The handbook as it opens from a folder, in headless Chromium (see test_browser)."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
pytest.importorskip("material", reason="needs what builds the handbook: make .venv/docs.done")

from tests.report.test_browser import PROGRAM, SCREENS, pytestmark  # noqa: E402, F401

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its pages, but for the one of the library, which takes most of the time."""
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as run:
        program = run.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        yield program
        program.close()


@pytest.mark.parametrize("screen", SCREENS)
def test_pages_fit_their_screen_and_ask_nobody(handbook: Path, browser: Any, screen: str) -> None:
    width, height = SCREENS[screen]
    page = browser.new_page(viewport={"width": width, "height": height})
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "request",
        lambda request: request.url.startswith(("file:", "data:")) or faults.append(request.url),
    )
    pages = sorted(path for path in handbook.glob("*.html") if path.name != "404.html")
    assert len(pages) > 10
    for path in pages:
        page.goto(path.as_uri())
        wide = page.evaluate("document.scrollingElement.scrollWidth")
        assert wide <= width, f"{path.name} is {wide} wide"
    assert faults == []
    # the search works without a server
    page.goto((handbook / "own_ratings.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.type("assignments", delay=30)
    page.locator(".md-search-result__item").first.wait_for(timeout=10_000)
