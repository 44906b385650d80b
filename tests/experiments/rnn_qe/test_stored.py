"""RNN-QE's signed files, written and read back, on data sets written here."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.data.ratings import RatedTexts
from refless.data.sources import load
from refless.data.task import write_task
from refless.errors import FormatError, SettingError, StaleError
from refless.experiments.rnn_qe import claims, counts, data_size, stored, tables, training, ways
from refless.experiments.rnn_qe.outputs import METRICS, named_mrs, seen, statistics, to_scale
from refless.experiments.rnn_qe.stored import (
    PREDICTION_COLUMNS,
    PREDICTIONS,
    gather,
    predictions_note,
    read_curve,
    read_fold,
    read_outputs,
    read_predictions,
    training_notes,
    write_data,
    write_outputs,
)
from refless.models.rnn_qe.data import Texts, apart, cross_validation
from refless.models.rnn_qe.names import CROSS
from refless.store import signed
from tests.models.rnn_qe.test_data import small_texts

DATA = {"seed": 2017, "synthesise": "first_part", "domain": "sfhot", "system": "LOLS"}
SETTINGS: dict[str, Any] = {
    "data": DATA,
    "neighbors": {
        "kernels": {"bleu": ["bleu.char", 0.08]},
        "min_neighbors": 5,
        "max_share": 0.66,
        "taus": [0.2, 0.8],
        "dev_min_neighbors": 3,
    },
    "curve": {"sizes": [50], "subsets": 2},
}
TEXTS = "sum of texts"
PUBLISHED = Path(__file__).parents[3] / "resources/published"
NOT_THERE = {"of": {}, "code": "x", "sentence": "the file is missing", "remedy": "place it; or"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Tidy tables: the rated outputs, then the references of three data sets."""
    root = tmp_path_factory.mktemp("ratings")
    texts = small_texts()
    numbers = np.random.default_rng(0).random((500, len(METRICS)))
    rated = texts.rated.drop(columns=["mr", "words"]).assign(
        task="nem", quality=0.5, n_ratings=3, **dict(zip(METRICS.values(), numbers.T, strict=True))
    )
    found = {"nem": rated}
    for task, own in texts.references.groupby("task", sort=False):
        own = own.drop(columns=["mr", "words"]).assign(
            text=own["text_nem"], quality=np.nan, n_ratings=0, system="human"
        )
        # a data set need not have parts
        found[str(task)] = own.drop(columns="part") if task == "bagel" else own
    for task, table in found.items():
        write_task(task, RatedTexts(table.reset_index(drop=True)), root / task, {}, {})
    return [root / task for task in found]


@pytest.fixture(scope="module")
def made(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rnn_qe")
    write_outputs(
        out / "outputs.csv", out / "curve.csv", folders[0], folders[1:], SETTINGS, {}, threads=1
    )
    return out


def test_numbers_have_no_text_and_hang_on_texts_and_code(made: Path) -> None:
    file = read_outputs(made / "outputs.csv", SETTINGS)
    for name in file.content.columns:
        if name not in ("id", "dataset", "system", "cross_domain", "cross_system"):
            assert pd.api.types.is_numeric_dtype(file.content[name]), name
    assert file.about["made_from"]["texts"] == small_texts().digest()
    assert len(file.about["signatures"]) == 2
    assert sum(row["outputs"] for row in file.about["facts"]["counts"]["matches"]) == 500
    assert set(read_curve(made / "curve.csv", SETTINGS)["size"]) > {50}


def test_other_settings_are_refused_but_not_another_synthesis(made: Path) -> None:
    read_outputs(made / "outputs.csv", {**SETTINGS, "data": {**DATA, "synthesise": "all_parts"}})
    for changed in (
        {**SETTINGS, "data": {**DATA, "seed": 1}},
        {**SETTINGS, "data": {**DATA, "system": "TGen"}},
        {**SETTINGS, "neighbors": {**SETTINGS["neighbors"], "taus": [0.5]}},
    ):
        with pytest.raises(StaleError, match="other settings"):
            read_outputs(made / "outputs.csv", changed)
    with pytest.raises(StaleError, match="other settings"):
        read_curve(made / "curve.csv", {**SETTINGS, "curve": {"sizes": [50], "subsets": 3}})


def test_metrics_that_are_not_there_are_named(folders: list[Path], tmp_path: Path) -> None:
    texts = signed.read(folders[0] / "texts.csv", "texts").content.drop(columns="CIDEr")
    write_task("nem", RatedTexts(texts), tmp_path / "nem", {}, {})
    with pytest.raises(FormatError, match="CIDEr"):
        write_outputs(
            tmp_path / "o.csv", tmp_path / "c.csv", tmp_path / "nem", folders[1:], SETTINGS, {}
        )


def test_training_data_are_a_file_a_fold(folders: list[Path], tmp_path: Path) -> None:
    write_data(tmp_path / "setup1", "setup1", folders[0], folders[1:], DATA, 1)
    assert len(list((tmp_path / "setup1").iterdir())) == 5
    instances, about = read_fold(tmp_path / "setup1/fold4.csv", "setup1")
    assert len(instances.rows("train")) > 200
    assert about["facts"] == {"folds": 5, "share": 1.0}
    assert about["settings"] == {"data": DATA}
    assert about["made_from"]["texts"] == small_texts().digest()
    with pytest.raises(FormatError, match="is about name setup1, not setup2"):
        read_fold(tmp_path / "setup1/fold4.csv", "setup2")
    write_data(tmp_path / "cut", "curve_30_setup1", folders[0], folders[1:], DATA, 2)
    assert len(list((tmp_path / "cut").iterdir())) == 10
    assert read_fold(tmp_path / "cut/fold0.csv")[1]["facts"]["share"] < 0.2


@pytest.mark.drill(
    "A file between two stages is not what was written",
    "A fold of training data is of other data, stands at another's place or is gone",
    "refused",
    "and the whole folder is to be deleted, which is what helps",
)
def test_folds_of_different_data_are_not_trained_on_together(
    folders: list[Path], tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    from refless.experiments.rnn_qe.trainer import _read_folds
    from refless.models.rnn_qe.reading import Reading

    one, two = tmp_path / "setup1", tmp_path / "other/setup1"
    write_data(one, "setup1", folders[0], folders[1:], DATA, 1)
    write_data(two, "setup1", folders[0], folders[1:], {**DATA, "seed": 7}, 1)
    assert len(_read_folds(one, Reading())[0]) == 5
    whole = (one / "fold3.csv").read_bytes()
    for content in ((two / "fold3.csv").read_bytes(), (one / "fold2.csv").read_bytes()):
        (one / "fold3.csv").write_bytes(content)
        with pytest.raises(StaleError, match="fold 3") as caught:
            _read_folds(one, Reading())
        assert f"delete {one} and" in caught.value.remedy
    (one / "fold3.csv").unlink()
    with pytest.raises(FormatError) as gone:
        _read_folds(one, Reading())
    assert f"delete {one} and" in gone.value.remedy
    (one / "fold3.csv").write_bytes(whole)


def test_training_makes_predictions_and_models(folders: list[Path], tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed: make torch")
    from refless.experiments.rnn_qe.trainer import write_training
    from refless.models.rnn_qe.training import Run

    name, path = "curve_30_setup1", tmp_path / "predictions/curve_30_setup1.csv.gz"
    write_data(tmp_path / name, name, folders[0], folders[1:], DATA, 2)
    given = (tmp_path / name, {"name": "fast", "train": 1}, {"embedding": 6, "hidden": 6}, [0, 1])
    write_training(path, tmp_path / "models", *given, Run(checkpoints=tmp_path / "kept"))
    found, refused = read_predictions([path], DATA, small_texts().digest())
    table, about = found[name].content, found[name].about
    assert table["id"][table["part"] == "test"].nunique() == 500
    assert (table["setup"].unique().tolist(), table["seed"].nunique()) == ([1], 2)
    assert about["settings"]["schedule"]["train"] == 1
    assert about["settings"]["schedule"]["batch"] < 10  # of 50, for a tenth of the rows
    assert len(about["facts"]["models"]) == 20
    assert len(list((tmp_path / "models").iterdir())) == 10
    assert not refused
    assert not (tmp_path / "kept").exists()
    with pytest.raises(SettingError, match="slow") as caught:
        write_training(path, tmp_path, given[0], {"name": "slow"}, {}, [0], Run())
    assert caught.value.remedy == "paper or fast"


@pytest.mark.parametrize("outputs", [True, False])
def test_the_tables_are_made_from_the_files(made: Path, tmp_path: Path, outputs: bool) -> None:
    path = tmp_path / "setup1.csv.gz"
    write_predictions(path, provenance="shipped")  # of other texts
    given = made / "outputs.csv" if outputs else None
    missing = [] if outputs else [NOT_THERE]
    paper = [PUBLISHED / f"rnn_qe_table{number}.csv" for number in range(1, 6)]
    found = gather(given, [path], SETTINGS, missing)
    counts.write_tables(tmp_path, found, paper[:2], ["bagel", "sfrest", "sfhot"])
    training.write_table(tmp_path, found, ["setup1"])
    results = dict(zip(("cross_validation", *CROSS), paper[2:], strict=True))
    bootstrap = {"draws": 100, "seed": 1}
    ways.write_table(tmp_path, found, results, bootstrap)
    for one, published in results.items():
        tables.write_tables(tmp_path, found, one, published, {"bleu": "bleu.char"}, bootstrap)
    differences = PUBLISHED / "rnn_qe_differences.csv"
    claims.write_tables(tmp_path, paper[2:], differences, missing)
    read = {
        name: pd.read_csv(tmp_path / f"rnn_qe_{name}.csv", keep_default_na=False, dtype=str)
        for name in ("table1", "table2", "table3", "training", "table3_williams", "claims")
    }
    assert read["table1"]["total"].tolist()[-1] == ("500" if outputs else "")
    if outputs:
        set_up_1 = read["table3"].query("setup == '1'").iloc[0]
        for row in (set_up_1, read["training"].iloc[0]):
            assert row["reason"] == "other_data"
            assert row["note"].startswith("not available: the shipped predictions are of other")
        assert set(read["table3_williams"]["provenance"]) == {"computed"}
    else:
        for name in ("table1", "table2", "table3", "training"):
            assert set(read[name]["note"]) == {"not available: the file is missing; place it; or"}
        assert read["table3_williams"].empty
    page = (tmp_path / "rnn_qe_table3.md").read_text(encoding="utf-8")
    assert "100 draws, seed 1" in page
    curve = made / "curve.csv" if outputs else None
    drawn = data_size.draw(curve, found, tmp_path / "rnn_qe_table3.csv")
    assert len(drawn.axes) == (4 if outputs else 1)


# ---- predictions ---------------------------------------------------------------------------------


def write_predictions(path: Path, **changes: Any) -> None:
    rows = [("cross_validation", 1, 0, 0, "test", f"nem:{n:04d}", 3.2, 3.0) for n in range(2)]
    table = pd.DataFrame(rows, columns=PREDICTION_COLUMNS)
    about = {
        "kind": PREDICTIONS,
        "of": {"name": "setup1"},
        "settings": {"data": DATA},
        "made_from": {"texts": TEXTS},
    }
    signed.write(path, table, about | changes)


def test_predictions_of_other_data_are_of_no_use(tmp_path: Path) -> None:
    path = tmp_path / "setup1.csv.gz"
    write_predictions(path, provenance="shipped")
    found, refused = read_predictions([path], DATA, TEXTS)
    assert (list(found), refused) == (["setup1"], [])
    assert found["setup1"].content["id"].tolist() == ["nem:0000", "nem:0001"]
    others = (({**DATA, "seed": 1}, TEXTS), (DATA, "another sum"))
    for data, texts in others:  # what is shipped is left out, with a reason
        found, refused = read_predictions([path], data, texts)
        assert found == {}
        assert refused[0]["of"] == {"name": "setup1"}
        assert "resources/trained/rnn_qe/predictions/setup1.csv.gz" in refused[0]["remedy"]
    tests = {"cross_validation": stored._parts([["nem:0001", "nem:0000"]])}
    assert "setup1" in read_predictions([path], DATA, TEXTS, tests)[0]
    found, refused = read_predictions([path], DATA, TEXTS, {"cross_validation": "of other folds"})
    assert (found, len(refused)) == ({}, 1)
    write_predictions(path)
    for data, texts in others:  # what was computed here is refused
        with pytest.raises(StaleError, match="was made") as caught:
            read_predictions([path], data, texts)
        assert "train again" in caught.value.remedy


def test_predictions_that_are_not_whole_or_another_set_ups_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "setup1.csv.gz"
    with pytest.raises(FormatError, match="no whole signed file"):
        read_predictions([path], DATA, TEXTS)
    write_predictions(path, of={"name": "setup2"})
    with pytest.raises(FormatError, match="is about"):
        read_predictions([path], DATA, TEXTS)


def test_notes_say_how_training_differs_from_the_paper_and_where_it_ran() -> None:
    schedule = {"name": "paper", "pretrain": 20, "train": 500, "rate": 1e-4, "batch": 50}
    assert training_notes({"settings": {"schedule": schedule}}) == []
    fast = {"settings": {"schedule": schedule | {"train": 16}}}
    assert training_notes(fast) == ["trained otherwise than in the paper: train 16 for 500"]
    about = {
        "provenance": "shipped",
        "of": {"name": "setup5"},
        "facts": {"machine": "one; two", "seconds": 1234.5},
    }
    assert predictions_note(about) == "predictions of setup5: shipped, one; two, at least 1,234 s"


def test_an_independent_recomputation_of_the_look_up_comes_out(mirror: str) -> None:
    """Numbers of others with code of their own, from the raw file."""
    raw = pd.DataFrame(
        load("nem", "nem", {"path": Path(mirror, "nem/emnlp_data_medians.csv")}).texts
    )
    texts = Texts.of(raw, raw.head(0).assign(part="", text_nem=""))
    rating = texts.rated["median_quality"].to_numpy(np.float64)
    folds = cross_validation(texts.rated, DATA["seed"])
    found = np.full(len(rating), np.nan)
    for split in folds:
        known = pd.Series(rating[split.train]).groupby(texts.rated["words"][split.train].to_numpy())
        found[split.test] = texts.rated["words"][split.test].map(known.mean())
    said = statistics(to_scale(found), rating)
    assert (said["pearson"], said["spearman"]) == pytest.approx((0.316, 0.321), abs=0.0006)
    harder = cross_validation(apart(texts.rated), DATA["seed"])
    assert seen(texts, folds).mean() == pytest.approx(0.59, abs=0.005)
    assert seen(texts, harder).sum() == 0
    assert seen(texts, harder, text_alone=True).mean() == pytest.approx(0.137, abs=0.0005)
    assert (len(rating), named_mrs(texts).max() + 1) == (2460, 1174)
