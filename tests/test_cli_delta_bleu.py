"""`refless delta-bleu`: its scores, its formats, what it refuses."""

import json
from pathlib import Path

import pytest

from refless.cli import main
from refless.models.delta_bleu import corpus_delta_bleu

OUTPUTS = ["the cat sat on the mat today", "there is a dog in the yard"]
REFERENCES = [["the cat sat on a mat", "no cat was there"], ["a dog is in the yard"]]
RATINGS = [[5, 2], [4]]
WEIGHTS = [[1.0, -0.5], [0.5]]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    outputs, references = tmp_path / "out.tsv", tmp_path / "ref.tsv"
    outputs.write_text("id\ttext\n" + "".join(f"x{i}\t{t}\n" for i, t in enumerate(OUTPUTS)))
    rows = [
        f"x{i}\t{text}\t{rating}\t{weight}"
        for i in (1, 0)
        for text, rating, weight in zip(REFERENCES[i], RATINGS[i], WEIGHTS[i], strict=True)
    ]
    references.write_text("id\ttext\tquality\tweight\n" + "\n".join(rows) + "\n")
    return outputs, references


def delta_bleu(files: tuple[Path, Path], *more: object) -> int:
    outputs, references = files
    common = ["delta-bleu", "--outputs", outputs, "--references", references, *more]
    return main([str(argument) for argument in common])


@pytest.mark.parametrize("weighing", [[], ["--scale", "1", "5"]])
def test_scores_are_those_of_the_library(
    files: tuple[Path, Path], weighing: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    expected = 100 * corpus_delta_bleu(OUTPUTS, REFERENCES, WEIGHTS, 3, "zero")
    more = ["--max-order", "3", "--rule", "zero", *weighing]
    assert delta_bleu(files, *more) == 0
    line = capsys.readouterr().out
    assert line.startswith("ΔBLEU|nrefs:var|weights:given|")
    assert f" = {expected:.2f} " in line
    assert delta_bleu(files, *more, "--sentences", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["score"] == pytest.approx(expected)
    for i, score in enumerate(found["sentences"]):
        own = ([REFERENCES[i]], [WEIGHTS[i]], 3, "zero")
        assert score == pytest.approx(100 * corpus_delta_bleu([OUTPUTS[i]], *own))
    assert delta_bleu(files, *more, "--sentences") == 0
    captured = capsys.readouterr()
    rows = [row.split("\t") for row in captured.out.splitlines()]
    assert rows[0] == ["id", "text", "delta_bleu"]
    assert [float(row[2]) for row in rows[1:]] == pytest.approx(found["sentences"])
    assert captured.err.endswith(line)


def test_a_reference_that_several_people_rated_counts_once(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """With the mean of its ratings, and not with the best one."""
    _, references = files
    raters = [("x0", REFERENCES[0][0], 5, 1, 3), ("x1", REFERENCES[1][0], 4, 4, 4)]
    rows = [f"{i}\t{text}\t{v}\tr{k}" for i, text, *own in raters for k, v in enumerate(own)]
    rows.append(f"x0\t{REFERENCES[0][1]}\t5\tr0")
    references.write_text("id\ttext\tquality\trater\n" + "\n".join(rows) + "\n")
    assert delta_bleu(files, "--scale", "1", "5") == 0
    expected = 100 * corpus_delta_bleu(OUTPUTS, REFERENCES, [[0.0, 1.0], [0.5]], rule="smooth")
    assert f" = {expected:.2f} " in capsys.readouterr().out
    references.write_text(references.read_text() + rows[0] + "\n")
    assert delta_bleu(files, "--scale", "1", "5") == 1
    assert "--repeated-ratings" in capsys.readouterr().err


def test_ratings_whose_mean_is_the_middle_have_no_weight(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of -0.6 and 0.6 no rounding is left over that would count as a good reference."""
    rows = [f"x0\ta\t{value}\tr{value}" for value in (2, 5)]
    files[1].write_text("id\ttext\tquality\trater\n" + "\n".join([*rows, "x1\tb\t6\tr0\n"]))
    assert delta_bleu(files, "--scale", "1", "6") == 1
    assert "'x0' has no reference of positive weight" in capsys.readouterr().err


def test_without_weights_and_ids_it_is_bleu_by_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs, references = tmp_path / "out.txt", tmp_path / "ref.jsonl"
    outputs.write_text("".join(f"{text}\n" for text in OUTPUTS))
    rows = [{"id": i + 1, "text": text} for i in range(2) for text in REFERENCES[i]]
    references.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert delta_bleu((outputs, references), "--json") == 0
    said = capsys.readouterr()
    expected = corpus_delta_bleu(OUTPUTS, REFERENCES, [[1.0, 1.0], [1.0]], rule="smooth")
    assert json.loads(said.out)["score"] == pytest.approx(100 * expected)
    assert "alike" in said.err


@pytest.mark.parametrize(
    ("references", "more", "message"),
    [
        ("id\ttext\tweight\nx0\ta\t2\nx1\tb\t1\n", [], "ref.tsv:2: weight"),
        ("id\ttext\tweight\nx0\ta\t1\nx9\tb\t1\n", [], "ref.tsv:3: no output has the id 'x9'"),
        ("id\ttext\tweight\nx0\ta\t1\n", [], "out.tsv:3: the output 'x1' has no reference"),
        ("id\ttext\tweight\nx0\ta\t1\nx1\tb\t0\n", [], "out.tsv:3: the output 'x1' has no refer"),
        ("id\ttext\nx0\ta\nx1\tb\n", ["--scale", "1", "5"], "'quality'"),
        ("text\nb\n", [], "'id'"),
        (
            "id\ttext\tquality\nx0\ta\t6\nx1\tb\t1\n",
            ["--scale", "1", "5"],
            "ref.tsv:2: quality",
        ),
    ],
)
def test_a_fault_names_file_line_and_remedy(
    files: tuple[Path, Path],
    references: str,
    more: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files[1].write_text(references)
    assert delta_bleu(files, *more) == 1
    said = capsys.readouterr().err
    assert message in said
    assert "What to do: " in said


def test_options_out_of_range_and_ids_that_are_none(files: tuple[Path, Path]) -> None:
    assert delta_bleu(files, "--max-order", "0") == 1
    assert delta_bleu(files, "--scale", "5", "1") == 1
    for name in ("x0", ""):
        files[0].write_text(f"id\ttext\nx0\ta\n{name}\tb\n")
        assert delta_bleu(files) == 1
