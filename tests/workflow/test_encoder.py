"""BERTScore in the workflow: a (random) encoder that is at hand, a missing one, a wrong one."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from refless.data.task import read_task
from refless.kernels import kernel
from refless.store import sealed
from tests.conftest import Project
from tests.kernels.test_bertscore import TORCH, bert_folder, needs_torch

KERNEL = "bertscore.refless-tiny"
FILE = f"results/kernels/mine/{KERNEL}/1of1.npy"
HERE = "resources/manual/models/refless-tiny"
TARGET = "bleu_neighbors_table1"


def rows(project: Project) -> pd.DataFrame:
    table = pd.read_csv(project.path / f"results/tables/{TARGET}.csv")
    return table[table["kernel"].fillna("").str.endswith("refless-tiny")].set_index("task")


@pytest.fixture(scope="module")
def with_model(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The small project after somebody placed the encoder by hand."""
    if TORCH:
        pytest.skip(TORCH)
    project = small.copy(tmp_path_factory.mktemp("encoder") / "project")
    bert_folder(project.path / HERE)
    project.snakemake(TARGET)
    return project


@pytest.mark.slow
def test_an_encoder_placed_by_hand_is_used(with_model: Project) -> None:
    folder = with_model.path / HERE
    texts = read_task(with_model.path / "results/ratings/mine").texts["text"].tolist()
    np.testing.assert_allclose(
        sealed.read(with_model.path / FILE).content,
        kernel(KERNEL, texts, texts, model=folder, layer=2, device="cpu"),
        atol=1e-5,
    )
    first = rows(with_model)
    there = first[first["coverage"].notna()]
    assert set(there["source"]) == {"computed"}
    assert "mine" in there.index
    assert not (with_model.path / f"results/kernels/dstc7/{KERNEL}").exists()
    assert with_model.planned(TARGET) == {}


@pytest.mark.slow
def test_a_changed_option_computes_that_kernel_again(with_model: Project, tmp_path: Path) -> None:
    project = with_model.copy(tmp_path / "project")
    project.change("{layer: 2}", "{layer: 1}")
    assert project.planned(TARGET)["compute_kernel"] == 2
    project.change("{layer: 1}", "{layer: 2}")
    config = project.path / HERE / "config.json"
    config.write_bytes(config.read_bytes() + b"\n")  # another encoder in its place
    assert project.planned(FILE)["compute_kernel"] == 1


@needs_torch
@pytest.mark.slow
def test_a_wrong_encoder_leaves_the_tables_whole(changed: Project) -> None:
    (changed.path / HERE).mkdir(parents=True)
    changed.snakemake(TARGET)
    assert rows(changed)["reason"].str.contains("encoder_missing").any()


def test_what_the_encoder_lacks_is_said(small: Project) -> None:
    table = pd.read_csv(small.path / f"results/tables/{TARGET}.csv")
    own = table[(table["model"] == "bertscore") & (table["task"] == "mine")].iloc[0]
    assert np.isnan(own["mse"])
    assert ("package_missing" if TORCH else "encoder_missing") in own["reason"]
