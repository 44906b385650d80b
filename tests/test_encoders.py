"""Encoders are brought whole, with sums that decide from then on, or not at all.

Nothing here loads a model: folders with a few bytes in the right format will do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from refless.data import encoders
from refless.data.encoders import SUMS, fetch_encoder, verify_encoder, why_not
from refless.data.fetch import Places, answers
from refless.errors import OutputError, SourceError
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
    monkeypatch.setattr(encoders, "lacking", lambda kernel: "")


def here(places: Places) -> Path:
    return places.data / "models/mine"


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


def test_a_folder_put_into_the_data_directory_gets_its_sums(places: Places) -> None:
    fake_model(here(places))
    fetch_encoder("mine", places)
    verify_encoder(here(places))


def test_a_changed_file_is_refused(places: Places) -> None:
    fake_model(places.manual / "models/mine")
    fetch_encoder("mine", places)
    (here(places) / "vocab.txt").write_text("other words\n")
    for action in (lambda: verify_encoder(here(places)), lambda: fetch_encoder("mine", places)):
        with pytest.raises(SourceError, match=r"vocab\.txt: is not the file that was fetched"):
            action()
    (here(places) / "vocab.txt").unlink()
    with pytest.raises(SourceError, match=r"vocab\.txt"):
        verify_encoder(here(places))
    (here(places) / "model.safetensors").unlink()
    with pytest.raises(SourceError, match="weights of the model are missing"):
        verify_encoder(here(places))


def test_a_mirror_with_sums_is_held_to_them(places: Places, tmp_path: Path) -> None:
    source = fake_model(tmp_path / "mirror/models/mine")
    (source / SUMS).write_text(json.dumps({"config.json": "0" * 64}))
    with pytest.raises(SourceError, match="is not the file that was fetched"):
        fetch_encoder("mine", places)
    assert not here(places).exists()


def test_a_truncated_or_wrong_model_leaves_nothing(places: Places, tmp_path: Path) -> None:
    source = fake_model(tmp_path / "mirror/models/mine")
    content = (source / "model.safetensors").read_bytes()
    (source / "model.safetensors").write_bytes(content[:-1])
    with pytest.raises(SourceError, match="cut off"):
        fetch_encoder("mine", places)
    fake_model(tmp_path / "mirror/models/roberta-large")
    with pytest.raises(SourceError, match="is not the encoder roberta-large"):
        fetch_encoder("roberta-large", places)
    assert not (places.data / "models").exists() or not names(places.data / "models")


def test_nowhere_to_be_had_names_every_place(places: Places) -> None:
    with pytest.raises(SourceError) as caught:
        fetch_encoder("mine", places)
    said = str(caught.value)
    for place in (places.manual / "models/mine", Path(places.mirror) / "models/mine"):
        assert f"{place}: not there" in said
    assert "network is switched off" in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_read_only_data_directory(places: Places, tmp_path: Path) -> None:
    fake_model(tmp_path / "mirror/models/mine")
    places.data.mkdir()
    places.data.chmod(0o500)
    with pytest.raises(OutputError):
        fetch_encoder("mine", places)


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


@pytest.mark.parametrize("weights", ["model.safetensors", "pytorch_model.bin", "parts"])
def test_a_mirror_behind_a_url(
    places: Places, served: str, tmp_path: Path, with_torch: None, weights: str
) -> None:
    web = fake_model(tmp_path / "web/models/mine")
    if weights == "parts":
        (web / "model.safetensors").rename(web / "part-1.safetensors")
        index = {"weight_map": {"x": "part-1.safetensors"}}
        (web / "model.safetensors.index.json").write_text(json.dumps(index))
    else:
        (web / "model.safetensors").rename(web / weights)
    there = behind(served, places)
    assert why_not(KERNEL, there, answers) == ""
    assert "is not at hand" in why_not(KERNEL, there)
    fetch_encoder("mine", there)
    verify_encoder(here(places))
    assert names(web) | {SUMS} == names(here(places))


def test_a_mirror_behind_a_url_without_the_model(
    places: Places, served: str, tmp_path: Path, with_torch: None
) -> None:
    there = behind(served, places)
    assert "not at hand" in why_not(KERNEL, there, answers)
    with pytest.raises(SourceError, match="404"):
        fetch_encoder("mine", there)
    web = fake_model(tmp_path / "web/models/mine")
    (web / "model.safetensors").unlink()
    with pytest.raises(SourceError, match="it has no weights"):
        fetch_encoder("mine", there)
    assert not here(places).exists()


def test_a_server_that_is_gone_does_not_answer() -> None:
    assert not answers("http://127.0.0.1:1/models/mine/config.json", timeout=1)


# ---- the hub -------------------------------------------------------------------------------------


def test_the_hub_is_asked_for_the_pinned_state(
    places: Places, with_torch: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "pip install -r envs/lock/torch.txt"
    constants = pytest.importorskip("huggingface_hub.constants", reason=reason)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    online = Places(places.data, places.manual, network=True)
    asked: list[str] = []
    assert "no hub answers" in why_not("bertscore.roberta-large", online, asked.append)  # type: ignore[arg-type]
    revision = bertscore.MODELS["roberta-large"].revision
    assert asked == [f"{constants.ENDPOINT}/roberta-large/resolve/{revision}/config.json"]
    assert why_not("bertscore.roberta-large", online, lambda _: True) == ""
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


def test_why_not_in_one_line(
    places: Places, with_torch: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert why_not(KERNEL, places).startswith("the encoder mine is not at hand (put its folder at")
    assert "network is switched off" in why_not(KERNEL, places, answers)
    source = fake_model(tmp_path / "mirror/models/mine")
    assert why_not(KERNEL, places) == ""
    (source / "config.json").unlink()
    assert "does not hold it: this is no folder with a model" in why_not(KERNEL, places)
    fake_model(tmp_path / "mirror/models/roberta-large")
    reason = why_not("bertscore.roberta-large", places)
    assert reason.startswith("the folder given for roberta-large does not hold it")
    assert "\n" not in reason
    monkeypatch.undo()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for kernel in (KERNEL, "embedding.mine"):
        assert (
            why_not(kernel, places) == f"{kernel} needs torch, which is not installed (make torch)"
        )
