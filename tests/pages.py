"""The pages as their readers see them: links and commands."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "config/README.md")),
        *(ROOT / "docs").glob("*.md"),
    )
    if path != ROOT / "docs/index.md"  # README.md once more, made by `make docs`
)
FENCE = re.compile(r"(?ms)^( *)```(\w*)[^\n]*\n(.*?)^\1```$")
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]+)\)")
HEADING = re.compile(r"(?m)^#{1,6} +(.+?) *#*$")


@cache
def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def without_code(page: str) -> str:
    """The page without blocks of code."""
    return FENCE.sub("", text_of(page))


def links(page: str) -> list[str]:
    """Where the page's links go, the Web left out."""
    prose = CODE.sub("", without_code(page))
    return [to for _, to in LINK.findall(prose) if not re.match(r"[a-z]+:", to)]


def anchors(page: str) -> set[str]:
    """The page's anchors, as far as GitHub and the handbook give them the same name."""
    here, handbook = set(), set()
    for heading in HEADING.findall(without_code(page)):
        plain = CODE.sub(r"\1", LINK.sub(r"\1", heading)).replace("*", "").lower().strip()
        here.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
        ascii_only = plain.encode("ascii", "ignore").decode()
        handbook.add(re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_only).strip()))
    return here & handbook


def typed(page: str) -> Iterator[list[str]]:
    """The commands of the page's console blocks, each as the words that a shell would see."""
    for _, kind, block in FENCE.findall(text_of(page)):
        if kind == "console":
            for line in re.findall(r"(?m)^\s*\$ (.+)$", block.replace("\\\n", " ")):
                yield from _commands(line)


def named(page: str) -> Iterator[list[str]]:
    """The commands that stand in the page's sentences and tables; some are only begun."""
    for code in CODE.findall(without_code(page)):
        code = " ".join(code.split())
        if re.match(r"(make|snakemake|refless|python) ", code):
            yield from _commands(code)


def _commands(line: str) -> Iterator[list[str]]:
    for command in re.split(r" (?:&&|\|) ", line):
        words = shlex.split(command, comments=True)
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words.pop(0)
        if words:
            yield words
