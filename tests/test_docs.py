"""Pages as their readers see them: links lead somewhere, commands can be typed, and those on
examples are typed, and give the numbers that stand below them."""

import argparse
import csv
import importlib.util
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest
import yaml

from refless.cli import COMMANDS, build_parser, main
from refless.report.catalogue import catalogue
from tests.conftest import ROOT

PAGES = ["README.md", "CONTRIBUTING.md", "config/README.md"]
# `make docs` makes index.md of README.md; notebook.md has no links and commands
MADE = {"index.md", "notebook.md"}
PAGES += sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md") if p.name not in MADE)
FENCE = re.compile(r"(?ms)^( *)```(\w*)[^\n]*\n(.*?)^\1```$")
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]+)\)")
REFERENCE = re.compile(r"`([\w/]+/\w+\.py|plan\.py|errors\.py)`(?:: (`\w+`(?:, `\w+`)*))?")
HEADING = re.compile(r"(?m)^#{1,6} +(.+?) *#*$")
# What console blocks use besides our own commands; what stands after them is not looked at.
PROGRAMS = {".venv/bin/pip", ".venv/bin/pre-commit", "cd", "git", "source"}
REPOSITORY = "https://github.com/OWNER/refless"
"""Where the repository will be; whoever publishes it writes the address into README."""
SHOWN = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?![\w])")
"""A number in what a command prints; none within a word, as of a sum of data."""
TYPED = {
    "refless compare",
    "refless estimate",
    "refless score",
    "refless fit",
    "refless delta-bleu",
}
"""Commands that are typed, with the ratings of examples/; networks take minutes."""


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def anchors(text: str) -> set[str]:
    """The page's anchors, as far as GitHub and the handbook give them the same name."""
    here, handbook = set(), set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = CODE.sub(r"\1", LINK.sub(r"\1", heading)).replace("*", "").lower().strip()
        here.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
        ascii_only = plain.encode("ascii", "ignore").decode()
        handbook.add(re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_only).strip()))
    return here & handbook


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    prose = CODE.sub("", FENCE.sub("", text_of(page)))
    for _, link in LINK.findall(prose):
        if re.match(r"[a-z]+:", link):  # on the Web
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_code_that_a_page_names_is_there(page):
    """Modules by their path in the library, and behind a colon what they define."""
    references = REFERENCE.findall(text_of(page))
    assert len(references) > 10
    for path, names in references:
        code = (ROOT / "workflow/refless" / path).read_text(encoding="utf-8")
        for name in CODE.findall(names):
            assert re.search(rf"(?m)^(def|class) {name}\b|^{name}\b.* =", code), f"{path}: {name}"


def test_each_reason_of_a_table_is_explained():
    """The page of failures and the report explain the same words."""
    names = yaml.safe_load(text_of("workflow/refless/report/names.yaml"))
    _, _, section = text_of("docs/failures.md").partition("\n## Reason codes\n")
    rows = re.findall(r"(?m)^\| ([a-z_]+) \|", section)
    assert sorted(rows) == sorted(names["reason"])


def commands(page: str) -> Iterator[tuple[list[str], bool]]:
    """The page's commands as the words that a shell would see, and whether one may only be begun:
    those of console blocks may not, those in sentences and tables may."""
    for _, kind, block in FENCE.findall(text_of(page)):
        if kind == "console":
            for line in re.findall(r"(?m)^\s*\$ (.+)$", block.replace("\\\n", " ")):
                yield from ((words, False) for words in shell_words(line))
    for code in CODE.findall(FENCE.sub("", text_of(page))):
        code = " ".join(code.split())
        if re.match(r"(make|snakemake|refless|python) ", code):
            yield from ((words, True) for words in shell_words(code))


def shell_words(line: str) -> Iterator[list[str]]:
    for command in re.split(r" (?:&&|\|) ", line):
        words = shlex.split(command, comments=True)
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words.pop(0)
        if words:
            yield words


@pytest.mark.parametrize("page", PAGES)
def test_commands_can_be_typed(page):
    for words, begun in commands(page):
        assert fault(words, begun) == "", words


def test_no_example_writes_where_another_reads():
    """So that whoever types them as they stand loses nothing."""
    helps, pages = "\n".join(str(run.__doc__) for run in COMMANDS), "\n".join(map(text_of, PAGES))
    lines = re.findall(r"(?m)^ *refless .*$", helps)
    examples = [words for line in lines for words in shell_words(line)]
    examples += [words for page in PAGES for words, begun in commands(page) if not begun]
    examples += map(shlex.split, re.findall(r"(?m)^next: (refless .*)$", pages))
    read, written = set(), set()
    for words in examples:
        if words[0] == "refless":
            arguments = vars(build_parser().parse_args(words[1:]))
            read |= {arguments.get("outputs"), *(arguments.get("ratings") or [])}
            written |= {arguments["out"]}
    assert len(examples) > 40
    assert {"examples/rated.tsv", "mine.tsv"} <= read
    assert {"predicted.tsv", "rated.model"} <= written
    assert (read & written) - {None} == set()


@pytest.mark.parametrize(
    "command",
    [
        "make everything",
        "snakemake --cores 2 bleu_neighbors_table9",
        "snakemake --cores 2 results/tables/nothing.of/that",
        "refless guess --out x",
        "refless score --ratings a.tsv --outputs b.tsv --tua 3 --out x",
        "refless estimate",
        "python -m refless.nothing",
    ],
)
def test_a_dead_command_is_found(command):
    assert fault(command.split()) != ""


def test_the_notebook_comes_to_the_published_figure():
    plt.switch_backend("Agg")
    book = json.loads((ROOT / "docs/notebook.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    known: dict[str, Any] = {}
    for number, cell in enumerate(cells, 1):
        printed = "".join("".join(output.get("text", [])) for output in cell["outputs"])
        with redirect_stdout(StringIO()) as out:
            exec("".join(cell["source"]), known)
        assert cell["execution_count"] == number
        for shown, line in zip(printed.splitlines(), out.getvalue().splitlines(), strict=True):
            assert same_numbers(shown, line)
    plt.close(known["figure"])
    published = known["published"].query("model == 'bleu' and dataset == 'summarization'")
    assert round(known["found"].spearman.value, 3) == published["spearman"].item()
    assert known["curve"]["coverage"].between(0, 1).all()
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)


def test_the_address_of_the_repository_stands_in_one_place():
    places = {page: text_of(page).count("OWNER") for page in [*PAGES, "CITATION.cff"]}
    assert {page: count for page, count in places.items() if count} == {"README.md": 1}
    assert REPOSITORY in text_of("README.md")


def test_examples_are_what_their_script_writes(tmp_path):
    script = tmp_path / "make_rated.py"
    script.write_bytes((ROOT / "examples/make_rated.py").read_bytes())
    subprocess.run([sys.executable, script], check=True)
    written = {path.name: path.read_bytes() for path in tmp_path.glob("*.tsv")}
    assert written == {path.name: path.read_bytes() for path in (ROOT / "examples").glob("*.tsv")}


def examples(page: str) -> list[tuple[str, tuple[str, ...]]]:
    """The page's commands on files of examples/, each with the lines that stand below it."""
    found = []
    for _, kind, block in FENCE.findall(text_of(page)):
        parts = (
            re.split(r"(?m)^\s*\$ ", block.replace("\\\n", " "))[1:] if kind == "console" else []
        )
        for part in parts:
            line, *below = part.rstrip().split("\n")
            if " ".join(line.split()[:2]) in TYPED and ("examples/" in line or "--model" in line):
                found.append((line, tuple(below)))
    return found


def test_commands_give_the_numbers_that_pages_show(tmp_path, monkeypatch, capfd):
    """One test for all pages, which have commands in common."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    printed: dict[str, list[str]] = {}
    for page in PAGES:
        for line, below in examples(page):
            if line not in printed:
                assert main(shlex.split(line)[1:]) == 0, capfd.readouterr().err
                said = capfd.readouterr()
                printed[line] = (said.out + said.err).splitlines()
            for shown in below:
                assert any(same_numbers(shown, each) for each in printed[line]), (page, shown)
    assert len(printed) > 6


def same_numbers(shown: str, printed: str) -> bool:
    """Whether two lines have the same words, and numbers equal to one in the last digit, which
    hangs on the machine."""
    if SHOWN.sub("0", shown).split() != SHOWN.sub("0", printed).split():
        return False
    for one, other in zip(SHOWN.findall(shown), SHOWN.findall(printed), strict=True):
        digits = len(one.partition(".")[2])
        if abs(float(one.replace(",", "")) - float(other.replace(",", ""))) > 1.5 * 10**-digits:
            return False
    return True


@pytest.mark.parametrize(
    ("printed", "same"),
    [
        ("r 0.82 of 1,000", True),
        ("r 0.83 of 1,000", True),
        ("r 0.85 of 1,000", False),
        ("r 0.82", False),
        ("p 0.82 of 1,000", False),
    ],
)
def test_a_number_that_moved_is_found(printed, same):
    assert same_numbers("r 0.82 of 1,000", printed) is same


def python_blocks(page: str) -> Sequence[str]:
    return [block for _, kind, block in FENCE.findall(text_of(page)) if kind == "python"]


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page)])
def test_python_on_a_page_runs(page):
    """But for a whole comparison, what takes an encoder, and what is a Snakefile's."""
    table = pd.read_csv(ROOT / "examples/rated.tsv", sep="\t").assign(
        quality=lambda all: all["ann"]
    )
    texts, quality = table["text"].tolist(), table["quality"].tolist()
    known: dict[str, Any] = {
        "rated": table,
        "ratings": str(ROOT / "examples/rated.tsv"),
        "outputs": table.drop(columns="quality"),
        "texts": texts,
        "quality": quality,
        "others": texts[:9],
        "candidates": texts[:9],
        "training": texts,
        "rated_texts": texts,
        "my_texts": texts[:9],
    }
    for block in python_blocks(page):
        if re.search(r"(?m)^(module|missing\()|my-encoder|refless\.compare", block) is None:
            exec(block, known)


def fault(command: list[str], begun: bool = False) -> str:
    """Why a command cannot be typed, or nothing. One that is begun may lack arguments."""
    program, *rest = command
    if program == "make":
        return _make(rest)
    if program == "snakemake":
        return _snakemake(rest)
    if program == "refless":
        return _refless(rest, begun)
    if re.fullmatch(r"(.*/)?python(3[.0-9]*)?", program):
        return _python(rest)
    return "" if program in PROGRAMS else f"what is {program}?"


def _make(words: list[str]) -> str:
    makefile = text_of("Makefile")
    for word in words:
        name, is_variable, _ = word.partition("=")
        known = rf"\$\({name}\)" if is_variable else rf"(?m)^{re.escape(name)}:"
        if not name.startswith("/") and not re.search(known, makefile):
            return f"make has no {word}"
    return ""


def _snakemake(words: list[str]) -> str:
    from snakemake.cli import get_argument_parser

    try:
        read = get_argument_parser().parse_args(words)
    except (SystemExit, argparse.ArgumentError) as error:
        return f"snakemake: {error}"
    files = [ROOT / "workflow/Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    rules = "\n".join(path.read_text(encoding="utf-8") for path in files)
    names = {*re.findall(r"(?m)^ *rule (\w+):", rules), *catalogue(), "TARGET"}
    names |= {"bleu_neighbors", "delta_bleu", "rnn_qe"}
    with open(ROOT / "resources/sources.csv", encoding="utf-8") as sources:
        names |= {f"resources/data/{row['path']}" for row in csv.DictReader(sources)}
    made = [
        re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path))
        for path in re.findall(r"\"((?:results|resources)/[^\"]+)\"", rules)
    ]
    for target in [*read.targets, *(read.forcerun or [])]:
        if target not in names and not any(re.fullmatch(path, target) for path in made):
            return f"snakemake has no target {target}"
    return ""


def _refless(words: list[str], begun: bool) -> str:
    parser = build_parser()
    if not begun:
        try:
            parser.parse_args(words)
        except SystemExit as error:
            return f"refless: {error}"
        return ""
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    here, *rest = words
    if here in parser._option_string_actions:
        return ""
    if here not in commands.choices:
        return f"refless has no {here}"
    known = commands.choices[here]._option_string_actions
    unknown = [word for word in rest if word.startswith("--") and word not in known]
    return f"refless {here} has no {unknown}" if unknown else ""


def _python(words: list[str]) -> str:
    if words[:2] == ["-m", "snakemake"]:
        return _snakemake(words[2:])
    if words[0] == "-m":
        there = words[1] in ("venv", "pip") or importlib.util.find_spec(words[1]) is not None
    else:
        there = (ROOT / words[0]).is_file()
    return "" if there else f"python finds no {words}"
