"""Encoders: found where they lie, fetched whole or not at all. Without torch and network."""

from pathlib import Path

import pytest

from refless.data import encoders
from refless.data.encoders import fetch_encoder, folder_of, has_encoder, lacking, why_not
from refless.data.fetch import Places
from refless.errors import KernelError, SourceError
from refless.kernels._registry import KERNELS
from tests.kernels.test_bertscore import fake_model

KERNEL = "bertscore.mine"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """Places on a machine that has all packages."""
    monkeypatch.delenv("REFLESS_MODELS", raising=False)
    monkeypatch.setitem(KERNELS, "bertscore.*", KERNELS["bertscore.*"]._replace(packages=()))
    return Places(tmp_path / "data", tmp_path / "manual", str(tmp_path / "mirror"))


def test_an_encoder_counts_where_it_lies(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFLESS_MODELS", str(tmp_path / "models"))
    reason = why_not(KERNEL, places)
    assert reason is not None
    assert reason.code == "encoder_missing"
    # the later places first
    for folder in ("models", "mirror/models", "manual/models", "data/models"):
        fake_model(tmp_path / folder / "mine")
        assert folder_of("mine", places) == tmp_path / folder / "mine"
        assert why_not(KERNEL, places) is None
    assert fetch_encoder("mine", places) == tmp_path / "data/models/mine"


def test_a_folder_that_does_not_hold_it_is_named(places: Places, tmp_path: Path) -> None:
    (tmp_path / "manual/models/mine").mkdir(parents=True)
    fake_model(tmp_path / "own/other")
    for reason in (
        why_not(KERNEL, places),
        why_not("bertscore.roberta-large", places, tmp_path / "own/other"),
    ):
        assert reason is not None
        assert reason.code == "encoder_missing"
        assert reason.remedy


def test_a_missing_package_is_told_first(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    needing = KERNELS["bertscore.*"]._replace(packages=("no_such_package",))
    monkeypatch.setitem(KERNELS, "bertscore.*", needing)
    for reason in (lacking(KERNEL), why_not(KERNEL, places)):
        assert reason is not None
        assert (reason.code, reason.remedy) == ("package_missing", "make torch")
    kernels = ("bertscore.a", "embedding.a", "bleu.char")
    assert list(map(has_encoder, kernels)) == [True, True, False]


@pytest.mark.parametrize("fault", ["none", "another model", "the hub", "killed"])
def test_a_fetched_encoder_is_whole_or_not_there(
    places: Places, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
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
        assert fetch_encoder("mine", places) == places.data / "models/mine"
        assert (places.data / "models/mine/config.json").is_file()
    else:
        with pytest.raises((KernelError, KeyboardInterrupt)):
            fetch_encoder("mine", places)
    left = [path.name for path in (places.data / "models").iterdir()]
    assert left == (["mine"] if fault == "none" else [])


def test_nothing_is_asked_for_where_the_network_is_switched_off(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="switched off"):
        fetch_encoder("mine", Places(tmp_path / "data", tmp_path / "manual", network=False))
