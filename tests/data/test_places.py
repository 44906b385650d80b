"""Where files may lie, and whether a run can have one: nothing is read, and no URL is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from refless.data.places import Places, why_no_wordnet, why_not
from refless.data.raw_files import Source
from refless.errors import SettingError

PUBLIC = Source("batch", "huse/batch.csv", "https://x.org/b")
MANUAL = Source("batch", "huse/batch.csv", access="manual", description="worksheet 0x88")


def never(address: str) -> bool:
    raise AssertionError(address)


@pytest.mark.parametrize(
    ("mirror", "directory", "address"),
    [
        ("", None, ""),
        ("my mirror", Path("my mirror"), ""),
        ("~/mirror", Path.home() / "mirror", ""),
        ("file:///my%20mirror", Path("/my mirror"), ""),
        ("FILE://localhost/my mirror", Path("/my mirror"), ""),
        ("http://x.org/m", None, "http://x.org/m/a/b"),
        ("HTTPS://X.org/m/", None, "https://X.org/m/a/b"),
    ],
)
def test_a_mirror_is_a_directory_or_a_url(
    mirror: str, directory: Path | None, address: str
) -> None:
    places = Places(Path("data"), Path("manual"), mirror)
    assert places.mirror_directory() == directory
    assert places.mirror_address("a/b") == address
    for other in ("ftp://x.org/m", "S3://bucket/m"):
        with pytest.raises(SettingError, match=other) as caught:
            Places(Path("data"), Path("manual"), other)
        assert "REFLESS_MIRROR" in caught.value.remedy


@pytest.mark.parametrize("kind", ["none", "sound", "misspelt", "too high", "url", "no answer"])
def test_a_mirror_that_gives_nothing_is_said_to(tmp_path: Path, kind: str) -> None:
    source = Source("batch", "huse/batch.csv")
    (tmp_path / "mirror/huse").mkdir(parents=True)
    (tmp_path / "mirror/huse/batch.csv").touch()
    mirror, said = {
        "none": ("", ""),
        "sound": (f"{tmp_path}/mirror", ""),
        "misspelt": (f"{tmp_path}/miror", "is no directory"),
        "too high": (str(tmp_path), "has none of the raw files"),
        "url": ("http://x.org/m", ""),
        "no answer": ("http://y.org/m", "did not answer"),
    }[kind]
    places = Places(Path("data"), Path("manual"), mirror)
    told = places.silent_mirror([source], lambda url: url == "http://x.org/m/huse/batch.csv")
    assert said in told
    assert bool(told) == bool(said) == ("REFLESS_MIRROR" in told)


def test_mirror_and_network_are_told_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFLESS_MIRROR", "/m")
    monkeypatch.setenv("REFLESS_NETWORK", "off")
    here = Path("data"), Path("manual")
    assert Places.told(*here) == Places(*here, "/m", network=False)
    monkeypatch.delenv("REFLESS_MIRROR")
    monkeypatch.delenv("REFLESS_NETWORK")
    assert Places.told(*here) == Places(*here)


@pytest.mark.parametrize(
    "path",
    ["data/huse/batch.csv", "manual/huse/batch.csv", "manual/batch.csv", "mirror/huse/batch.csv"],
)
def test_what_is_at_hand_needs_no_address(tmp_path: Path, path: str) -> None:
    places = Places(tmp_path / "data", tmp_path / "manual", str(tmp_path / "mirror"))
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).touch()
    for source in (PUBLIC, MANUAL):
        assert places.at_hand(source)
        for numbers in ("computed", "auto"):
            assert why_not(source, places, numbers, never) is None
        reason = why_not(source, places, "shipped", never)
        assert reason is not None
        assert reason.code == "numbers_shipped"
    (tmp_path / path).unlink()
    assert not places.at_hand(PUBLIC)


def test_what_is_not_at_hand_may_be_fetched_when_numbers_are_computed(tmp_path: Path) -> None:
    bare = Places(tmp_path / "data", tmp_path / "manual")
    assert why_not(PUBLIC, bare, "computed", never) is None
    for source, numbers in ((PUBLIC, "auto"), (MANUAL, "auto"), (MANUAL, "computed")):
        reason = why_not(source, bare, numbers, never)
        assert reason is not None
        assert reason.code == "raw_file_missing"
        assert source.path in reason.sentence
        assert str(bare.manual / source.path) in reason.remedy
        assert source.description in reason.remedy


def test_a_mirror_behind_a_url_is_asked_only_for_what_has_no_public_address() -> None:
    places = Places(Path("data"), Path("manual"), "http://x.org/m")
    for numbers in ("computed", "auto"):
        assert why_not(PUBLIC, places, numbers, never) is None
    asked: list[str] = []
    assert why_not(MANUAL, places, "computed", lambda url: not asked.append(url)) is None
    assert asked == ["http://x.org/m/huse/batch.csv"]
    assert why_not(MANUAL, places, "computed", lambda _: False) is not None
    assert why_not(MANUAL, places, "auto", never) is not None


def test_wordnet() -> None:
    places = Places(Path("data"), Path("manual"))
    source = Source("wordnet", "nltk/wordnet.zip", "https://x.org/w")
    assert why_no_wordnet(source, places, "computed", never) is None
    reason = why_no_wordnet(source, places, "auto", never)
    assert reason is not None
    assert (reason.code, "METEOR" in reason.sentence) == ("wordnet_missing", True)
    assert "manual/nltk/wordnet.zip" in reason.remedy
    shipped = why_no_wordnet(source, places, "shipped", never)
    assert shipped is not None
    assert shipped.code == "numbers_shipped"
