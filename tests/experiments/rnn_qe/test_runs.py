"""RNN-QE's signed files, written and read back, on data sets written here."""

from pathlib import Path

import numpy as np
import pytest

from refless.data.ratings import RatedTexts
from refless.data.task import write_task
from refless.errors import FormatError
from refless.experiments.rnn_qe.baselines import METRICS, write_outputs
from refless.experiments.rnn_qe.runs import write_predictions
from refless.experiments.rnn_qe.tables import gather
from refless.models.rnn_qe import names
from refless.store import sealed
from tests.conftest import Project
from tests.models.rnn_qe.test_data import small_texts

DATA = {"seed": 2017, "domain": "sfhot", "system": "LOLS"}


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
        found[str(task)] = own.drop(columns="part") if task == "bagel" else own
    for task, table in found.items():
        write_task(RatedTexts(table.reset_index(drop=True)), root / task, {})
    return [root / task for task in found]


@pytest.fixture(scope="module")
def made(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rnn_qe")
    write_outputs(out / "outputs.csv", out / "curve.csv", folders[0], folders[1:], DATA, 1)
    return out


def test_metrics_that_are_not_there_are_named(folders: list[Path], tmp_path: Path) -> None:
    texts = sealed.read(folders[0] / "texts.csv").content.drop(columns="CIDEr")
    write_task(RatedTexts(texts), tmp_path / "nem", {})
    with pytest.raises(FormatError, match="CIDEr"):
        write_outputs(tmp_path / "o.csv", tmp_path / "c.csv", tmp_path / "nem", folders[1:], DATA)


def test_a_training_writes_predictions_and_how_they_were_made(
    made: Path, folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="make torch")
    monkeypatch.setitem(names.SCHEDULES, "short", names.Schedule(0, 1, 1e-3, 200))
    paths = [tmp_path / f"{seed}.csv.gz" for seed in (0, 1)]
    for seed, path in enumerate(paths):
        write_predictions(path, "cross_domain_1_setup2", seed, folders[0], folders[1:], DATA)
    file = sealed.read(paths[1])
    assert set(file.content["part"]) == {"dev", "test"}
    assert set(file.content["seed"]) == {1}
    facts = file.about["facts"]
    assert (facts["schedule"]["name"], facts["schedule"]["train"]) == ("short", 1)
    assert facts["network"] == {"width": 300, "dropout": 0.5, "precision": "float32"}
    assert [best["pass"] for best in facts["best"]] == [1]
    # the seeds that were trained are those that count
    found = gather(made / "outputs.csv", {"cross_domain_1_setup2": paths}).predictions
    assert found["cross_domain_1_setup2"].content["seed"].unique().tolist() == [0, 1]


@pytest.mark.slow
def test_a_run_says_what_it_trains_and_a_later_one_trains_the_rest(fresh: Project) -> None:
    pytest.importorskip("torch", reason="make torch")
    files = [f"results/rnn_qe/predictions/cross_domain_1_setup1/{seed}.csv.gz" for seed in (0, 1)]
    assert "trains 1 networks of RNN-QE in 1 jobs" in fresh.snakemake(files[0])
    made = (fresh.path / files[0]).stat().st_mtime_ns
    assert "trains 1 networks of RNN-QE in 1 jobs" in fresh.snakemake(*files)
    assert (fresh.path / files[1]).is_file()
    assert (fresh.path / files[0]).stat().st_mtime_ns == made


def test_without_outputs_there_is_a_reason_and_no_prediction(tmp_path: Path) -> None:
    missing = [{"of": {}, "code": "x", "sentence": "the file is missing", "remedy": "place it"}]
    found = gather(None, {"setup1": [tmp_path / "setup1.csv.gz"]}, missing)
    assert (found.outputs, found.predictions, found.missing) == (None, {}, missing)
