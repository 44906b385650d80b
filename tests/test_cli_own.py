"""What all commands share: users' files in, exit codes out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from refless.cli import main
from tests.compare.made_up import rows, write

COMMANDS = {
    "compare": ["--ratings", "BAD", "--out", "out"],
    "score": ["--ratings", "BAD", "--outputs", "good.jsonl"],
    "score outputs": ["--ratings", "good.jsonl", "--outputs", "BAD", "--method", "ridge"],
    "fit": ["--ratings", "BAD", "--out", "out"],
    "delta-bleu": ["--ratings", "BAD", "--outputs", "good.jsonl", "--scale", "1", "5"],
    "train-qe": ["--ratings", "BAD", "--out", "out.npz"],
    "qe": ["--outputs", "BAD"],
}
BAD = [  # content of bad.csv, its line
    ('text,quality,id\n"a,1,1\n', 2),
    ("text,quality,id\na,1,1\nb\n", 3),
    ("text,quality,id\na,high,1\n", 2),
    ("reply,quality,id\na,1,1\n", None),
    ("", None),
]
OLD = {"--ratings": "--train", "--outputs": "--candidates", "--ratings-format": "--train-format"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "good.jsonl", [{"id": k, **row} for k, row in enumerate(rows(30))])
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_bad_file_is_told_in_one_place(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    told = ["bad.csv" if word == "BAD" else word for word in COMMANDS[command]]
    for content, line in BAD:
        (folder / "bad.csv").write_text(content)
        assert main([command.split()[0], *told]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith(f"refless: bad.csv:{f'{line}:' if line else ''}")
        assert "What to do" in said.err
    assert sorted(path.name for path in folder.iterdir()) == ["bad.csv", "good.jsonl"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_bad_file_is_known_before_anything_heavy_is_imported(folder: Path, command: str) -> None:
    if command == "score outputs":
        pytest.skip("its ratings are a table by then")
    (folder / "bad.csv").write_text(BAD[2][0])
    told = ["bad.csv" if word == "BAD" else word for word in COMMANDS[command]]
    script = (
        "import sys; from refless.cli import main; main(sys.argv[1:]);"
        "print({'pandas', 'numba', 'sklearn', 'scipy.stats', 'torch'} & set(sys.modules))"
    )
    call = [sys.executable, "-c", script, command, *told]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.stdout == "set()\n", done.stderr


@pytest.mark.parametrize("command", ["score", "fit", "delta-bleu", "compare", "train-qe", "qe"])
def test_a_column_that_is_none_is_wrong_usage(command: str) -> None:
    told = ["good.jsonl" if word == "BAD" else word for word in COMMANDS[command]]
    assert main([command, *told, "--column", "reply=text"]) == 2


def test_every_spelling_of_a_file_and_of_its_options_gives_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [{"reply": row["text"], "stars": row["quality"]} for row in rows(40)]
    (folder / "rated").write_text(json.dumps(given))
    options = ["--ratings", "rated", "--ratings-format", "jsonl", "--outputs", "good.jsonl"]
    more = ["--method", "ridge", "--column", "text=reply", "--column", "quality=stars"]
    found = []
    for names in ({}, OLD):
        assert main(["score", *(names.get(word, word) for word in options), *more]) == 0
        found.append(capsys.readouterr().out)
    assert found[0] == found[1]
    assert found[0].count("\n") == 30


def test_unrated_rows_teach_nothing_and_have_their_place(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rated = [{"text": row["text"], "quality": row["quality"]} for row in rows(40)]
    write(folder / "a.jsonl", rated)
    write(folder / "b.jsonl", [{"text": "nobody rated it", "quality": None}, *rated])
    found = []
    for name in ("a.jsonl", "b.jsonl"):
        told = ["--tau", "0.2", "--min-neighbors", "1", "--leave-one-out"]
        assert main(["score", "--ratings", name, *told]) == 0
        said = capsys.readouterr()
        found.append((said.out.splitlines(), said.err.splitlines()[-1]))
    assert json.loads(found[1][0][0])["prediction"] is None
    assert (found[1][0][1:], found[1][1]) == found[0]
    # of texts to rate, those with a quality are judged
    for name, fewer in (("a.jsonl", rated), ("c.jsonl", [*rated, {"text": "new"}])):
        write(folder / "c.jsonl", fewer)
        told = ["--ratings", "a.jsonl", "--outputs", name, "--json", "--tau", "0.2"]
        assert main(["score", *told, "--min-neighbors", "1", "--max-share", "1"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[2]["spearman"] == found[3]["spearman"] is not None
    assert found[3]["n"] == 41


def test_an_array_and_half_a_character_are_written_back(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "x.json").write_text('[{"text": "a"},\n {"text": "b", "note": ["\\ud83d"]}]')
    told = ["--ratings", "good.jsonl", "--outputs", "x.json"]
    assert main(["score", *told, "--tau", "0.2"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert first == {"text": "a", "prediction": None, "neighbors": 0}
    assert second["note"] == ["\ud83d"]


def test_names_of_systems_may_have_any_sign(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["GPT-4", "GPT-4+RAG", "@b [MASK] & <i>"]
    rated = [
        {"text": row["text"], "quality": row["quality"] + 20 * (k % 3), "system": names[k % 3]}
        for k, row in enumerate(rows(60))
    ]
    write(folder / "rated.jsonl", rated)
    write(folder / "new.jsonl", [{"text": "so it is", "system": name} for name in names])
    told = ["--ratings", "rated.jsonl", "--outputs", "new.jsonl", "--method", "ridge_system"]
    assert main(["score", *told]) == 0
    found = [json.loads(line)["prediction"] for line in capsys.readouterr().out.splitlines()]
    assert [round(value / 20) for value in found] == [0, 1, 2]
    more = [
        "--draws",
        "100",
        "--deals",
        "1",
        "--no-networks",
        "--no-curve",
        "--kernel",
        "bleu.word",
    ]
    assert main(["compare", "--ratings", "rated.jsonl", "--out", "out", *more]) == 0
    table = (folder / "out/comparison.csv").read_text().splitlines()
    systems = table[0].split(",").index("systems")
    assert {row.split(",")[systems] for row in table[1:]} <= {"3", ""}


def test_a_closed_pipe_is_a_failure_without_a_word(folder: Path) -> None:
    read, written = os.pipe()
    os.close(read)
    told = ["score", "--ratings", "good.jsonl", "--outputs", "good.jsonl", "--tau", "0.2"]
    call = [sys.executable, "-m", "refless.cli", *told]
    done = subprocess.run(call, stdout=written, stderr=subprocess.PIPE, text=True, check=False)
    os.close(written)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
