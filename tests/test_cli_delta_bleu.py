"""`refless delta-bleu`: its scores, its formats, what it refuses."""

import json
from pathlib import Path

import pytest

from refless.cli import main
from refless.models.delta_bleu import corpus_delta_bleu
from tests.compare.made_up import write

OUTPUTS = ["the cat sat on the mat today", "there is a dog in the yard"]
REFERENCES = [["the cat sat on a mat", "no cat was there"], ["a dog is in the yard"]]
WEIGHTS = [[0.5, 1.0], [0.5]]
OUTPUT_FILE = f"id\ttext\nx0\t{OUTPUTS[0]}\nx1\t{OUTPUTS[1]}\n"
REFERENCE_FILE = """id\ttext\tquality\tweight
x1\ta dog is in the yard\t4\t0.5
x0\tthe cat sat on a mat\t4\t0.5
x0\tno cat was there\t5\t1
"""
MIDDLE = "id\ttext\tquality\trater\nx0\ta\t2\tann\nx0\ta\t5\tbob\nx1\tb\t6\tann\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def delta_bleu(*more: str, outputs: str = OUTPUT_FILE, references: str = REFERENCE_FILE) -> int:
    Path("out.tsv").write_text(outputs)
    Path("ref.tsv").write_text(references)
    return main(["delta-bleu", "--outputs", "out.tsv", "--references", "ref.tsv", *more])


@pytest.mark.parametrize("weighing", [[], ["--scale", "1", "5"]])
def test_scores_are_those_of_the_library(weighing, capsys):
    expected = 100 * corpus_delta_bleu(OUTPUTS, REFERENCES, WEIGHTS, 3, "zero")
    more = ["--max-order", "3", "--rule", "zero", *weighing]
    assert delta_bleu(*more) == 0
    line = capsys.readouterr().out
    assert line.startswith("ΔBLEU|nrefs:var|weights:given|case:mixed|tok:none|order:3|rule:zero|")
    assert f" = {expected:.2f} " in line
    assert delta_bleu(*more, "--sentences", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["score"] == pytest.approx(expected)
    for i, score in enumerate(found["sentences"]):
        own = corpus_delta_bleu([OUTPUTS[i]], [REFERENCES[i]], [WEIGHTS[i]], 3, "zero")
        assert score == pytest.approx(100 * own)
    assert delta_bleu(*more, "--sentences") == 0
    captured = capsys.readouterr()
    rows = [row.split("\t") for row in captured.out.splitlines()]
    assert rows[0] == ["id", "text", "delta_bleu"]
    assert [float(row[2]) for row in rows[1:]] == pytest.approx(found["sentences"])
    assert captured.err.endswith(line)


def test_a_reference_that_several_people_rated_counts_once(capsys):
    """With the mean of its ratings, and not with the best one."""
    raters = [("x0", REFERENCES[0][0], 5, 1, 3), ("x1", REFERENCES[1][0], 4, 4, 4)]
    rows = [f"{i}\t{text}\t{v}\tr{k}" for i, text, *own in raters for k, v in enumerate(own)]
    rows += [f"x0\t{REFERENCES[0][1]}\t5\tr0"]
    references = "\n".join(["id\ttext\tquality\trater", *rows])
    assert delta_bleu("--scale", "1", "5", references=references) == 0
    expected = 100 * corpus_delta_bleu(OUTPUTS, REFERENCES, [[0.0, 1.0], [0.5]], rule="smooth")
    assert f" = {expected:.2f} " in capsys.readouterr().out
    assert delta_bleu("--scale", "1", "5", references=f"{references}\n{rows[0]}") == 1
    assert "--repeated-ratings" in capsys.readouterr().err


def test_without_weights_and_ids_it_is_bleu_by_row(capsys):
    Path("out.txt").write_text("\n".join(OUTPUTS))
    write(
        Path("ref.jsonl"), [{"id": i + 1, "text": text} for i in (0, 1) for text in REFERENCES[i]]
    )
    told = ["delta-bleu", "--outputs", "out.txt", "--ratings", "ref.jsonl", "--json"]
    assert main(told) == 0
    expected = corpus_delta_bleu(OUTPUTS, REFERENCES, [[1.0, 1.0], [1.0]], rule="smooth")
    assert json.loads(capsys.readouterr().out)["score"] == pytest.approx(100 * expected)


@pytest.mark.parametrize(
    ("references", "more", "named"),
    [
        ("id\ttext\tweight\nx0\ta\t2\nx1\tb\t1\n", [], "ref.tsv:2: weight"),
        ("id\ttext\tweight\nx0\ta\t1\nx9\tb\t1\n", [], "ref.tsv:3: "),
        ("id\ttext\tweight\nx0\ta\t1\n", [], "out.tsv:3: "),
        ("id\ttext\tweight\nx0\ta\t1\nx1\tb\t0\n", [], "out.tsv:3: "),
        # 2 and 5 of 1 to 6 weigh nothing together: no rounding is left over
        (MIDDLE, ["--scale", "1", "6"], "out.tsv:2: "),
        ("id\ttext\nx0\ta\nx1\tb\n", ["--scale", "1", "5"], "'quality'"),
        ("text\nb\n", [], "'id'"),
        ("id\ttext\tquality\nx0\ta\t6\nx1\tb\t1\n", ["--scale", "1", "5"], "ref.tsv:2: quality"),
        (REFERENCE_FILE, ["--max-order", "0"], "--max-order"),
        (REFERENCE_FILE, ["--scale", "5", "1"], "--scale"),
    ],
)
def test_a_fault_names_file_line_or_option(references, more, named, capsys):
    assert delta_bleu(*more, references=references) == 1
    assert named in capsys.readouterr().err


@pytest.mark.parametrize("name", ["x0", ""])
def test_an_id_is_there_once(name, capsys):
    assert delta_bleu(outputs=f"id\ttext\nx0\ta\n{name}\tb\n") == 1
    assert "out.tsv:3: " in capsys.readouterr().err
