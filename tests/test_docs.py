"""Pages: links lead somewhere, commands can be typed."""

import argparse
import csv
import importlib.util
import json
import re
from typing import Any

import matplotlib.pyplot as plt
import pytest

from refless.cli import build_parser
from refless.report.catalogue import catalogue
from tests.pages import PAGES, ROOT, anchors, links, named, typed

PROGRAMS = {".venv/bin/pip", ".venv/bin/pre-commit", "source"}
"""What console blocks use besides our own commands; what stands after them is not looked at."""


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.resolve().relative_to(ROOT).as_posix()), link


def test_anchors_are_those_of_both_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub keeps letters that the handbook drops: such a heading has no common anchor."""
    page = "## A `b`: *c* [d](e)\n\n```sh\n# no heading\n```\n\n## ΔBLEU\n"
    monkeypatch.setattr("tests.pages.text_of", lambda page: page)
    assert anchors(page) == {"a-b-c-d"}


@pytest.mark.parametrize("page", PAGES)
def test_commands_can_be_typed(page: str) -> None:
    for command in typed(page):
        assert fault(command) == "", command


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_sentences_name_what_there_is(page: str) -> None:
    for command in named(page):
        assert fault(command, begun=True) == "", command


@pytest.mark.parametrize(
    "command",
    [
        "make everything",
        "make torch WHEEL=here",
        "snakemake --cores 2 bleu_neighbors_table9",
        "snakemake --kernels 2 all",
        "snakemake --cores 2 results/tables/nothing.of/that",
        "refless guess --out x",
        "refless score --train a.tsv --candidate b.tsv --tua 3 --out x",
        "refless score",
        "python -m refless.nothing",
        "python workflow/nothing.py",
        "conda create",
    ],
)
def test_a_dead_command_is_found(command: str) -> None:
    assert fault(command.split()) != ""


def test_the_notebook_comes_to_the_published_figure() -> None:
    plt.switch_backend("Agg")
    book = json.loads((ROOT / "docs/notebook.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    known: dict[str, Any] = {}
    for cell in cells:
        assert cell["outputs"] == []
        exec("".join(cell["source"]), known)
    plt.close(known["figure"])
    published = known["published"].query("model == 'bleu' and task == 'summarization'")
    assert round(known["found"].spearman.value, 3) == published["spearman"].item()
    assert known["curve"]["coverage"].between(0, 1).all()


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
        return _python(rest, begun)
    return "" if program in PROGRAMS else f"what is {program}?"


def _make(words: list[str]) -> str:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in words:
        name, is_variable, _ = word.partition("=")
        if name.startswith("/"):
            continue
        known = rf"\$\({name}\)" if is_variable else rf"(?m)^{re.escape(name)}:"
        if not re.search(known, makefile):
            return f"make has no {word}"
    return ""


def _snakemake(words: list[str]) -> str:
    from snakemake.cli import get_argument_parser

    try:
        read = get_argument_parser().parse_args(words)
    except (SystemExit, argparse.ArgumentError) as error:
        return f"snakemake: {error}"
    rules = "\n".join(
        path.read_text(encoding="utf-8")
        for path in [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    )
    names = {*re.findall(r"(?m)^ *rule (\w+):", rules), *catalogue(), "TARGET"}
    names |= {path.stem for path in (ROOT / "workflow/rules").glob("*.smk")} & {
        "bleu_neighbors",
        "delta_bleu",
        "rnn_qe",
    }
    with open(ROOT / "resources/sources.csv", encoding="utf-8") as sources:
        names |= {f"resources/data/{row['path']}" for row in csv.DictReader(sources)}
    files = [
        re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path))
        for path in re.findall(r"\"((?:results|resources)/[^\"]+)\"", rules)
    ]
    for target in [*read.targets, *(read.forcerun or [])]:
        if target not in names and not any(re.fullmatch(file, target) for file in files):
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
    if here.startswith("--"):
        return "" if here in parser._option_string_actions else f"refless has no {here}"
    if here not in commands.choices:
        return f"refless has no {here}"
    known = commands.choices[here]._option_string_actions
    unknown = [word for word in rest if word.startswith("--") and word not in known]
    return f"refless {here} has no {unknown}" if unknown else ""


def _python(words: list[str], begun: bool) -> str:
    if words[0] == "-m":
        if words[1] == "snakemake":
            return _snakemake(words[2:])
        known = {"venv", "pip", "pytest"}
        there = words[1] in known or importlib.util.find_spec(words[1]) is not None
        return "" if there else f"there is no module {words[1]}"
    there = (ROOT / words[0]).is_file()
    return "" if there else f"there is no file {words[0]}"
