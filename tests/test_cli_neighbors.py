"""`refless score` and `refless fit`: formats, leave-one-out, tau, models, what they warn of."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from refless.cli import main
from refless.kernels import kernel
from refless.models.baselines import RidgeTfidf
from refless.models.neighbors import NeighborsRegressor, enough_evidence, neighbor_means
from tests.workflow.small_data import sentences

TRAIN = [text.replace("\t", " ") for text in sentences(50, seed=11)]
QUALITY = [1 + i % 5 for i in range(50)]
MINE = [text.replace("\t", " ") for text in sentences(30, seed=12)]
MEANS, COUNTS = neighbor_means(kernel("bleu.char", MINE, TRAIN), np.array(QUALITY, float), 0.08)
EXPECTED = enough_evidence(MEANS, COUNTS, 50, 5, 0.66)

Files = dict[str, Path]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """The same training texts and candidates in every format, and a place for the output."""
    found = {name: tmp_path / f"train.{name}" for name in ("tsv", "csv", "jsonl")}
    found |= {f"mine.{name}": tmp_path / f"mine.{name}" for name in ("tsv", "csv", "jsonl", "txt")}
    pairs = list(zip(TRAIN, QUALITY, strict=True))
    tsv(found["tsv"], ["text", "quality"], pairs)
    tsv(found["mine.tsv"], ["text"], [(text,) for text in MINE])
    for name, header, rows in (
        ("csv", ["text", "quality"], pairs),
        ("mine.csv", ["text"], [(text,) for text in MINE]),
    ):
        with found[name].open("w", newline="", encoding="utf-8") as handle:
            csv.writer(handle).writerows([header, *rows])
    for name, objects in (
        ("jsonl", [{"text": text, "quality": q} for text, q in pairs]),
        ("mine.jsonl", [{"text": text} for text in MINE]),
    ):
        lines = [json.dumps(row, ensure_ascii=False) for row in objects]
        found[name].write_text("\n".join(lines) + "\n", encoding="utf-8")
    found["mine.txt"].write_text("".join(f"{text}\n" for text in MINE), encoding="utf-8")
    return {**found, "out": tmp_path / "out"}


def tsv(path: Path, header: list[str], rows: list[tuple[Any, ...]]) -> None:
    lines = ["\t".join(map(str, row)) for row in (header, *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def refless(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def predicted(format: str, content: str) -> list[float]:
    if format == "jsonl":
        values = [json.loads(line)["prediction"] for line in content.splitlines()]
        return [float("nan") if value is None else value for value in values]
    delimiter = "," if format == "csv" else "\t"
    quoting = csv.QUOTE_MINIMAL if format == "csv" else csv.QUOTE_NONE
    rows = csv.DictReader(io.StringIO(content), delimiter=delimiter, quoting=quoting)
    return [float(row["prediction"] or "nan") for row in rows]


# ---- formats ------------------------------------------------------------------------------------


@pytest.mark.parametrize("train", ["tsv", "csv", "jsonl"])
@pytest.mark.parametrize("mine", ["tsv", "csv", "jsonl", "txt"])
def test_every_format_gives_the_same_predictions(files: Files, train: str, mine: str) -> None:
    given, out = files[f"mine.{mine}"], files["out"]
    assert refless("score", "--train", files[train], "--candidates", given, "--out", out) == 0
    assert np.isnan(EXPECTED).any()
    assert not np.isnan(EXPECTED).all()
    np.testing.assert_allclose(predicted(mine, out.read_text()), EXPECTED, atol=1e-12)


def test_a_format_that_is_named_counts_more_than_the_ending(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = files["mine.csv"].rename(files["mine.csv"].with_suffix(".tsv.csv.dat"))
    train = files["jsonl"].rename(files["jsonl"].with_suffix(".txt"))
    common = ["score", "--train", train, "--train-format", "jsonl", "--candidates", odd]
    assert refless(*common, "--format", "csv") == 0
    np.testing.assert_allclose(predicted("csv", capsys.readouterr().out), EXPECTED, atol=1e-12)


def test_other_columns_and_keys_stay(tmp_path: Path, files: Files) -> None:
    mine = tmp_path / "m.jsonl"
    mine.write_text('{"id": 7, "text": "abcde", "more": [1]}\n\n{"text": "x"}\n')
    out = files["out"]
    assert refless("score", "--train", files["tsv"], "--candidates", mine, "--out", out) == 0
    first, second = map(json.loads, out.read_text().splitlines())
    assert first["more"] == [1]
    assert second == {"text": "x", "prediction": None, "neighbors": 0}
    mine = tmp_path / "m.csv"
    mine.write_text("7, text,,\n1,abcde,more,still\n2,x,,\n")  # two columns without a name
    assert refless("score", "--train", files["tsv"], "--candidates", mine, "--out", out) == 0
    first, second, third = (line.split(",") for line in out.read_text().splitlines())
    assert first == ["7", " text", "", "", "prediction", "neighbors"]
    assert second[:4] == ["1", "abcde", "more", "still"]
    assert third == ["2", "x", "", "", "", "0"]


# ---- leave-one-out, tau, explain, JSON ----------------------------------------------------------


def test_leave_one_out_and_chosen_tau(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["score", "--train", files["tsv"], "--leave-one-out", "--tau", "auto"]
    assert refless(*common, "--out", files["out"]) == 0
    model = NeighborsRegressor(tau="auto").fit(TRAIN, QUALITY)
    np.testing.assert_array_equal(predicted("tsv", files["out"].read_text()), model.leave_one_out())
    said = capsys.readouterr().err
    assert f"tau:{model.tau_!r}(auto)" in said
    assert "leave:one-out" in said
    assert "Spearman" in said


def test_json_has_all_numbers(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    tsv(files["mine.tsv"], ["text", "quality"], list(zip(MINE, range(30), strict=True)))
    common = ["score", "--train", files["tsv"], "--candidates", files["mine.tsv"]]
    assert refless(*common, "--json", "--explain", "2") == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    covered = ~np.isnan(EXPECTED)
    few, many = (COUNTS < 5).sum(), (COUNTS > 33).sum()
    assert found["n"] == 30
    assert (found["covered"], found["coverage"]) == (covered.sum(), covered.mean())
    assert (found["too_few_neighbors"], found["too_many_neighbors"]) == (few, many)
    assert f"{few} with fewer than 5 neighbors, {many} with more than 0.66" in captured.err
    from scipy.stats import pearsonr, spearmanr

    truth = np.arange(30)[covered]
    assert found["spearman"] == pytest.approx(spearmanr(EXPECTED[covered], truth)[0])
    assert found["pearson"] == pytest.approx(pearsonr(EXPECTED[covered], truth)[0])
    assert found["signature"] in captured.err
    matrix = kernel("bleu.char", MINE, TRAIN)
    for row, one in zip(matrix, found["predictions"], strict=True):
        best = [i for i in np.argsort(-row, kind="stable")[:2] if row[i] > 0]
        assert [near["text"] for near in one["nearest"]] == [TRAIN[i] for i in best]
        assert [near["quality"] for near in one["nearest"]] == [QUALITY[i] for i in best]
        assert [near["similarity"] for near in one["nearest"]] == row[best].tolist()


def test_explain_adds_a_column(files: Files) -> None:
    common = ["score", "--train", files["tsv"], "--candidates", files["mine.csv"]]
    assert refless(*common, "--explain", "--out", files["out"]) == 0
    with files["out"].open(newline="", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert [row["text"] for row in rows] == MINE
    assert all(len(json.loads(row["nearest"])) <= 5 for row in rows)


# ---- models -------------------------------------------------------------------------------------


@pytest.mark.parametrize("extra", [[], ["--kernel", "rouge_l.plain", "--min-neighbors", "2"]])
def test_a_model_gives_the_same_bytes(
    files: Files, extra: list[str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    model = files["out"]
    assert refless("fit", "--train", files["csv"], "--out", model, *extra) == 0
    capfdbinary.readouterr()
    more = ["--candidates", files["mine.tsv"], "--explain"]
    assert refless("score", "--model", model, *more) == 0
    from_model = capfdbinary.readouterr()
    assert refless("score", "--train", files["tsv"], *more, *extra) == 0
    assert capfdbinary.readouterr() == from_model
    assert from_model.out.count(b"\n") == 31


# ---- warnings -----------------------------------------------------------------------------------


def test_candidates_that_differ_in_blanks_alone_are_counted_too(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    tsv(files["mine.tsv"], ["text"], [(f"{text.upper()} ",) for text in TRAIN[:4]])
    assert refless("score", "--train", files["tsv"], "--candidates", files["mine.tsv"]) == 0
    assert "warning: 4 of 4 candidates stand word for word" in capsys.readouterr().err


def test_candidates_in_contexts_of_training_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train, asked = tmp_path / "train.tsv", tmp_path / "asked.tsv"
    rows = [
        (f"text {k} of {k % 7}", k % 5, f"what of {k % 3}?" if k % 4 else "") for k in range(40)
    ]
    tsv(train, ["text", "quality", "context"], rows)
    tsv(asked, ["text", "context"], [("new", "What of 1"), ("newer", "else"), ("newest", "")])
    told = ["score", "--train", str(train), "--candidates", str(asked), "--method", "ridge"]
    assert main([*told, "--out", str(tmp_path / "out.tsv")]) == 0
    assert "1 of 3 candidates answer contexts of the training" in capsys.readouterr().err


def test_candidates_among_the_training_texts_are_counted(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    tsv(files["mine.tsv"], ["text"], [(text,) for text in [*MINE[:3], *TRAIN[:4]]])
    refless("fit", "--train", files["tsv"], "--out", files["out"])
    for source in (["--train", files["tsv"]], ["--model", files["out"]]):
        capsys.readouterr()
        assert refless("score", *source, "--candidates", files["mine.tsv"]) == 0
        number = sum(text in TRAIN for text in [*MINE[:3], *TRAIN[:4]])
        assert f"warning: {number} of 7 candidates stand word for word" in capsys.readouterr().err


def test_a_kept_model_knows_its_texts_in_any_spelling(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    tsv(files["mine.tsv"], ["text"], [(f"{text.upper()} .",) for text in TRAIN[:4]])
    refless("fit", "--train", files["tsv"], "--out", files["out"])
    capsys.readouterr()
    assert refless("score", "--model", files["out"], "--candidates", files["mine.tsv"]) == 0
    assert "warning: 4 of 4 candidates stand" in capsys.readouterr().err


def test_repeated_texts_do_not_choose_tau(files: Files) -> None:
    """Each would be its own nearest neighbor, and tau so high that nothing else is one."""
    chosen = []
    for texts in (TRAIN, [*TRAIN, *(f"{text.upper()} " for text in TRAIN)]):
        model = NeighborsRegressor("bleu.char", "auto", 1)
        chosen.append(model.fit(texts, QUALITY * (len(texts) // 50)).tau_)
    assert chosen[0] == chosen[1]


def test_texts_that_differ_in_marks_alone_keep_their_ratings() -> None:
    texts = [f"{k % 12} {sign} {k % 7} is {k}" for k in range(60) for sign in "+-"]
    model = NeighborsRegressor("bleu.char", "auto", 2).fit(texts, [1.0, 5.0] * 60)
    assert np.isfinite(model.predict(texts[:20])).all()


def test_repeated_training_texts_are_counted(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    tsv(files["tsv"], ["text", "quality"], [(text, 1) for text in [*TRAIN, *TRAIN[:6]]])
    again = 56 - len(set(TRAIN))
    assert refless("score", "--train", files["tsv"], "--leave-one-out") == 0
    assert f"warning: {again} of 56 texts repeat an earlier one" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("scale", "noticed"), [((1, 5), False), ((0, 1), True), ((10, 50), True), ((2, 4), False)]
)
def test_another_scale_is_noticed(
    files: Files, scale: tuple[int, int], noticed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    quality = np.linspace(*scale, 30)
    tsv(files["mine.tsv"], ["text", "quality"], list(zip(MINE, quality, strict=True)))
    assert refless("score", "--train", files["tsv"], "--candidates", files["mine.tsv"]) == 0
    assert ("other scales?" in capsys.readouterr().err) == noticed


# ---- faults -------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["score", "fit"])
def test_inputs_are_not_overwritten_and_folders_not_made(
    files: Files, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files["tsv"].read_bytes()
    link = tmp_path / "link.tsv"
    link.symlink_to(files["tsv"])
    more = ["--candidates", files["mine.tsv"]] if command == "score" else []
    for out, message in (
        (files["tsv"], "is an input"),
        (link, "is an input"),
        (tmp_path / "ne w" / "out.tsv", f"mkdir -p '{tmp_path}/ne w'"),
        (tmp_path, "is a folder"),
    ):
        assert refless(command, "--train", files["tsv"], *more, "--out", out) == 1
        said = capsys.readouterr().err
        assert message in said
        assert "What to do" in said
    assert files["tsv"].read_bytes() == before
    assert not (tmp_path / "ne w").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "--train", "-", "--candidates", "-"],
        ["score", "--candidates", "c.tsv"],
        ["score", "--train", "t.tsv"],
        ["score", "--train", "t.tsv", "--model", "m", "--candidates", "c.tsv"],
        ["score", "--model", "m", "--candidates", "c.tsv", "--tau", "0.1"],
        ["score", "--model", "m", "--leave-one-out"],
        ["score", "--train", "{tsv}", "--candidates", "{mine.tsv}", "--tau", "high"],
        ["fit", "--train", "t.tsv"],
        ["nothing"],
        [],
    ],
)
def test_wrong_usage_exits_with_2(
    files: Files, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    given = [files[a[1:-1]] if a.startswith("{") else a for a in arguments]
    try:
        code = refless(*given)
    except SystemExit as leaving:  # argparse's way
        code = leaving.code  # type: ignore[assignment]
    assert code == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("tau", ["8", "-1", "nan", "0"])
def test_a_tau_that_no_value_can_reach_is_refused(
    files: Files, tau: str, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["score", "--train", files["tsv"], "--candidates", files["mine.tsv"]]
    assert refless(*common, f"--tau={tau}") == 1
    assert "tau is" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["score", "fit", "delta-bleu", "qe"])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        refless(command, "--help")
    assert leaving.value.code == 0
    assert f"example:\n  refless {command} --" in capsys.readouterr().out


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_control_c_exits_with_130_and_no_traceback(files: Files) -> None:
    command = [sys.executable, "-m", "refless.cli", "score", "--train", str(files["tsv"])]
    process = subprocess.Popen(
        [*command, "--candidates", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    status = Path(f"/proc/{process.pid}/wchan")
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and "pipe" not in (
        status.read_text() if status.is_file() else "pipe"
    ):
        time.sleep(0.2)  # until it waits for standard input
    if not status.is_file():
        time.sleep(10)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out == b""
    assert err.decode().split() == ["refless:", "interrupted"]


# ---- ratings of several people -------------------------------------------------------------------


def test_ratings_of_one_text_are_one_training_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Left out, a text must not be predicted from another person's rating of it."""
    means, rows = tmp_path / "means.tsv", tmp_path / "rows.tsv"
    tsv(means, ["text", "quality"], list(zip(TRAIN, QUALITY, strict=True)))
    pairs = [
        (text, q + d, who)
        for text, q in zip(TRAIN, QUALITY, strict=True)
        for who, d in (("a", -0.5), ("b", 0.5))
    ]
    tsv(rows, ["text", "quality", "rater"], pairs)
    for path in (means, rows):
        out = path.with_suffix(".out")
        assert refless("score", "--train", path, "--leave-one-out", "--out", out) == 0
    once, twice = (predicted("tsv", (tmp_path / n).read_text()) for n in ("means.out", "rows.out"))
    np.testing.assert_allclose(twice, np.repeat(once, 2), equal_nan=True)
    assert np.isfinite(once).any()
    capsys.readouterr()
    for path in (means, rows):
        assert refless("fit", "--train", path, "--out", path.with_suffix(".model")) == 0
    signatures = capsys.readouterr().err.split()
    assert signatures[1] == signatures[3]


def test_a_tau_that_suits_few_texts_is_named(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = (
        "score",
        "--train",
        files["tsv"],
        "--candidates",
        files["mine.tsv"],
        "--out",
        os.devnull,
    )
    for tau, warned in (("0.9", True), ("auto", False)):
        assert refless(*asked, "--tau", tau) == 0
        assert ("--tau auto" in capsys.readouterr().err) == warned


# ---- ridge regression ----------------------------------------------------------------------------


def test_ridge_predicts_as_the_baseline_does(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["score", "--train", files["tsv"], "--candidates", files["mine.tsv"]]
    assert main([*map(str, told), "--method", "ridge", "--json"]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    groups = [" ".join(text.split()).casefold() for text in TRAIN]
    expected = RidgeTfidf().fit(TRAIN, QUALITY, groups=groups).predict(MINE)
    own = [row["prediction"] for row in found["predictions"]]
    np.testing.assert_allclose(own, expected, atol=1e-9)
    assert (found["coverage"], found["method"]) == (1, "ridge")
    assert "method:ridge|alpha:" in said.err


def test_ridge_beside_the_system_reads_the_systems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    systems = ["a" if k % 3 else "b" for k in range(50)]
    quality = [q + (0 if s == "a" else 10) for q, s in zip(QUALITY, systems, strict=True)]
    train, mine = tmp_path / "train.tsv", tmp_path / "mine.tsv"
    tsv(train, ["text", "quality", "system"], list(zip(TRAIN, quality, systems, strict=True)))
    written_by = ["a" if k % 2 else "b" for k in range(30)]
    tsv(mine, ["text", "system"], list(zip(MINE, written_by, strict=True)))
    told = ["score", "--train", train, "--candidates", mine, "--method", "ridge_system", "--json"]
    assert main([str(word) for word in told]) == 0
    rows = json.loads(capsys.readouterr().out)["predictions"]
    for row, system in zip(rows, written_by, strict=True):
        assert (row["prediction"] > 7) == (system == "b")
    tsv(mine, ["text", "system"], [(MINE[0], "a"), (MINE[1], "new")])
    assert main([str(word) for word in told]) == 1
    error = capsys.readouterr().err
    assert "mine.tsv:3" in error
    assert "'new'" in error
    assert "--method ridge" in error


def test_ridge_without_candidates_writes_none(tmp_path: Path, files: Files) -> None:
    rated, none = tmp_path / "rated.tsv", tmp_path / "none.tsv"
    tsv(
        rated,
        ["text", "quality", "system"],
        [(t, q, "s") for t, q in zip(TRAIN, QUALITY, strict=True)],
    )
    tsv(none, ["text", "system"], [])
    told = ["score", "--train", rated, "--candidates", none, "--out", files["out"], "--method"]
    for method in ("ridge", "ridge_system"):
        assert main([*map(str, told), method]) == 0
        assert files["out"].read_text(encoding="utf-8") == "text\tsystem\tprediction\n"


def test_a_text_of_two_systems_is_two_and_a_system_is_one(tmp_path: Path) -> None:
    """A rater may rate both; and a name is the same however its letters are composed."""
    names = ("Å one", "A\u030a  one", "b")
    rows = [(TRAIN[k], QUALITY[k], names[k % 3], "ann") for k in range(50)]
    rows += [(TRAIN[0], 1, "b", "ann"), (TRAIN[1], 5, names[0], "bob")]
    rated, mine, out = (tmp_path / f"{name}.tsv" for name in ("rated", "mine", "out"))
    tsv(rated, ["text", "quality", "system", "rater"], rows)
    tsv(mine, ["text", "system"], [(MINE[0], names[1]), (MINE[0], names[0])])
    told = ["score", "--train", rated, "--candidates", mine, "--out", out, "--method"]
    for method in ("ridge", "ridge_system"):
        assert main([*map(str, told), method]) == 0
    own = [line.split("\t")[-1] for line in out.read_text(encoding="utf-8").splitlines()[1:]]
    assert own[0] == own[1]


def test_no_neighbors_at_all_may_not_be_asked_for(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["--train", files["tsv"], "--candidates", files["mine.tsv"]]
    for tau in ("auto", "0.1"):
        assert refless("score", *common, "--tau", tau, "--max-share", "0") == 1
        assert "--max-share is 0" in capsys.readouterr().err


def test_more_neighbors_than_there_may_be_are_told_as_such(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["--train", files["tsv"], "--candidates", files["mine.tsv"]]
    assert refless("score", *common, "--min-neighbors", "1000") == 0
    said = capsys.readouterr().err
    assert "--max-share" in said
    assert "--tau auto" not in said


def test_two_raters_of_a_text_that_differs_in_blanks_rate_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.tsv"
    rows = "a good text\t1\tann\na good  text \t4\tbob\na good test\t2\tann\n"
    path.write_text("text\tquality\trater\n" + rows)
    told = ["--train", path, "--tau", 0.01, "--min-neighbors", 1, "--max-share", 1]
    assert refless("score", *told, "--leave-one-out") == 0
    found = list(csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter="\t"))
    # both rows from the other text, whose own estimate is the mean of the two ratings
    assert [float(row["prediction"]) for row in found] == [2, 2, 2.5]


def test_rounding_is_no_order_and_tiny_ratings_are_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = np.random.default_rng(0)
    words = ["".join(generator.choice(list("abc"), 10)) for _ in range(120)]
    mine = tmp_path / "mine.tsv"
    rows = [f"{word}\t{k % 7}" for k, word in enumerate(words[80:], 1)]
    mine.write_text("\n".join(["text\tquality", *rows]) + "\n")
    tiny = (-1e-300 * generator.integers(1, 6, 80)).tolist()
    far = [*(-0.2 * generator.integers(1, 6, 79)).tolist(), 1e14]
    for name, ratings in (("alike", [0.1] * 80), ("tiny", tiny), ("far", far)):
        train = tmp_path / f"{name}.tsv"
        rows = [f"{word}\t{rating!r}" for word, rating in zip(words[:80], ratings, strict=True)]
        train.write_text("\n".join(["text\tquality", *rows]) + "\n")
        common = ["--candidates", mine, "--json", "--tau", "0.2", "--max-share", "1"]
        assert refless("score", "--train", train, *common) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["covered"] > 10
        if name == "alike":
            assert found["spearman"] is None
            assert found["pearson"] is None
        else:
            pairs = np.array(
                [
                    (row["prediction"] * (1e300 if name == "tiny" else 1), k % 7)
                    for k, row in enumerate(found["predictions"], 1)
                    if row["prediction"] is not None
                ]
            ).T
            assert found["pearson"] == pytest.approx(np.corrcoef(pairs)[0, 1])
            assert found["spearman"] == pytest.approx(spearmanr(pairs[0].round(9), pairs[1])[0])


@pytest.mark.parametrize(
    "more",
    [
        ["--tau", "0.1"],
        ["--explain"],
        ["--kernel", "bleu.word"],
        ["--min-neighbors", "0"],
        ["--option", "x=1"],
        ["--wordnet", "nowhere"],
        ["--threads", "0"],
    ],
)
def test_settings_of_neighbors_do_not_go_with_ridge(files: Files, more: list[str]) -> None:
    told = ["score", "--train", files["tsv"], "--candidates", files["mine.tsv"]]
    assert main([*map(str, told), "--method", "ridge", *more]) == 2
    alone = ["score", "--train", str(files["tsv"]), "--leave-one-out"]
    assert main([*alone, "--method", "ridge"]) == 2
    assert main([*alone, "--format", "jsonl"]) == 2


def test_a_model_is_a_file(
    files: Files,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for out in (pipe, "-"):
        assert refless("fit", "--train", files["tsv"], "--out", out) == 1
        assert "What to do: name a file" in capsys.readouterr().err
    assert pipe.is_fifo()
    assert not Path("-").exists()


def test_a_link_to_a_model_stays_a_link(files: Files, tmp_path: Path) -> None:
    model, link = tmp_path / "a.model", tmp_path / "link.model"
    model.write_text("old")
    link.symlink_to(model)
    assert refless("fit", "--train", files["tsv"], "--out", link) == 0
    assert link.is_symlink()
    assert model.read_bytes() != b"old"


def test_a_column_that_is_there_is_known_before_the_work(
    files: Files, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tsv(files["tsv"], ["text", "quality", "neighbors"], [("a", 1, 2), ("b", 2, 3)])
    monkeypatch.setattr("refless.cli.score.fitted", lambda *_: 1 / 0)
    assert refless("score", "--train", files["tsv"], "--leave-one-out") == 1
    assert "already has a column 'neighbors'" in capsys.readouterr().err


def test_as_many_nearest_texts_as_there_are(files: Files) -> None:
    told = ["score", "--train", files["tsv"], "--candidates", files["mine.jsonl"]]
    assert refless(*told, "--explain", 100_000_000_000, "--out", files["out"]) == 0
    rows = [json.loads(line) for line in files["out"].read_text().splitlines()]
    assert 0 < max(len(row["nearest"]) for row in rows) <= len(TRAIN)


def test_standard_output_that_is_closed_is_told(
    files: Files, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert refless("score", "--train", files["tsv"], "--candidates", files["mine.tsv"]) == 1
    assert "--out" in capsys.readouterr().err


def test_what_is_open_is_written_to_as_it_is(tmp_path: Path) -> None:
    """Opened anew by its name, a file would lose what it has, and a pipe has no name."""
    tsv(tmp_path / "r.tsv", ["text", "quality"], [("good food", 5), ("bad food", 1)])
    tsv(tmp_path / "c.tsv", ["text"], [("good food",)])
    command = f"{sys.executable} -m refless.cli score --train r.tsv --candidates c.tsv --tau 0.3"
    command += " --min-neighbors 1 --out"
    script = f"echo before; {command} /dev/stdout 2>&-; echo after"
    for given in (f"({script}) > log.txt", f"({script}) | cat > log.txt"):
        subprocess.run(["bash", "-ec", given], cwd=tmp_path, check=True)
        before, header, row, after = (tmp_path / "log.txt").read_text().splitlines()
        assert (before, header, after) == ("before", "text\tprediction\tneighbors", "after")
        assert row.startswith("good food\t")
    subprocess.run(["bash", "-ec", f"{command} >(cat > p.tsv); wait"], cwd=tmp_path, check=True)
    assert (tmp_path / "p.tsv").read_text().startswith("text\tprediction")
    for closed in ("/dev/stdout 1>&-", "/dev/stderr 2>&-", "/dev/fd/99999999999999999999"):
        done = subprocess.run(["bash", "-c", f"{command} {closed}"], cwd=tmp_path, check=False)
        assert done.returncode == 1
    for model, status in (("/dev/stdout", 1), ("/dev/fd/99", 1)):
        fit = [*command.replace("score", "fit").split()[:6], "--out", model]
        done = subprocess.run(fit, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, "name a file" in done.stderr) == (status, True), done.stderr
