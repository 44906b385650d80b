"""The command `refless`: what commands share, and what each is to do."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.cli import files, main
from refless.cli.networks import qe
from refless.data.text_ids import text_ids
from refless.kernels import kernel
from refless.models.baselines import RidgeTfidf
from refless.models.delta_bleu import corpus_delta_bleu
from refless.models.neighbor_means import apply_thresholds, neighbor_means
from refless.models.neighbors import NeighborsRegressor
from refless.models.rnn_qe.saved import SHIPPED_MODEL, load_model
from tests.evaluation.made_up import rows, write
from tests.kernels.test_bertscore import needs_torch
from tests.workflow.small_data import sentences

TRAIN = [text.replace("\t", " ") for text in sentences(50, seed=11)]
QUALITY = [1 + i % 5 for i in range(50)]
MINE = [text.replace("\t", " ") for text in sentences(30, seed=12)]
MEANS, COUNTS = neighbor_means(kernel("bleu.char", MINE, TRAIN), np.array(QUALITY, float), 0.08)
EXPECTED = apply_thresholds(MEANS, COUNTS, 50, 5, 0.66)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table("train.jsonl", text=TRAIN, quality=QUALITY)
    table("mine.jsonl", text=MINE)
    return tmp_path


def table(name: str, **columns: Sequence[Any]) -> None:
    rows = zip(*columns.values(), strict=True)
    write(Path(name), [dict(zip(columns, row, strict=True)) for row in rows])


def score(*more: object, ratings: str = "train.jsonl", outputs: str = "mine.jsonl") -> int:
    told = ["score", "--ratings", ratings, "--outputs", outputs, *more]
    return main([str(word) for word in told])


def numbers(content: str, name: str = "prediction") -> list[float]:
    found = [json.loads(line)[name] for line in content.splitlines()]
    return [float("nan") if value is None else value for value in found]


COMMANDS = {  # what is said to each; BAD is a bad file
    "compare": ["--ratings", "BAD"],
    "score": ["--ratings", "BAD", "--outputs", "mine.jsonl"],
    "score outputs": ["--ratings", "train.jsonl", "--outputs", "BAD", "--method", "ridge"],
    "fit": ["--ratings", "BAD", "--out", "out"],
    "estimate": ["--ratings", "BAD"],
    "delta-bleu": ["--ratings", "BAD", "--outputs", "mine.jsonl", "--scale", "1", "5"],
    "train-qe": ["--ratings", "BAD", "--out", "out.npz"],
    "qe": ["--outputs", "BAD"],
}
BAD = [  # content of bad.csv, its line
    ('text,quality,id\n"a,1,1\n', 2),
    ("text,quality,id\na,1,1\nb\n", 3),
    ("text,quality,id\na,yes,1\n", 2),
    ("reply,quality,id\na,1,1\n", None),
    ("", None),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_bad_file_is_told_in_one_place(folder, capsys, command):
    told = ["bad.csv" if word == "BAD" else word for word in COMMANDS[command]]
    for content, line in BAD:
        Path("bad.csv").write_text(content)
        assert main([command.split()[0], *told]) == 1
        out, error = capsys.readouterr()
        assert (out, "What to do" in error) == ("", True)
        assert error.startswith(f"refless: bad.csv:{f'{line}:' if line else ''}")
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize("command", ["compare", "score", "estimate", "train-qe"])
def test_a_bad_file_is_known_before_anything_heavy_is_imported(command):
    Path("bad.csv").write_text(BAD[2][0])
    told = ["bad.csv" if word == "BAD" else word for word in COMMANDS[command]]
    script = (
        "import sys; from refless.cli import main; main(sys.argv[1:]);"
        "print({'pandas', 'numba', 'sklearn', 'scipy.stats', 'torch'} & set(sys.modules))"
    )
    call = [sys.executable, "-c", script, command, *told]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.stdout == "set()\n", done.stderr


REFLESS = [sys.executable, "-c", "import sys; from refless.cli import main; sys.exit(main())"]
SCORE = ["score", "--ratings", "train.jsonl", "--outputs", "mine.jsonl"]
FIT = ["fit", "--ratings", "train.jsonl"]
TRAIN_QE = ["train-qe", "--ratings", "train.jsonl", "--out"]
COMPARE = ["compare", "--ratings", "train.jsonl", "--no-networks"]


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ([], 2),
        ([*FIT, "--out", "m", "--column", "reply=text"], 2),
        ([*SCORE, "--model", "m"], 2),
        (["score", "--model", "m", "--outputs", "mine.jsonl", "--tau", "0.1"], 1),
        (["score", "--model", "m", "--leave-one-out"], 1),
        (["score", "--ratings", "train.jsonl", "--leave-one-out", "--method", "ridge"], 1),
        *(([name, "--help"], 0) for name in ("compare", "score", "fit", "delta-bleu", "qe")),
        ([*FIT, "--out", "pipe"], 1),
        ([*FIT, "--out", "-"], 2),
        ([*FIT, "--out", "link.jsonl"], 1),
        ([*SCORE, "--out", "mine.jsonl"], 1),
        ([*SCORE, "--out", "hard.jsonl"], 1),
        (["score", "--ratings", ".", "--outputs", "new.jsonl", "--out", "train.jsonl"], 1),
        *(([*TRAIN_QE, "m.npz", "--seed", seed], 2) for seed in ("-1", str(2**63), "9" * 5000)),
        ([*COMPARE, "--draws", "1000000000"], 2),
        ([*SCORE, "--out", "out.jsonl", "--tau", "nan"], 1),
        ([*SCORE, "--out", "out.jsonl", "--explain", "0"], 2),
        ([*SCORE[:4], "twice.jsonl", "--method", "ridge"], 1),
        ([*TRAIN_QE, "m.npz", "--scale", "1", "1e200"], 1),
        ([*TRAIN_QE, "m"], 1),
        ([*COMPARE, "--draws", "120"], 1),  # too few for the correction
        ([*COMPARE, "--scale", "5", "1"], 1),
        ([*COMPARE, "--kernel", "bleu.syllable"], 1),
        ([*COMPARE, "--out", "train.jsonl"], 1),
        ([*COMPARE, "--center-raters"], 1),
    ],
)
def test_exit_codes(folder, capsys, told, code):
    os.mkfifo("pipe")
    Path("link.jsonl").symlink_to("train.jsonl")
    os.link("mine.jsonl", "hard.jsonl")
    table("twice.jsonl", text=["a"], prediction=[2])  # not written over
    before = Path("train.jsonl").read_bytes()
    try:
        found = main(told)
    except SystemExit as leaving:  # argparse's way
        found = leaving.code  # type: ignore[assignment]
    said = capsys.readouterr()
    assert found == code
    assert code == 0 or said.out == ""
    assert code != 0 or f"example:\n  refless {told[0]} --" in said.out
    assert code != 1 or said.err.startswith("refless: ")
    assert Path("train.jsonl").read_bytes() == before
    assert Path("pipe").is_fifo()
    assert len(list(folder.iterdir())) == 6


OUTS = {command: ["mine.jsonl/out.npz", "folder.npz"] for command in COMMANDS}
OUTS["compare"] = ["mine.jsonl", "mine.jsonl/out", "-", ""]  # a folder


@pytest.mark.parametrize(("command", "out"), [(name, out) for name in OUTS for out in OUTS[name]])
def test_an_output_that_cannot_be_written_is_refused_before_the_work(capsys, command, out):
    Path("folder.npz").mkdir()
    told = [word for word in COMMANDS[command] if not word.startswith("out")]
    told = [word for word in told if word != "--out"]  # BAD is not there at all
    assert main([command.split()[0], *told, "--out", out]) == 1
    assert capsys.readouterr().err.startswith(f"refless: {out or '--out'}")


STREAMS = """
import json, os, sys
from refless.cli.files import check_out
from refless.errors import OutputError
os.symlink("/dev/stdout", "link.out")
os.symlink("/dev/fd/7", "link.seven")
os.dup2(os.open("other", os.O_CREAT | os.O_WRONLY), 7)
found = {}
for out in sys.argv[1:]:
    try:
        found[out] = check_out(out, "-") is None
    except OutputError:
        found[out] = "refused"
json.dump(found, sys.stderr)
"""


OUT_OF_RATINGS = {  # what else is said to each command
    "score": ["--leave-one-out"],
    "fit": [],
    "train-qe": [],
    "delta-bleu": ["--outputs", "mine.jsonl"],
}


def test_a_stream_is_never_replaced():
    """Whatever it is called, and whatever it leads to."""
    for name in ("log", "messages"):
        Path(name).write_text("old")
    itself = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link.out", "log"]
    others = ["/dev/stderr", "messages", "/dev/fd/7", "other", "link.seven", "/dev/null"]
    others.append("mine.jsonl")
    call = [sys.executable, "-c", STREAMS, *itself, *others, "new"]
    with open("log", "a") as log, open("messages", "a+") as messages, open("mine.jsonl") as mine:
        subprocess.run(call, stdin=mine, stdout=log, stderr=messages, check=True)
    expected = dict.fromkeys(itself, True) | dict.fromkeys(others, "refused") | {"new": False}
    assert json.loads(Path("messages").read_text().removeprefix("old")) == expected
    assert Path("log").read_text() == "old"


@pytest.mark.parametrize("command", ["compare", "estimate", "estimate pairs", *OUT_OF_RATINGS])
def test_a_file_that_is_joined_is_never_written_over(capsys, command):
    name = "d/pairs.csv" if command == "compare" else "d/means.pairs.npz"
    out = {"compare": "d", "estimate pairs": "d/means.npz"}.get(command, name)
    Path("d").mkdir()
    Path(name).write_text("text,score_a\na,1\n")
    told = [command.split()[0], "--ratings", "train.jsonl", *OUT_OF_RATINGS.get(command, [])]
    assert main([*told, "--join", name, "--on", "text", "--out", out]) == 1
    assert "is an input" in capsys.readouterr().err
    assert Path(name).read_text() == "text,score_a\na,1\n"


def test_the_ending_of_out_holds(capsys):
    """Joined columns leave a TSV a TSV, and no TSV is called JSON."""
    pd.DataFrame({"n": range(50), "text": TRAIN, "quality": QUALITY}).to_csv(
        "rated.tsv", sep="\t", index=False
    )
    table("more.jsonl", n=range(50), score_x=QUALITY)
    told = ["--ratings", "rated.tsv", "--join", "more.jsonl", "--on", "n", "--out"]
    assert main(["score", "--leave-one-out", *told, "predicted.tsv"]) == 0
    written = pd.read_csv("predicted.tsv", sep="\t")
    assert list(written)[:5] == ["n", "text", "quality", "score_x", "prediction"]
    assert written["score_x"].tolist() == QUALITY
    assert main(["estimate", *told, "means.json"]) == 1
    assert main(["estimate", *told, "means.json", "--json"]) == 0
    assert json.loads(Path("means.json").read_text())["table"]


def test_no_output_becomes_an_input_of_the_next_call(capsys):
    """A table among the ratings of a folder would be read as ratings; a model is not."""
    Path("rated").mkdir()
    Path("train.jsonl").rename("rated/train.jsonl")
    Path("link").symlink_to("rated")
    for out in ("rated/predicted.tsv", "link/predicted.jsonl.gz"):
        assert score("--out", out, ratings="rated") == 1
        assert out in capsys.readouterr().err
    assert main(["fit", "--ratings", "rated", "--out", "rated/rated.model"]) == 0
    assert sorted(os.listdir("rated")) == ["rated.model", "train.jsonl"]


@pytest.mark.parametrize("streams", [">/dev/full", ">&-", "2>&- >>log --out /dev/stdout"])
def test_streams_that_are_full_or_closed(streams):
    Path("log").write_text("old\n")
    table("rated.jsonl", id=[*range(1, 31)], text=MINE, weight=[1] * 30)
    told = ["delta-bleu", "--outputs", "mine.jsonl", "--ratings", "rated.jsonl"]
    call = f"{shlex.join([*REFLESS, *told])} {streams}"
    done = subprocess.run(call, shell=True, capture_output=True, text=True, check=False)
    if "log" in streams:
        first, rows = Path("log").read_text().split("\n", 1)
        assert (done.returncode, first) == (0, "old")
        assert len(numbers(rows, "delta_bleu")) == 30
    else:
        assert done.returncode == 1
        assert done.stderr.startswith("refless: standard output: ")
        assert not re.search("Traceback|Exception", done.stderr)


def test_control_c_exits_with_130_and_no_traceback():
    pipes = dict.fromkeys(["stdin", "stdout", "stderr"], subprocess.PIPE)
    process = subprocess.Popen([*REFLESS, *SCORE[:4], "-"], **pipes)  # type: ignore[call-overload]
    status = Path(f"/proc/{process.pid}/wchan")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and "pipe" not in status.read_text():
        time.sleep(0.2)  # until it waits for standard input
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err.decode().split() == ["refless:", "interrupted"]


def test_a_closed_pipe_is_a_failure_without_a_word():
    read, written = os.pipe()
    os.close(read)
    call = [*REFLESS, *SCORE, "--tau", "0.2"]
    done = subprocess.run(call, stdout=written, stderr=subprocess.PIPE, text=True, check=False)
    os.close(written)
    assert done.returncode == 1
    assert not re.search("Traceback|Exception", done.stderr)


def test_plain_lines_are_predicted():
    Path("mine.txt").write_text("".join(f"{line}\n" for line in MINE))
    assert score("--tau", 0.08, "--out", "out", outputs="mine.txt") == 0
    found = pd.read_csv("out", sep="\t", quoting=3)
    np.testing.assert_allclose(found["prediction"], EXPECTED, atol=1e-12)
    assert 0 < np.isnan(EXPECTED).sum() < 30


def test_former_options_are_taken_with_a_warning(capsys):
    Path("mine.tsv").write_text("text\nthe cat sat\n")
    former = ["--train", "train.jsonl", "--candidates=mine.tsv", "--format", "tsv"]
    assert main(["score", *former]) == 0
    warnings = capsys.readouterr().err
    assert all(name in warnings for name in ("--ratings", "--outputs", "--outputs-format"))
    for command in ("compare", "score", "fit", "delta-bleu", "train-qe", "qe"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        shown = capsys.readouterr().out
        assert not re.search(r"--(train|candidates|references|format)\b(?!-)", shown)


def test_what_the_file_has_besides_stays(capsys):
    Path("m.json").write_text(
        '[{"id": 7, "text": "abcde", "more": [1]},\n {"text": "x", "note": ["\\ud83d"]}]'
    )
    assert score("--tau", 0.9, outputs="m.json") == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["more"] == [1]
    assert second == {"text": "x", "note": ["\ud83d"], "prediction": None, "neighbors": 0}
    Path("m.csv").write_text("7, text,,\n1,abcde,more,still\n2,x,,\n")  # columns without a name
    assert score("--tau", 0.9, outputs="m.csv") == 0
    given = [row.split(",") for row in capsys.readouterr().out.splitlines()]
    assert given[0] == ["7", " text", "", "", "prediction", "neighbors"]
    assert given[1][:4] == ["1", "abcde", "more", "still"]
    Path("none.tsv").write_text("text\n")
    for method, added in (("neighbors", "\tneighbors"), ("ridge", "")):
        assert score("--method", method, outputs="none.tsv") == 0
        assert capsys.readouterr().out == f"text\tprediction{added}\n"


def test_json_has_an_entry_a_row_and_all_numbers_in_the_users_unit(capsys):
    truth = np.arange(30.0)
    table("mine.jsonl", text=MINE, quality=truth)
    assert score("--json", "--explain", 2, "--tau", 0.08) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    covered = ~np.isnan(EXPECTED)
    assert (found["n"], found["covered"], found["coverage"]) == (30, covered.sum(), covered.mean())
    few, many = (COUNTS < 5).sum(), (COUNTS > 33).sum()
    assert (found["too_few_neighbors"], found["too_many_neighbors"]) == (few, many)
    ours, theirs = EXPECTED[covered], truth[covered]
    assert found["spearman"] == pytest.approx(stats.spearmanr(ours, theirs)[0])
    assert found["pearson"] == pytest.approx(stats.pearsonr(ours, theirs)[0])
    assert found["mse"] == pytest.approx(((ours - theirs) ** 2).mean())
    assert found["mse_of_mean"] == pytest.approx(((np.mean(QUALITY) - theirs) ** 2).mean())
    assert f"of the mean rating {found['mse_of_mean']:.4g}" in captured.err
    matrix = kernel("bleu.char", MINE, TRAIN)
    for number, (row, one) in enumerate(zip(matrix, found["predictions"], strict=True), 1):
        best = [i for i in np.argsort(-row, kind="stable")[:2] if row[i] > 0]
        assert one["row"] == number
        assert [near["text"] for near in one["nearest"]] == [TRAIN[i] for i in best]
        assert [near["quality"] for near in one["nearest"]] == [QUALITY[i] for i in best]
        assert [near["similarity"] for near in one["nearest"]] == row[best].tolist()


def test_one_entry_a_row_where_raters_share_a_text(capsys):
    """Left out, a text is not predicted from another person's rating of it."""
    twice = np.repeat(QUALITY, 2) + np.tile([-0.5, 0.5], 50)
    texts, raters = [*np.repeat(TRAIN, 2).tolist(), "nobody rated it"], [*"ab" * 50, "a"]
    table("rows.jsonl", text=texts, quality=[*twice.tolist(), None], rater=raters)
    found = []
    for name in ("train.jsonl", "rows.jsonl"):
        told = ["score", "--ratings", name, "--leave-one-out", "--tau", "0.08"]
        assert main(told) == 0
        found.append(numbers(capsys.readouterr().out))
    np.testing.assert_allclose(found[1], [*np.repeat(found[0], 2), np.nan])
    model = NeighborsRegressor(tau=0.08).fit(TRAIN, QUALITY)
    np.testing.assert_array_equal(found[0], model.leave_one_out())


def test_no_more_than_all_rated_texts_are_explained(capsys):
    assert score("--explain", 10**12, "--json", "--tau", 0.08) == 0
    found = json.loads(capsys.readouterr().out)["predictions"]
    nearest = (kernel("bleu.char", MINE, TRAIN) > 0).sum(axis=1)
    assert [len(row["nearest"]) for row in found] == nearest.tolist()


@pytest.mark.parametrize("settings", [{}, {"kernel": "rouge_l.plain", "min_neighbors": 2}])
def test_settings_reach_the_model_and_its_file_gives_the_same_bytes(settings, capsys):
    told = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    assert main([*FIT, "--out", "a.model", *told]) == 0
    capsys.readouterr()
    assert main(["score", "--model", "a.model", "--outputs", "mine.jsonl", "--explain"]) == 0
    from_model = capsys.readouterr()
    assert score("--explain", *told) == 0
    assert capsys.readouterr() == from_model
    model = NeighborsRegressor(tau="auto", **settings).fit(TRAIN, QUALITY)
    np.testing.assert_array_equal(numbers(from_model.out), model.predict(MINE))
    assert f"tau {model.tau_:g}" in from_model.err


@pytest.mark.parametrize(("asked", "leaks"), [("The song is so good .", 1), ("THE SONG", 0)])
def test_a_text_among_its_own_neighbors_is_said(capsys, asked, leaks):
    """In another spelling, if it is similar: bleu.char sees no letter of THE SONG in the song."""
    known = ["the song is so good", "the song"]
    table("rated.jsonl", text=[*known, *TRAIN], quality=[3, 3, *QUALITY])
    table("asked.jsonl", text=[asked])
    assert score("--tau", 0.3, ratings="rated.jsonl", outputs="asked.jsonl") == 0
    assert (f"{leaks} of 1 texts have their own text" in capsys.readouterr().err) == bool(leaks)


def test_kernels_say_what_they_cannot_read(capsys):
    write(Path("rated.jsonl"), [{"text": f"место {'да' * k}", "quality": k % 5} for k in range(60)])
    told = ["--ratings", "rated.jsonl", "--kernel", "rouge_l.stem"]
    assert main(["fit", *told, "--out", "a.model"]) == 1
    assert "rouge_l.stem reads 60 of 60 texts as empty" in capsys.readouterr().err
    assert not Path("a.model").exists()
    assert score(ratings="rated.jsonl", outputs="rated.jsonl") == 0
    table("mine.jsonl", text=["да", *TRAIN])
    assert score("--kernel", "rouge_l.stem") == 0
    assert "reads 1 of 51 texts as empty" in capsys.readouterr().err


def test_ridge_predicts_as_the_baseline_does(capsys):
    assert score("--method", "ridge", "--json", "--threads", 1) == 0
    found = json.loads(capsys.readouterr().out)
    groups = text_ids(TRAIN).tolist()
    expected = RidgeTfidf().fit(TRAIN, QUALITY, groups=groups).predict(MINE)
    own = [row["prediction"] for row in found["predictions"]]
    np.testing.assert_allclose(own, expected, atol=1e-9)
    assert found["coverage"] == 1


def test_ridge_beside_the_system_knows_systems_of_any_name(capsys):
    names = ["T5", "T5+RL", "@b [MASK] & <i>"]
    rated = [
        {"reply": row["text"], "stars": row["quality"] + 20 * (k % 3), "system": names[k % 3]}
        for k, row in enumerate(rows(60))
    ]
    write(Path("rated.jsonl"), rated)
    write(Path("new.jsonl"), [{"reply": "so it is", "system": name} for name in [*names, "new"]])
    more = ["--method", "ridge_system", "--column", "text=reply", "--column", "quality=stars"]
    assert score(*more, ratings="rated.jsonl", outputs="new.jsonl") == 0
    found = numbers(capsys.readouterr().out)
    assert [round(value / 20) for value in found] == [0, 1, 2, 1]  # a new one has the mean


@needs_torch
def test_a_network_is_trained_and_rates(capsys, monkeypatch):
    monkeypatch.setattr("refless.models.rnn_qe.cross_fit._WIDTH", 8)
    given = rows(60, system=False, references=False, score_judge=False)
    write(Path("rated.jsonl"), given)
    write(Path("new.jsonl"), [*given[:2], {"text": "all new words", "context": ""}])
    told = ["train-qe", "--ratings", "rated.jsonl", "--out", "mine.npz"]
    assert main(told) == 0
    said = capsys.readouterr().err
    assert "scale 1 to 5, context read as text" in said
    assert "tested on new contexts" in said
    assert main(["qe", "--model", "mine.npz", "--outputs", "new.jsonl"]) == 0
    said = capsys.readouterr()
    found = [json.loads(line) for line in said.out.splitlines()]
    assert all(1 <= row["prediction"] <= 5 for row in found)
    assert "2 of 3 texts are among" in said.err
    assert "squared error" in said.err


@needs_torch
def test_the_network_that_comes_along_says_what_it_is_worth(capsys):
    table("mine.jsonl", text=["there is a hotel"], mr=["inform(type=hotel)"])
    assert main(["qe", "--outputs", "mine.jsonl"]) == 0
    worth, said = load_model(SHIPPED_MODEL).cross_validation, capsys.readouterr().err
    for number in (worth["mse"], worth["mse_of_mean"]):
        assert f"{number:.3f}" in said
        assert f"{number:.3f}" in str(qe.__doc__)


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


def delta_bleu(*more: str, outputs: str = OUTPUT_FILE, references: str = REFERENCE_FILE) -> int:
    Path("out.tsv").write_text(outputs)
    Path("ref.tsv").write_text(references)
    return main(["delta-bleu", "--outputs", "out.tsv", "--ratings", "ref.tsv", *more])


@pytest.mark.parametrize("weighing", [[], ["--scale", "1", "5"]])
def test_delta_bleu_is_that_of_the_library(weighing, capsys):
    assert delta_bleu(*weighing, "--json") == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    expected = 100 * corpus_delta_bleu(OUTPUTS, REFERENCES, WEIGHTS, rule="smooth")
    assert found["score"] == pytest.approx(expected)
    assert captured.err.endswith(f"|{found['signature']} = {expected:.2f}\n")
    assert delta_bleu(*weighing) == 0
    rows = [row.split("\t") for row in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["id", "text", "delta_bleu"]
    for i, row in enumerate(rows[1:]):
        own = corpus_delta_bleu([OUTPUTS[i]], [REFERENCES[i]], [WEIGHTS[i]], rule="smooth")
        assert float(row[2]) == pytest.approx(100 * own)


def test_a_reference_that_several_people_rated_counts_once(capsys):
    """With the mean of its ratings, and not with the best one."""
    raters = [("x0", REFERENCES[0][0], 5, 1, 3), ("x1", REFERENCES[1][0], 4, 4, 4)]
    rows = [f"{i}\t{text}\t{v}\tr{k}" for i, text, *own in raters for k, v in enumerate(own)]
    rows += [f"x0\t{REFERENCES[0][1]}\t5\tr0"]
    references = "\n".join(["id\ttext\tquality\trater", *rows])
    assert delta_bleu("--scale", "1", "5", references=references) == 0
    expected = 100 * corpus_delta_bleu(OUTPUTS, REFERENCES, [[0.0, 1.0], [0.5]], rule="smooth")
    assert f" = {expected:.2f}\n" in capsys.readouterr().err
    assert delta_bleu("--scale", "1", "5", references=f"{references}\n{rows[0]}") == 1
    assert "--repeated-ratings" in capsys.readouterr().err


def test_without_ids_outputs_are_numbered(capsys):
    Path("out.txt").write_text("\n".join(OUTPUTS))
    rated = [(i + 1, text) for i in (0, 1) for text in REFERENCES[i]]
    table("ref.jsonl", id=[i for i, _ in rated], text=[text for _, text in rated], weight=[1] * 3)
    told = ["delta-bleu", "--outputs", "out.txt", "--ratings", "ref.jsonl", "--json"]
    assert main(told) == 0
    expected = corpus_delta_bleu(OUTPUTS, REFERENCES, [[1.0, 1.0], [1.0]], rule="smooth")
    assert json.loads(capsys.readouterr().out)["score"] == pytest.approx(100 * expected)


def test_a_short_text_that_is_its_reference_has_the_best_score(capsys):
    references = "id\ttext\tweight\nx0\ta b c\t1\nx1\tyes\t0.5\n"
    assert delta_bleu(outputs="id\ttext\nx0\ta b c\nx1\tyes\n", references=references) == 0
    rows = [row.split("\t") for row in capsys.readouterr().out.splitlines()[1:]]
    assert [float(row[2]) for row in rows] == [100, 100]


def test_an_empty_reference_has_no_words(capsys):
    assert delta_bleu("--json", references="id\ttext\tweight\nx0\t\t1\nx1\t\t1\n") == 0
    assert json.loads(capsys.readouterr().out)["ref_len"] == 0


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
        ("text\nb\n", [], "'id', 'weight'"),
        ("id\ttext\tquality\nx0\ta\t5\n", [], "--scale"),
        ("id\ttext\tquality\nx0\ta\t6\nx1\tb\t1\n", ["--scale", "1", "5"], "ref.tsv:2: quality"),
        (REFERENCE_FILE, ["--scale", "5", "1"], "--scale"),
    ],
)
def test_a_fault_of_references_names_file_line_or_option(references, more, named, capsys):
    assert delta_bleu(*more, references=references) == 1
    assert named in capsys.readouterr().err


@pytest.mark.parametrize(
    ("outputs", "place"), [("x0\ta\nx0\tb\n", ":2"), ("x0\ta\n\tb\n", ":3"), ("", "")]
)
def test_a_fault_of_outputs_names_the_file_and_the_line(outputs, place, capsys):
    assert delta_bleu(outputs=f"id\ttext\n{outputs}") == 1
    assert f"out.tsv{place}: " in capsys.readouterr().err


def command(line: str) -> int:
    return main(line.split())


@pytest.mark.parametrize(
    "words",
    [
        "score --ratings - --outputs -",
        "score --ratings train.jsonl --outputs - --join - --on text",
        "compare --ratings - -",
        "delta-bleu --outputs - --ratings -",
    ],
)
def test_standard_input_is_read_once(words, capsys):
    with pytest.raises(SystemExit) as stopped:
        command(words)
    assert stopped.value.code == 2
    assert "standard input" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("low", "high"), [("-1", "5"), ("-1e1", "1e1"), ("-.5", "+5.5"), ("-1.", "6")]
)
@pytest.mark.parametrize("sign", [" ", "="])
def test_a_scale_may_begin_below_zero(low, high, sign, capsys):
    words = f"estimate --ratings train.jsonl --scale{sign}{low} {high} --json"
    assert command(words) == 0
    assert command(f"estimate --ratings train.jsonl --scale{sign}-1e1 2") == 1
    assert "are not from -10 to 2" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["--output x.tsv", "--output=x.tsv"])
@pytest.mark.parametrize(
    "asked", ["estimate --ratings train.jsonl", "compare --ratings train.jsonl"]
)
def test_output_proposes_out(asked, word, capsys):
    with pytest.raises(SystemExit) as stopped:
        command(f"{asked} {word}")
    assert stopped.value.code == 2
    assert "--out " in capsys.readouterr().err


def test_a_command_that_takes_long_says_what_it_does(capsys, monkeypatch):
    monkeypatch.setattr(files, "FIRST_WORD", 0.05)
    monkeypatch.setattr(files, "SILENCE", 0.05)
    with files.progress("comparing") as step:
        step(3, 20, "ridge")
        time.sleep(0.3)
    said = capsys.readouterr().err.splitlines()
    assert 2 <= len(said) <= 6
    assert all(line.startswith("comparing: ridge, 3 of 20, ") for line in said)
    with files.progress("comparing"):
        pass
    time.sleep(0.1)
    assert capsys.readouterr().err == ""  # what is quick says nothing


def no_work(*_: Any, **__: Any) -> None:
    raise AssertionError("the work began")


def test_a_column_that_would_be_added_is_refused_before_the_work(capsys, monkeypatch):
    table("clash.jsonl", text=MINE, prediction=[1] * len(MINE))
    table("rated.jsonl", text=TRAIN, quality=QUALITY, neighbors=[1] * len(TRAIN))
    table("clash_id.jsonl", id=["1"], text=["a"], delta_bleu=[1])
    with monkeypatch.context() as patch:
        patch.setattr("refless.evaluation.rate.fit_neighbors", no_work)
        patch.setattr("refless.evaluation.rate.by_method", no_work)
        for words in (["--method", "ridge"], []):
            assert score(*words, outputs="clash.jsonl") == 1
            assert "'prediction'" in capsys.readouterr().err
        assert command("score --ratings rated.jsonl --leave-one-out") == 1
        assert "'neighbors'" in capsys.readouterr().err
        assert command("delta-bleu --ratings rated.jsonl --outputs clash_id.jsonl --scale 1 5") == 1
    # with --json it is in nobody's way
    assert score("--json", outputs="clash.jsonl") == 0


def test_raters_in_columns_and_the_command_that_comes_next(capsys):
    given = rows(120)
    for k, row in enumerate(given):
        row |= {"ann": row["quality"], "bob": min(5, row["quality"] + k % 2)}
        del row["quality"]
    write(Path("wide.jsonl"), given)
    assert command("compare --ratings wide.jsonl --raters ann bob --no-networks --draws 500") == 0
    told = capsys.readouterr()
    assert "2 raters" in told.out
    (following,) = re.findall(r"refless score .*", told.err)
    Path("NEW.tsv").write_text("text\tsystem\tcontext\na good place\tant\twhere?\n")
    assert main(shlex.split(following)[1:]) == 0


def test_names_are_no_formulas_in_a_table_that_a_spreadsheet_opens(capsys):
    given = rows(80)
    for row in given:
        row["system"] = {"ant": "=cmd|' /C calc'!A0", "bee": "@b", "cat": "-1"}.get(
            row["system"], "d"
        )
    write(Path("rated.jsonl"), given)
    assert command("estimate --ratings rated.jsonl --out means.csv") == 0
    for name, column in (("means.csv", "system"), ("means.pairs.csv", "a")):
        names = set(pd.read_csv(name, dtype=str)[column])
        assert names <= {"all", "'=cmd|' /C calc'!A0", "'@b", "-1", "d"}
    # a user's fields stay as they are, and are counted
    pd.DataFrame({"text": ["=1+1", "fine", "-2"]}).to_csv("mine.csv", index=False)
    assert score("--out", "scored.csv", outputs="mine.csv") == 0
    assert pd.read_csv("scored.csv", dtype=str)["text"].tolist() == ["=1+1", "fine", "-2"]
    assert "1 fields begin with =" in capsys.readouterr().err


def test_a_binary_ending_is_refused_for_what_is_written(capsys):
    assert score("--out", "x.xlsx") == 1
    assert ".csv" in capsys.readouterr().err
    assert not Path("x.xlsx").exists()
