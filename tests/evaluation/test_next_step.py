"""The next command runs as it is printed, by the method that was tested."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import refless
from refless.cli import build_parser, main
from refless.evaluation.decisions import Decision, Decisions
from refless.evaluation.next_step import Source, next_step
from tests.evaluation.made_up import rows, write

METHODS = {
    "ridge": {"method": "ridge"},
    "ridge_system": {"method": "ridge_system"},
    "surface_ridge": {"method": "surface_ridge"},
    "neighbors": {"method": "neighbors", "kernel": "rouge_l.stem"},
    "delta_bleu": {"method": "delta_bleu"},
    "combined": {"method": "combined"},
    "score": {"method": "score_judge"},
}


def shown(split: str = "texts", **method: Any) -> Decisions:
    """A decision for a method."""
    return Decisions([Decision(split, texts=60, why_not="", **method)])


def words_of(line: str) -> list[str]:
    """Those of the command behind ``next: refless``."""
    program, *words = shlex.split(line.partition(": ")[2])
    assert program == "refless"
    return words


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With ratings, and texts to rate, where the commands are run."""
    monkeypatch.chdir(tmp_path)
    given = [{**row, "score_b": row["quality"] + k % 3} for k, row in enumerate(rows(60))]
    write(Path("my rated.jsonl"), given)
    pd.DataFrame(rows(5, seed=1)).assign(score_b=1.0, references='["a warm place"]').to_csv(
        "NEW.tsv", sep="\t", index=False
    )
    return tmp_path


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("split", ["texts", "contexts"])
def test_the_next_command_runs_as_printed(folder, name, split, capsys):
    """And gives what the call does that a table has for its next step."""
    decided, scale = shown(split, **METHODS[name]), (1.0, 5.0)
    line = next_step(decided, Source(["my rated.jsonl"], scale))
    assert main(words_of(line)) == 0, capsys.readouterr().err
    predicted = pd.read_csv("predicted.tsv", sep="\t")["prediction"]
    call = next_step(decided, Source([], scale)).partition(": ")[2]
    tables = {"ratings": pd.read_json("my rated.jsonl", lines=True), "outputs": "NEW.tsv"}
    answer = eval(call, {"refless": refless, **tables})
    np.testing.assert_allclose(predicted, answer.table["prediction"].astype(float))
    assert name == "neighbors" or predicted.notna().all()


def test_the_next_command_reads_ratings_as_they_were(folder):
    """With every option of reading; what it names is what was named."""
    table = pd.DataFrame(rows(60)).drop(columns="score_judge")
    table = table.rename(columns={"text": "response"}).assign(**{"-id": range(60)})
    table["annie"], table["-bob"] = table["quality"] - 3, table["quality"] - 3.5
    table.drop(columns="quality").to_csv("rated.txt", index=False)
    more = pd.DataFrame({"-id": range(60), "score_more": np.arange(60.0)})
    more.to_csv("more.csv", index=False)
    reading: dict[str, Any] = {
        "columns": {"text": "response", "context": ""},
        "format": "csv",
        "join": ("more.csv", ["-id"]),
        "raters": ["annie"],
        "repeated": "mean",
    }
    source = Source(["rated.txt"], (-3.5, 2.25), reading)
    new = pd.DataFrame({"response": table["response"][:5], "-id": range(5)})
    new.to_csv("NEW.tsv", sep="\t", index=False)
    for method in ("ridge", "score_more"):
        words = words_of(next_step(shown(method=method), source))
        arguments = build_parser().parse_args(words)
        assert arguments.scale == [-3.5, 2.25]
        assert dict(arguments.column) == reading["columns"]
        assert main(words) == 0
        expected = refless.score(
            "rated.txt", "NEW.tsv", method=method, scale=[-3.5, 2.25], **reading
        )
        predicted = pd.read_csv("predicted.tsv", sep="\t")["prediction"]
        np.testing.assert_allclose(predicted, expected.table["prediction"].astype(float))
    centered = Source(["rated.txt"], (1, 5), {"center": True})
    assert (
        build_parser()
        .parse_args(words_of(next_step(shown(method="ridge"), centered)))
        .center_raters
    )


def test_networks_are_trained_next_on_the_same_scale():
    source = Source(["rated.tsv"], (1, 5), {"center": True})
    arguments = build_parser().parse_args(words_of(next_step(shown(method="rnn_qe"), source, 7)))
    assert (arguments.command, arguments.ratings) == ("train-qe", ["rated.tsv"])
    assert (arguments.scale, arguments.seed, arguments.center_raters) == ([1, 5], 7, True)


def test_the_next_command_overwrites_and_reads_again_nothing(folder):
    for file in ("NEW.tsv", "predicted.tsv"):
        words = words_of(next_step(shown(method="ridge"), Source([file], (1, 5))))
        arguments = build_parser().parse_args(words)
        assert file not in (arguments.outputs, arguments.out)
    # a file in a folder of ratings would be one of them the next time
    words = words_of(next_step(shown(method="ridge"), Source(["."], (1, 5))))
    assert build_parser().parse_args(words).out is None


def test_what_is_shown_for_another_split_alone_is_so_called():
    splits = [Decision("systems", texts=60), *shown("contexts", method="ridge").splits]
    line = next_step(Decisions(splits), Source(["rated.tsv"], (1, 5)))
    assert re.match("next, shown for new contexts: refless score .* --new-contexts ", line)
    nothing = next_step(Decisions(splits[:1]), Source(["rated.tsv"], (1, 5)))
    assert "refless" not in nothing
