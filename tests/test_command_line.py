"""A typed command, option by option, as the parser of Snakemake reads it."""

from __future__ import annotations

import shlex

import pytest
from snakemake.cli import get_argument_parser

from refless.command_line import options


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("-np -c 1 all", ["dryrun: -n", "printshellcmds: -p", "cores: -c 1", ": all"]),
        ("-nc4 one two", ["dryrun: -n", "cores: -c4", ": one", ": two"]),
        ("-c 4 -- -n", ["cores: -c 4", ": -n"]),
        ("--sum one", ["summary: --sum", ": one"]),
        ("--report R.html one", ["report: --report R.html", ": one"]),
        ("--report=R.html one", ["report: --report=R.html", ": one"]),
        ("-C a=1 b=-2 -k one", ["config: -C a=1 b=-2", "keep_going: -k", ": one"]),
        ("-O a b --retries -1", ["omit_from: -O a b", "retries: --retries -1"]),
        ("-C a=1 -- one", ["config: -C a=1", ": one"]),
    ],
)
def test_options_and_their_values(typed: str, expected: list[str]) -> None:
    found = options(shlex.split(typed), get_argument_parser())
    assert [f"{dest}: {shlex.join(own)}" for dest, own in found] == expected
