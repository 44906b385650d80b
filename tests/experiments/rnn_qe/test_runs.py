"""RNN-QE's signed files, written and read back, on data sets written here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from refless.data.ratings import RatedTexts
from refless.data.task import write_task
from refless.errors import FormatError, SettingError, StaleError
from refless.experiments.rnn_qe.baselines import COLUMNS, METRICS
from refless.experiments.rnn_qe.runs import (
    PREDICTION_COLUMNS,
    PREDICTIONS,
    gather,
    read_curve,
    read_fold,
    require_texts,
    write_data,
    write_outputs,
)
from refless.models.rnn_qe.names import CURVE_SUBSETS
from refless.store import signed
from tests.models.rnn_qe.test_data import small_texts

DATA = {"seed": 2017, "domain": "sfhot", "system": "LOLS"}
SETTINGS = {"data": DATA}
TASKS = ["nem", "bagel", "sfrest", "sfhot"]


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
    write_outputs(out / "outputs.csv", out / "curve.csv", folders[0], folders[1:], SETTINGS, 1)
    return out


def test_numbers_have_no_text_and_hang_on_texts_and_code(made: Path, folders: list[Path]) -> None:
    file = gather(made / "outputs.csv", [], DATA).outputs
    assert file is not None
    words = ("id", "dataset", "system", "cross_domain", "cross_system")
    for name in file.content.columns.drop([*words]):
        assert pd.api.types.is_numeric_dtype(file.content[name]), name
    assert file.content.columns.tolist()[: len(COLUMNS)] == COLUMNS
    assert file.about["made_from"]["texts"] == small_texts().digest()
    assert len(file.about["signatures"]) == 2
    sizes = file.about["facts"]["instances"]
    assert [len(folds) for folds in sizes.values()] == [5] * 6
    assert set(read_curve(made / "curve.csv", SETTINGS)["size"]) > {50}
    require_texts([made / "outputs.csv"], folders[1:], TASKS)
    with pytest.raises(StaleError, match="was made from"):
        require_texts([made / "curve.csv"], folders, TASKS[:-1])


def test_other_settings_are_refused(made: Path) -> None:
    for changed in ({**DATA, "seed": 1}, {**DATA, "system": "TGen"}):
        with pytest.raises(StaleError, match="other settings"):
            gather(made / "outputs.csv", [], changed)
    with pytest.raises(StaleError, match="other settings"):
        read_curve(made / "curve.csv", {**SETTINGS, "curve": {"sizes": [50], "subsets": 3}})


def test_metrics_that_are_not_there_are_named(folders: list[Path], tmp_path: Path) -> None:
    texts = signed.read(folders[0] / "texts.csv", "texts").content.drop(columns="CIDEr")
    write_task("nem", RatedTexts(texts), tmp_path / "nem", {}, {})
    with pytest.raises(FormatError, match="CIDEr"):
        write_outputs(
            tmp_path / "o.csv", tmp_path / "c.csv", tmp_path / "nem", folders[1:], SETTINGS
        )


def test_training_data_are_a_file_a_fold(folders: list[Path], tmp_path: Path) -> None:
    write_data(tmp_path / "setup1", "setup1", folders[0], folders[1:], DATA)
    assert len(list((tmp_path / "setup1").iterdir())) == 5
    instances, about = read_fold(tmp_path / "setup1/fold4.csv", "setup1")
    assert len(instances.rows("train")) > 200
    assert about["facts"] == {"folds": 5, "share": 1.0}
    assert about["settings"] == {"data": DATA}
    assert about["made_from"]["texts"] == small_texts().digest()
    with pytest.raises(FormatError, match="is about name setup1, not setup2"):
        read_fold(tmp_path / "setup1/fold4.csv", "setup2")
    write_data(tmp_path / "cut", "curve_30_setup1", folders[0], folders[1:], DATA)
    assert len(list((tmp_path / "cut").iterdir())) == 5 * CURVE_SUBSETS
    assert read_fold(tmp_path / "cut/fold0.csv")[1]["facts"]["share"] < 0.2


def test_folds_of_different_data_are_not_trained_on_together(
    folders: list[Path], tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    from refless.experiments.rnn_qe.trainer import _read_folds

    one, two = tmp_path / "setup1", tmp_path / "other/setup1"
    write_data(one, "setup1", folders[0], folders[1:], DATA)
    write_data(two, "setup1", folders[0], folders[1:], {**DATA, "seed": 7})
    assert len(_read_folds(one)[0]) == 5
    whole = (one / "fold3.csv").read_bytes()
    for content in ((two / "fold3.csv").read_bytes(), (one / "fold2.csv").read_bytes()):
        (one / "fold3.csv").write_bytes(content)
        with pytest.raises(StaleError, match="fold 3") as caught:
            _read_folds(one)
        assert f"delete {one} and" in caught.value.remedy
    (one / "fold3.csv").unlink()
    with pytest.raises(FormatError) as gone:
        _read_folds(one)
    assert f"delete {one} and" in gone.value.remedy
    (one / "fold3.csv").write_bytes(whole)


def test_training_makes_predictions_and_models(folders: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="make torch")
    from refless.experiments.rnn_qe.trainer import write_training
    from refless.models.rnn_qe.training import Run

    name, path = "curve_30_setup1", tmp_path / "predictions/curve_30_setup1.csv.gz"
    write_data(tmp_path / name, name, folders[0], folders[1:], DATA)
    given = (tmp_path / name, {"name": "fast", "train": 1}, [0, 1])
    write_training(path, tmp_path / "models", *given, Run(checkpoints=tmp_path / "kept"))
    file = signed.read(path, PREDICTIONS, columns=PREDICTION_COLUMNS)
    table, about = file.content, file.about
    assert table["id"][table["part"] == "test"].nunique() == 500
    assert (table["setup"].unique().tolist(), table["seed"].nunique()) == ([1], 2)
    assert about["settings"]["schedule"]["train"] == 1
    assert about["settings"]["schedule"]["batch"] < 10  # of 50, for a tenth of the rows
    assert len(about["facts"]["models"]) == 2 * 5 * CURVE_SUBSETS
    assert len(list((tmp_path / "models").iterdir())) == 5 * CURVE_SUBSETS
    assert not (tmp_path / "kept").exists()
    with pytest.raises(SettingError, match="slow") as caught:
        write_training(path, tmp_path, given[0], {"name": "slow"}, [0], Run())
    assert caught.value.remedy == "paper or fast"


# ---- predictions ---------------------------------------------------------------------------------


def write_predictions(path: Path, **changes: Any) -> Path:
    rows = [("cross_validation", 1, 0, 0, "test", f"nem:{n:04d}", 3.2, 3.0) for n in range(2)]
    about = {
        "kind": PREDICTIONS,
        "of": {"name": "setup1"},
        "settings": {"data": DATA},
        "made_from": {"texts": small_texts().digest()},
    }
    signed.write(path, pd.DataFrame(rows, columns=PREDICTION_COLUMNS), about | changes)
    return path


OTHERS = ({"settings": {"data": {**DATA, "seed": 1}}}, {"made_from": {"texts": "another sum"}})


def test_predictions_of_other_data_are_of_no_use(made: Path, tmp_path: Path) -> None:
    path, outputs = tmp_path / "setup1.csv.gz", made / "outputs.csv"
    found = gather(outputs, [write_predictions(path)], DATA)
    assert found.predictions["setup1"].content["id"].tolist() == ["nem:0000", "nem:0001"]
    # shipped records may have settings that are none any more
    write_predictions(path, settings={"data": {**DATA, "more": "x"}}, provenance="shipped")
    assert "setup1" in gather(outputs, [path], DATA).predictions
    for changes in OTHERS:  # what is shipped is left out, with a reason
        found = gather(outputs, [write_predictions(path, **changes, provenance="shipped")], DATA)
        assert not found.predictions
        assert (
            "resources/trained/rnn_qe/predictions/setup1.csv.gz"
            in found.untrained["setup1"]["remedy"]
        )
    for changes in OTHERS:  # what was computed here is refused
        with pytest.raises(StaleError, match="was made") as caught:
            gather(outputs, [write_predictions(path, **changes)], DATA)
        assert "train again" in caught.value.remedy


def test_predictions_that_are_not_whole_or_another_set_ups_are_refused(
    made: Path, tmp_path: Path
) -> None:
    path = tmp_path / "setup1.csv.gz"
    with pytest.raises(FormatError, match="no whole signed file"):
        gather(made / "outputs.csv", [path], DATA)
    with pytest.raises(FormatError, match="is about"):
        gather(made / "outputs.csv", [write_predictions(path, of={"name": "setup2"})], DATA)


def test_without_outputs_there_is_a_reason_and_no_prediction(tmp_path: Path) -> None:
    missing = [{"of": {}, "code": "x", "sentence": "the file is missing", "remedy": "place it"}]
    found = gather(None, [write_predictions(tmp_path / "setup1.csv.gz")], DATA, missing)
    assert (found.outputs, found.predictions, found.missing) == (None, {}, missing)
