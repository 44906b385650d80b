"""`refless compare` from a file to its outputs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from refless.cli import main
from refless.compare.files import FILES
from refless.compare.predicted import TRIVIAL
from refless.data.sources import table
from tests.compare.made_up import rows, write

ESTIMATES = ("spearman", "pearson", "mse", "coverage", "pairwise_accuracy", "ratings_saved")


@pytest.fixture(autouse=True)
def no_wordnet(monkeypatch: pytest.MonkeyPatch) -> None:
    """METEOR is for other tests."""
    import nltk.data

    monkeypatch.delenv("REFLESS_WORDNET", raising=False)
    monkeypatch.setattr(nltk.data, "path", [])


def compare(ratings: Path, out: Path, *more: object) -> int:
    told = ["compare", "--ratings", ratings, "--out", out, "--draws", 200, "--scale", 1, 5]
    told += ["--deals", 2, "--no-networks", *more]
    return main([str(argument) for argument in told])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Ratings, and a folder with all outputs."""
    folder = tmp_path_factory.mktemp("compare")
    ratings = write(folder / "rated.jsonl", rows())
    assert compare(ratings, folder / "out") == 0
    return ratings, folder / "out"


def test_the_table_has_every_method_under_every_split(made: tuple[Path, Path]) -> None:
    found = pd.read_csv(made[1] / "comparison.csv", keep_default_na=False, na_values=[""])
    assert {"method", "kernel", "split", "n", "note"} <= set(found)
    assert {f"{name}{end}" for name in ESTIMATES for end in ("", "_low", "_high")} <= set(found)
    methods = {
        *(*TRIVIAL, "ridge", "ridge_system"),
        *("neighbors", "bleu", "delta_bleu", "judge", "judge.calibrated", "rnn_qe"),
    }
    for split in ("texts", "systems", "contexts"):
        own = found[found["split"] == split]
        assert set(own["method"]) == methods
        assert {"bleu.char", "bleu.word", "rouge_l.stem"} <= set(own["kernel"].dropna())
        assert set(own["n"]) == {120}  # the same candidates for all
    left_out = found[found["coverage"].isna()]
    assert left_out["note"].str.startswith("left out: ").all()
    known = found[found["pearson"].notna()]
    # of a method that abstains from nearly all, a draw may have nothing to rank
    told = known[(known["pearson_low"].notna()) | (known["coverage"] > 0.05)]
    assert told["pearson"].between(told["pearson_low"], told["pearson_high"]).all()
    saved = np.maximum(known["pearson"], 0) ** 2
    np.testing.assert_allclose(known["ratings_saved"], saved, atol=2e-6)


def test_what_is_good_about_the_texts_is_found(made: tuple[Path, Path]) -> None:
    found = pd.read_csv(made[1] / "comparison.csv").set_index(["split", "method"])
    for split in ("texts", "systems", "contexts"):
        assert found.loc[split, "ridge"]["pearson"] > 0.6
        assert found.loc[split, "judge"]["pearson"] > 0.5
        assert found.loc[split, "length"]["pearson"] < 0.3
    record = json.loads((made[1] / "comparison.json").read_text())
    assert record["verdicts"]["systems"] == "use"
    assert "use ridge" in record["recommendation"][0]


def test_a_raw_score_has_the_correlation_of_its_column(made: tuple[Path, Path]) -> None:
    given = table.load(made[0], "mine", [1, 5]).texts
    found = pd.read_csv(made[1] / "comparison.csv").set_index(["split", "method"])
    row = found.loc["texts", "judge"]
    own = pd.read_csv(made[1] / "predictions.csv")
    ours = []
    for _, part in own[own["split"] == "texts"].groupby("deal"):
        fold = part["fold"].to_numpy()
        pair = [
            (given[name] - given[name].groupby(fold).transform("mean")).round(12)
            for name in ("score_judge", "quality")
        ]
        ours.append((stats.pearsonr(*pair).statistic, stats.spearmanr(*pair).statistic))
    means = np.mean(ours, axis=0)
    np.testing.assert_allclose((row["pearson"], row["spearman"]), means, atol=1e-6)


def test_predictions_give_the_table(made: tuple[Path, Path]) -> None:
    found = pd.read_csv(made[1] / "comparison.csv").set_index(["split", "method", "kernel"])
    row = found.loc["contexts", "neighbors", "bleu.char"]
    name, ours = "neighbors (bleu.char)", []
    whole = pd.read_csv(made[1] / "predictions.csv")
    for _, own in whole[whole["split"] == "contexts"].groupby("deal"):
        covered = own[own[name].notna()]
        mean = [own.loc[own["fold"] != fold, "quality"].mean() for fold in own["fold"]]
        filled = own[name].fillna(pd.Series(mean, index=own.index))
        x, y = (v - v.groupby(own["fold"]).transform("mean") for v in (filled, own["quality"]))
        ours.append(
            {
                "coverage": len(covered) / 120,
                "mse_covered": ((covered[name] - covered["quality"]) ** 2).mean(),
                "mse": ((filled - own["quality"]) ** 2).mean(),
                "spearman": stats.spearmanr(x.round(9), y.round(9)).statistic,
            }
        )
    assert len(ours) == 2
    for measure, value in pd.DataFrame(ours).mean().items():
        assert row[measure] == pytest.approx(value, abs=1e-4)


def test_the_page_asks_for_nothing_and_no_output_has_a_text(made: tuple[Path, Path]) -> None:
    page = (made[1] / "report.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert not re.search(r"url\(|@import|<link", page)
    assert page.count("data:image/svg+xml;base64,") == 3
    texts = [row["text"] for row in rows()]
    for path in made[1].iterdir():
        content = path.read_text(encoding="utf-8")
        assert not any(text in content for text in texts), path.name
        assert str(made[0].parent) not in content, path.name


def test_a_seed_makes_the_same_bytes(made: tuple[Path, Path], tmp_path: Path) -> None:
    assert compare(made[0], tmp_path / "again", "--threads", 1) == 0
    names = sorted(path.name for path in made[1].iterdir())
    assert set(FILES) <= set(names)
    assert names == sorted(path.name for path in (tmp_path / "again").iterdir())
    for name in names:
        assert (tmp_path / "again" / name).read_bytes() == (made[1] / name).read_bytes(), name
    assert compare(made[0], tmp_path / "other", "--seed", 1, "--no-curve") == 0
    other = (tmp_path / "other" / "comparison.csv").read_bytes()
    assert other != (made[1] / "comparison.csv").read_bytes()
    assert not (tmp_path / "other" / "learning_curve.csv").exists()


def test_the_curve_grows(made: tuple[Path, Path]) -> None:
    curve = pd.read_csv(made[1] / "learning_curve.csv")
    ridge = curve[curve["method"] == "ridge"]
    assert ridge["ratings"].tolist() == [25, 50, 90]
    assert ridge["pearson"].iloc[-1] > ridge["pearson"].iloc[0]


def test_ratings_that_change_while_they_are_read_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from refless.cli import compare as own

    path, read = write(tmp_path / "r.jsonl", rows(40)), own.ratings_of

    def and_then_written(*told: Any, **more: Any) -> Any:
        found = read(*told, **more)
        path.write_text(path.read_text() + path.read_text().splitlines()[0] + "\n")
        return found

    monkeypatch.setattr(own, "ratings_of", and_then_written)
    assert compare(path, tmp_path / "out") == 1
    assert "while they were read" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_second_comparison_leaves_nothing_of_the_first(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "r.jsonl", rows(40 if name == "a" else 30))
    out = tmp_path / "out"
    common = ["compare", "--out", str(out), "--draws", "100", "--kernel", "bleu.char"]
    common += ["--no-networks", "--scale", "1", "5", "--ratings"]
    both = [(tmp_path / name / "r.jsonl").as_posix() for name in ("a", "b")]
    assert main([*common, *both]) == 0
    assert set(json.loads((out / "comparison.json").read_text())["input"]) == set(both)
    assert (out / "learning_curve.csv").is_file()
    assert main([*common, both[1], "--no-curve"]) == 0
    assert not (out / "learning_curve.csv").exists()


@pytest.mark.parametrize(
    "columns", [("score_judge", "score_judge.calibrated"), ("score_length", "score_score_length")]
)
def test_scores_have_names_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], columns: tuple[str, str]
) -> None:
    given = [
        {"text": row["text"], "quality": row["quality"], **dict.fromkeys(columns, k / 7)}
        for k, row in enumerate(rows(60))
    ]
    ratings = write(tmp_path / "rated.jsonl", given)
    assert compare(ratings, tmp_path / "out", "--no-curve") == 1
    assert columns[1] in capsys.readouterr().err


def test_two_columns_are_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [{"text": row["text"], "quality": row["quality"]} for row in rows(60)]
    ratings = write(tmp_path / "rated.jsonl", given)
    assert compare(ratings, tmp_path / "out", "--no-curve", "--kernel", "bleu.word") == 0
    said = capsys.readouterr()
    assert "new texts of the same kind" in said.out
    assert "No split by systems" in said.err
    found = pd.read_csv(tmp_path / "out" / "comparison.csv")
    assert set(found["split"]) == {"texts"}
    assert set(found["kernel"].dropna()) == {"bleu.word"}
    left_out = found[found["coverage"].isna()].set_index("method")["note"]
    lost = {"system_mean", "ridge_system", "context_mean", "bleu", "delta_bleu", "lookup", "rnn_qe"}
    assert lost == set(left_out.index)


def test_where_texts_are_too_few_for_tests_there_is_no_p(tmp_path: Path) -> None:
    ratings = write(tmp_path / "rated.jsonl", rows(28))
    assert compare(ratings, tmp_path / "out", "--no-curve", "--kernel", "bleu.word") == 0
    found = pd.read_csv(tmp_path / "out" / "comparison.csv")
    assert found["difference"].notna().any()
    assert found[["p", "difference_low", "difference_high"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--scale", 2, 5], "not from 2 to 5"),
        (["--kernel", "bleu.syllable"], "bleu.syllable"),
        (["--draws", 5], "--draws"),
        (["--seed", -1], "--seed"),
        (["--wordnet", "nowhere"], "nowhere"),
        (["--ratings", "nowhere.tsv"], "nowhere.tsv"),
        (["--format", "csv"], "text"),
    ],
)
def test_a_fault_of_the_input_is_one_message(
    made: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: list[object],
    word: str,
) -> None:
    assert compare(made[0], tmp_path / "out", *more) == 1
    said = capsys.readouterr().err
    assert said.startswith("refless: ")
    assert word in said
    assert "What to do" in said
    assert not list((tmp_path / "out").glob("*"))


def test_a_file_in_the_place_of_the_folder(
    made: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("mine")
    assert compare(made[0], tmp_path / "out") == 1
    assert "What to do" in capsys.readouterr().err
    assert (tmp_path / "out").read_text() == "mine"


def test_outputs_are_never_written_over_the_ratings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ratings = tmp_path / "predictions.csv"
    lines = [f"{row['text']},{row['quality']}" for row in rows(30)]
    ratings.write_text("\n".join(["text,quality", *lines]) + "\n")
    before = ratings.read_bytes()
    for given in (ratings, tmp_path):
        assert compare(given, tmp_path) == 1
        assert "What to do" in capsys.readouterr().err
    assert ratings.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["predictions.csv"]


def test_wrong_usage_leaves_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["compare", "--ratings", "x.tsv"])
    assert left.value.code == 2
    with pytest.raises(SystemExit) as left:
        main(["compare", "--help"])
    assert left.value.code == 0
    assert "example:" in capsys.readouterr().out


def test_a_scale_upside_down_is_wrong_usage(
    made: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(made[0], tmp_path / "out", "--scale", 5, 1) == 1
    assert "--scale" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "code", "word"),
    [
        (["--out", ""], 2, "folder"),
        (["--ratings", "-"], 2, "standard input"),
        (["--ratings", "nowhere"], 1, "nowhere"),
        (["--scale", 1, 1e200], 1, "--scale"),
    ],
)
def test_what_is_wrong_is_known_before_anything_is_written(
    made: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: list[object],
    code: int,
    word: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert compare(made[0], Path("out"), *more) == code
    assert word in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_folder_in_the_place_of_an_output_is_known_before_the_work(
    made: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "learning_curve.csv").mkdir()
    assert compare(made[0], tmp_path, "--no-curve") == 1
    assert "What to do" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["learning_curve.csv"]


def test_names_of_any_bytes_and_letters_are_written(tmp_path: Path) -> None:
    given = [
        {"text": row["text"], "quality": row["quality"], "score_\u00e9": row["quality"]}
        for row in rows(40)
    ]
    path = tmp_path / os.fsdecode(b"r\xff.jsonl")
    write(path, given)
    told = [sys.executable, "-m", "refless.cli", "compare", "--ratings", path]
    told += ["--out", tmp_path / "out", "--scale", "1", "5", "--kernel", "bleu.word", "--no-curve"]
    told += ["--draws", "100", "--deals", "1", "--no-networks"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(told, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "\\xe9" in done.stdout
    record = json.loads((tmp_path / "out" / "comparison.json").read_text(encoding="utf-8"))
    assert set(record["input"]) == {"r\\xff.jsonl"}
