"""Encoders: found where they lie, fetched whole or not at all. Without torch and network."""

from dataclasses import replace
from pathlib import Path

import pytest

from refless.data import encoders
from refless.data.encoders import fetch_encoder, folder_of, has_encoder, lacking, why_not
from refless.data.fetch import Places
from refless.errors import KernelError, Reason, SourceError
from refless.kernels._registry import KERNELS
from tests.kernels.test_bertscore import fake_model

KERNEL = "bertscore.mine"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """Places on a machine that has all packages."""
    monkeypatch.delenv("REFLESS_MODELS", raising=False)
    monkeypatch.setitem(KERNELS, "bertscore.*", KERNELS["bertscore.*"]._replace(packages=()))
    return Places(tmp_path / "data", tmp_path / "manual", str(tmp_path / "mirror"))


def code_of(reason: Reason | None) -> str:
    assert reason.remedy
    return reason.code


def test_an_encoder_counts_where_it_lies(places, tmp_path, monkeypatch):
    monkeypatch.setenv("REFLESS_MODELS", str(tmp_path / "models"))
    assert code_of(why_not(KERNEL, places)) == "encoder_missing"
    # the later places first
    for folder in ("models", "mirror/models", "manual/models", "data/models"):
        fake_model(tmp_path / folder / "mine")
        assert folder_of("mine", places) == tmp_path / folder / "mine"
        assert why_not(KERNEL, places) is None
    assert fetch_encoder("mine", places) == tmp_path / "data/models/mine"


def test_a_folder_that_does_not_hold_it_is_named(places, tmp_path):
    (tmp_path / "manual/models/mine").mkdir(parents=True)
    fake_model(tmp_path / "own/other")
    assert code_of(why_not(KERNEL, places)) == "encoder_missing"
    reason = why_not("bertscore.roberta-large", places, tmp_path / "own/other")
    assert code_of(reason) == "encoder_missing"


def test_a_missing_package_is_told_first(places, monkeypatch):
    needing = KERNELS["bertscore.*"]._replace(packages=("no_such_package",))
    monkeypatch.setitem(KERNELS, "bertscore.*", needing)
    assert code_of(lacking(KERNEL)) == code_of(why_not(KERNEL, places)) == "package_missing"
    kernels = ("bertscore.a", "embedding.a", "bleu.char")
    assert list(map(has_encoder, kernels)) == [True, True, False]


@pytest.mark.parametrize("fault", ["none", "another model", "the hub", "killed", "no network"])
def test_a_fetched_encoder_is_whole_or_not_there(places, monkeypatch, fault):
    def download(model: str, folder: Path) -> Path:
        folder.rmdir()
        fake_model(folder)
        if fault == "the hub":
            raise KernelError("not to be had")
        if fault == "another model":
            (folder / "model.safetensors").unlink()
        if fault == "killed":
            raise KeyboardInterrupt
        return folder

    monkeypatch.setattr(encoders.bertscore, "download", download)
    if fault == "none":
        assert (fetch_encoder("mine", places) / "config.json").is_file()
    else:
        with pytest.raises((KernelError, KeyboardInterrupt, SourceError)):
            fetch_encoder("mine", replace(places, network=fault != "no network"))
    left = [path.name for path in (places.data / "models").glob("*")]
    assert left == (["mine"] if fault == "none" else [])
