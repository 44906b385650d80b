"""Encoders are brought whole, with sums that decide from then on, or not at all.

Nothing here loads a model: folders with a few bytes in the right format will do.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from refless.availability import Reason
from refless.data import encoders
from refless.data.encoders import (
    SUMS,
    fetch_encoder,
    require_same,
    verify_encoder,
    why_not,
)
from refless.data.fetch import answers
from refless.data.places import Places
from refless.errors import KernelError, OutputError, SourceError
from refless.kernels import bertscore
from tests.kernels.test_bertscore import fake_model
from tests.serving import serving

KERNEL = "bertscore.mine"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """No network, a mirror that is a directory, and nothing in it."""
    monkeypatch.delenv("REFLESS_MODELS", raising=False)
    (tmp_path / "mirror/models").mkdir(parents=True)
    return Places(tmp_path / "data", tmp_path / "manual", str(tmp_path / "mirror"), network=False)


@pytest.fixture
def with_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if torch were installed: planning must not need more than its presence."""
    monkeypatch.setattr(encoders, "lacking", lambda kernel: None)


def here(places: Places) -> Path:
    return places.data / "models/mine"


def code(reason: Reason | None) -> str | None:
    return None if reason is None else reason.code


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("place", ["manual", "mirror", "REFLESS_MODELS"])
def test_a_folder_at_hand_is_copied_with_its_sums(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    roots = {"manual": "manual/models", "mirror": "mirror/models", "REFLESS_MODELS": "own"}
    source = fake_model(tmp_path / roots[place] / "mine")
    (source / "README.md").write_text("not read by anybody")
    monkeypatch.setenv("REFLESS_MODELS", str(tmp_path / "own"))
    assert fetch_encoder("mine", places) == here(places)
    assert names(here(places)) == {"config.json", "vocab.txt", "model.safetensors", SUMS}
    assert (here(places) / "model.safetensors").read_bytes() == (
        source / "model.safetensors"
    ).read_bytes()
    verify_encoder(here(places))
    assert names(places.data / "models") == {"mine"}
    fetch_encoder("mine", places)  # a second time, nothing is to be done


@pytest.mark.parametrize("place", ["manual", "mirror", "REFLESS_MODELS"])
def test_another_encoder_than_was_taken_is_refused(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    roots = {"manual": "manual/models", "mirror": "mirror/models", "REFLESS_MODELS": "own"}
    monkeypatch.setenv("REFLESS_MODELS", str(tmp_path / "own"))
    require_same("mine", places)
    source = fake_model(tmp_path / roots[place] / "mine")
    require_same("mine", places)  # nothing was taken yet
    fetch_encoder("mine", places)
    (source / "README.md").write_text("not read by anybody")
    require_same("mine", places)
    weights = source / "model.safetensors"
    times = weights.stat()
    changed = bytearray(weights.read_bytes())
    changed[-1] ^= 1
    weights.write_bytes(changed)
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(SourceError, match="another model") as caught:
        require_same("mine", places)
    assert f"delete {here(places)}" in caught.value.remedy
    shutil.rmtree(here(places))
    require_same("mine", places)
    fetch_encoder("mine", places)
    require_same("mine", places)
    # weights that were not taken, an index that is none, and a folder that is no model
    (source / "model.safetensors.index.json").write_text("{")
    require_same("mine", places)
    weights.unlink()
    require_same("mine", places)


@pytest.mark.parametrize("change", ["other", "gone", "new", "no weights", "no sums"])
def test_a_changed_file_is_refused(places: Places, change: str) -> None:
    fake_model(places.manual / "models/mine")
    before = verify_encoder(fetch_encoder("mine", places))
    assert verify_encoder(here(places)) == before
    name = {"new": "merges.txt", "no weights": "model.safetensors", "no sums": SUMS}.get(
        change, "vocab.txt"
    )
    if change in {"other", "new"}:
        (here(places) / name).write_text("other words\n")
    else:
        (here(places) / name).unlink()
    with pytest.raises(SourceError, match="weights" if change == "no weights" else name) as caught:
        verify_encoder(here(places))
    assert SUMS in caught.value.remedy
    if change != "no sums":
        with pytest.raises(SourceError):
            fetch_encoder("mine", places)


def test_a_wrong_model_is_named_and_the_next_place_is_tried(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = fake_model(places.manual / "models/mine") / "model.safetensors"
    cut.write_bytes(cut.read_bytes()[:-1])
    mirrored = fake_model(tmp_path / "mirror/models/mine")
    (mirrored / SUMS).write_text(json.dumps({"config.json": "0" * 64}))
    with pytest.raises(SourceError, match="cut off") as caught:
        fetch_encoder("mine", places)
    assert f"{mirrored}: " in caught.value.message
    fake_model(tmp_path / "mirror/models/roberta-large")
    with pytest.raises(SourceError, match="roberta-large"):
        fetch_encoder("roberta-large", places)
    assert not list(places.data.glob("models/*"))
    fake_model(tmp_path / "own/mine")
    monkeypatch.setenv("REFLESS_MODELS", str(tmp_path / "own"))
    verify_encoder(fetch_encoder("mine", places))


def test_a_folder_put_into_the_data_directory_is_verified_and_gets_its_sums(places: Places) -> None:
    fake_model(here(places))
    fetch_encoder("mine", places)
    verify_encoder(here(places))
    fake_model(places.data / "models/roberta-large")
    with pytest.raises(KernelError, match="roberta-large"):
        fetch_encoder("roberta-large", places)


def test_nowhere_to_be_had_names_every_place(places: Places) -> None:
    with pytest.raises(SourceError) as caught:
        fetch_encoder("mine", places)
    said = str(caught.value)
    for place in (places.manual / "models/mine", Path(places.mirror) / "models/mine"):
        assert f"{place}: not there" in said
    assert "network is switched off" in said


def test_a_data_directory_that_is_a_file(places: Places, tmp_path: Path) -> None:
    fake_model(tmp_path / "mirror/models/mine")
    places.data.write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        fetch_encoder("mine", places)


# ---- a mirror behind a URL -----------------------------------------------------------------------


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The base URL of a server over tmp_path/web."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "web").mkdir()
    with serving(tmp_path / "web") as url:
        yield url


def behind(url: str, places: Places) -> Places:
    return Places(places.data, places.manual, url, network=False)


@pytest.mark.parametrize("weights", ["model.safetensors", "parts"])
def test_a_mirror_behind_a_url(
    places: Places, served: str, tmp_path: Path, with_torch: None, weights: str
) -> None:
    web = fake_model(tmp_path / "web/models/mine")
    if weights == "parts":
        (web / "model.safetensors").rename(web / "part-1.safetensors")
        index = {"weight_map": {"x": "part-1.safetensors"}}
        (web / "model.safetensors.index.json").write_text(json.dumps(index))
    there = behind(served, places)
    assert why_not(KERNEL, there, answers) is None
    assert code(why_not(KERNEL, there)) == "encoder_missing"
    fetch_encoder("mine", there)
    verify_encoder(here(places))
    assert names(web) | {SUMS} == names(here(places))


def test_a_mirror_behind_a_url_without_the_model(
    places: Places, served: str, tmp_path: Path, with_torch: None
) -> None:
    there = behind(served, places)
    assert code(why_not(KERNEL, there, answers)) == "encoder_missing"
    with pytest.raises(SourceError, match="404"):
        fetch_encoder("mine", there)
    web = fake_model(tmp_path / "web/models/mine")
    (web / "model.safetensors").unlink()
    for index in ({}, [], {"weight_map": {"x": "../config.json"}}, {"weight_map": {"x": "gone"}}):
        with pytest.raises(SourceError, match="weights"):
            fetch_encoder("mine", there)
        (web / "model.safetensors.index.json").write_text(json.dumps(index))
    (web / "model.safetensors.index.json").unlink()
    (web / "pytorch_model.bin").write_bytes(b"a pickle, which can run code")
    with pytest.raises(SourceError, match="weights"):
        fetch_encoder("mine", there)
    assert not here(places).exists()


# ---- the hub -------------------------------------------------------------------------------------


def test_the_hub_is_asked_for_the_pinned_state(
    places: Places, with_torch: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "pip install -r envs/lock/torch.txt"
    constants = pytest.importorskip("huggingface_hub.constants", reason=reason)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    online = Places(places.data, places.manual, network=True)
    asked: list[str] = []
    refused = why_not("bertscore.roberta-large", online, lambda url: bool(asked.append(url)))
    assert code(refused) == "encoder_missing"
    revision = bertscore.MODELS["roberta-large"].revision
    assert asked == [f"{constants.ENDPOINT}/roberta-large/resolve/{revision}/config.json"]
    assert why_not("bertscore.roberta-large", online, lambda _: True) is None
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert encoders.addresses("roberta-large", online) == []


def test_what_the_hub_gives_is_brought_whole(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(model: str, target: Path) -> Path:
        fake_model(target / "made").rename(target / "elsewhere")
        for path in (target / "elsewhere").iterdir():
            path.rename(target / path.name)
        (target / "elsewhere").rmdir()
        (target / ".cache").mkdir()
        return target

    monkeypatch.setattr(bertscore, "download", download)
    fetch_encoder("mine", Places(places.data, places.manual, network=True))
    verify_encoder(here(places))
    assert ".cache" not in names(here(places))


# ---- what is planned -----------------------------------------------------------------------------


def test_why_not(
    places: Places, with_torch: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for asked in (None, answers):
        reason = why_not(KERNEL, places, asked)
        assert code(reason) == "encoder_missing"
        assert str(places.manual / "models/mine") in getattr(reason, "remedy", "")
        assert ("network" in getattr(reason, "sentence", "")) == (asked is answers)
    source = fake_model(tmp_path / "mirror/models/mine")
    assert why_not(KERNEL, places) is None
    (source / "config.json").unlink()
    assert "config.json" in getattr(why_not(KERNEL, places), "sentence", "")
    fake_model(tmp_path / "mirror/models/roberta-large")
    reason = why_not("bertscore.roberta-large", places)
    assert code(reason) == "encoder_missing"
    assert "roberta-large" in getattr(reason, "sentence", "")
    monkeypatch.undo()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for kernel in (KERNEL, "embedding.mine"):
        reason = why_not(kernel, places)
        assert code(reason) == "package_missing"
        assert "torch" in getattr(reason, "sentence", "")
