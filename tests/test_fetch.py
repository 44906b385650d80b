"""Fetching: whatever a server, a disk or a user does, only the right bytes get the final name."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from refless.data import fetch as fetching
from refless.data.fetch import Places, Source, fetch, read_sources, verify
from refless.errors import OutputError, SourceError

ROOT = Path(__file__).parents[1]
MIRROR = os.environ.get("REFLESS_MIRROR", "")
CONTENT = b"rated,texts\n" * 20_000  # several chunks
NAME = "huse/batch.csv"

Answer = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """A web server on this machine; each address has a list of answers, the last one repeats."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.asked: list[str] = []
        self.released = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                answers = site.answers.get(self.path, [refuse(404)])
                (answers.pop(0) if len(answers) > 1 else answers[0])(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.base = f"http://127.0.0.1:{self.server.server_address[1]}"

    def stall(self, handler: BaseHTTPRequestHandler) -> None:
        """Send half of the content and then nothing."""
        send(CONTENT[: len(CONTENT) // 2], length=len(CONTENT))(handler)
        handler.wfile.flush()
        self.released.wait(30)


def send(body: bytes, length: int | None = -1, headers: dict[str, str] | None = None) -> Answer:
    """Answer 200 with a body; ``length`` is what Content-Length says (None: nothing)."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        if length is not None:
            handler.send_header("Content-Length", str(len(body) if length == -1 else length))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def refuse(status: int) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def redirect(to: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", to)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield site
    site.released.set()
    site.server.shutdown()
    site.server.server_close()
    thread.join()


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(data=tmp_path / "data", manual=tmp_path / "manual")


def source(url: str = "", content: bytes = CONTENT, **changes: Any) -> Source:
    values: dict[str, Any] = {
        "name": "batch",
        "path": NAME,
        "url": url,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "access": "url" if url else "manual",
        "description": "worksheet 0x88",
    }
    return Source(**(values | changes))


def get(wanted: Source, places: Places, **changes: Any) -> Path:
    settings: dict[str, Any] = {"attempts": 2, "timeout": (2.0, 0.3), "pause": 0.0}
    return fetch(wanted, places, progress=False, **(settings | changes))


def put(directory: Path, content: bytes = CONTENT, name: str = NAME) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def files_in(directory: Path) -> list[str]:
    """All files below a directory, hidden ones as well."""
    return sorted(str(p.relative_to(directory)) for p in directory.rglob("*") if not p.is_dir())


# ---- one public URL ---------------------------------------------------------------------------


def test_right_bytes_arrive_under_the_final_name_and_nothing_else(
    site: Site, places: Places
) -> None:
    site.answers["/a"] = [send(CONTENT)]
    path = get(source(site.base + "/a"), places)
    assert path == places.data / NAME
    assert path.read_bytes() == CONTENT
    assert files_in(places.data) == [NAME]


@pytest.mark.drill
def test_wrong_bytes_are_refused_and_not_asked_for_again(site: Site, places: Places) -> None:
    site.answers["/a"] = [send(b"<html>not found</html>")]
    wanted = source(site.base + "/a")
    with pytest.raises(SourceError) as caught:
        get(wanted, places, attempts=3)
    message = str(caught.value)
    assert site.base + "/a" in message
    assert wanted.sha256 in message
    assert hashlib.sha256(b"<html>not found</html>").hexdigest() in message
    assert "22 bytes" in message
    assert len(site.asked) == 1
    assert files_in(places.data) == []


@pytest.mark.parametrize("sha256", [hashlib.sha256(CONTENT).hexdigest(), ""])
@pytest.mark.drill
def test_a_body_that_breaks_off_is_no_file_even_without_a_sum(
    site: Site, places: Places, sha256: str
) -> None:
    site.answers["/a"] = [send(CONTENT[:-1], length=len(CONTENT))]
    with pytest.raises(SourceError, match=r"IncompleteRead.*\(2 attempts\)"):
        get(source(site.base + "/a", sha256=sha256), places)
    assert len(site.asked) == 2
    assert files_in(places.data) == []


@pytest.mark.parametrize("length", [len(CONTENT), None], ids=["with length", "without length"])
@pytest.mark.drill
def test_a_body_that_breaks_off_once_is_asked_for_again(
    site: Site, places: Places, length: int | None
) -> None:
    site.answers["/a"] = [send(CONTENT[:1000], length=length), send(CONTENT)]
    assert get(source(site.base + "/a"), places).read_bytes() == CONTENT
    assert len(site.asked) == 2
    assert files_in(places.data) == [NAME]


@pytest.mark.drill
def test_a_server_that_falls_silent_is_given_up(site: Site, places: Places) -> None:
    site.answers["/a"] = [site.stall]
    with pytest.raises(SourceError, match="timed out"):
        get(source(site.base + "/a"), places)
    assert len(site.asked) == 2
    assert files_in(places.data) == []


def test_a_refusal_is_taken_at_its_word(site: Site, places: Places) -> None:
    with pytest.raises(SourceError, match="the server said 404"):
        get(source(site.base + "/gone"), places, attempts=3)
    assert site.asked == ["/gone"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_trouble_is_waited_out(site: Site, places: Places, status: int) -> None:
    site.answers["/a"] = [refuse(status), refuse(status), send(CONTENT)]
    assert get(source(site.base + "/a"), places, attempts=3).read_bytes() == CONTENT
    assert len(site.asked) == 3


def test_pauses_double_and_come_only_between_tries(
    site: Site, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(fetching.time, "sleep", pauses.append)
    site.answers["/a"] = [refuse(500)]
    with pytest.raises(SourceError, match=r"500.*\(4 attempts\)"):
        get(source(site.base + "/a"), places, attempts=4, pause=1.5)
    assert pauses == [1.5, 3.0, 6.0]


def test_redirects_are_followed(site: Site, places: Places) -> None:
    site.answers["/a"] = [redirect("/b")]
    site.answers["/b"] = [send(CONTENT)]
    assert get(source(site.base + "/a"), places).read_bytes() == CONTENT
    assert site.asked == ["/a", "/b"]


def test_a_redirect_to_nowhere_is_an_error_and_no_endless_loop(site: Site, places: Places) -> None:
    site.answers["/a"] = [redirect("/a")]
    with pytest.raises(SourceError, match="TooManyRedirects"):
        get(source(site.base + "/a"), places, attempts=1)


def test_a_packed_answer_is_unpacked(site: Site, places: Places) -> None:
    site.answers["/a"] = [send(gzip.compress(CONTENT), headers={"Content-Encoding": "gzip"})]
    assert get(source(site.base + "/a"), places).read_bytes() == CONTENT


def test_no_server_at_all(site: Site, places: Places) -> None:
    url = site.base + "/a"
    site.server.socket.close()
    with pytest.raises(SourceError, match=r"ConnectionError.*\(2 attempts\)"):
        get(source(url), places)


# ---- the order of places ----------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["directory", "file url", "file url with host", "escaped"])
def test_a_mirror_directory_goes_before_the_url(site: Site, tmp_path: Path, spelling: str) -> None:
    directory = tmp_path / "my mirror"
    put(directory)
    mirror = {
        "directory": str(directory),
        "file url": f"file://{directory}",
        "file url with host": f"file://localhost{directory}",
        "escaped": f"file://{directory}".replace(" ", "%20"),
    }[spelling]
    places = Places(tmp_path / "data", tmp_path / "manual", mirror)
    assert get(source(site.base + "/a"), places).read_bytes() == CONTENT
    assert site.asked == []


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_mirror_url_goes_before_the_url(site: Site, places: Places, slash: str) -> None:
    site.answers["/mirror/" + NAME] = [send(CONTENT)]
    places = Places(places.data, places.manual, site.base + "/mirror" + slash)
    assert get(source(site.base + "/a"), places).read_bytes() == CONTENT
    assert site.asked == ["/mirror/" + NAME]


@pytest.mark.parametrize("content", [None, b"something else"], ids=["missing", "wrong"])
def test_behind_a_mirror_without_the_file_the_url_is_asked(
    site: Site, tmp_path: Path, content: bytes | None
) -> None:
    (tmp_path / "mirror").mkdir()
    if content is not None:
        put(tmp_path / "mirror", content)
    site.answers["/a"] = [send(CONTENT)]
    places = Places(tmp_path / "data", tmp_path / "manual", str(tmp_path / "mirror"))
    assert get(source(site.base + "/a"), places).read_bytes() == CONTENT
    assert files_in(places.data) == [NAME]


def test_behind_a_mirror_url_without_the_file_the_url_is_asked(site: Site, places: Places) -> None:
    site.answers["/a"] = [send(CONTENT)]
    places = Places(places.data, places.manual, site.base + "/mirror")
    get(source(site.base + "/a"), places)
    assert site.asked == ["/mirror/" + NAME, "/a"]


def test_without_network_no_public_url_is_asked_but_a_mirror_is(site: Site, places: Places) -> None:
    site.answers["/a"] = [send(CONTENT)]
    places = Places(places.data, places.manual, site.base + "/mirror", network=False)
    with pytest.raises(SourceError) as caught:
        get(source(site.base + "/a"), places)
    assert f"{site.base}/a: not asked" in str(caught.value)
    assert "404" in str(caught.value)
    assert site.asked == ["/mirror/" + NAME]


def test_a_file_placed_by_hand_goes_before_mirror_and_url(site: Site, tmp_path: Path) -> None:
    by_hand = put(tmp_path / "manual")
    put(tmp_path / "mirror", b"another one")
    places = Places(tmp_path / "data", tmp_path / "manual", str(tmp_path / "mirror"))
    assert get(source(site.base + "/a"), places).read_bytes() == CONTENT
    assert site.asked == []
    assert by_hand.read_bytes() == CONTENT


def test_a_file_placed_by_hand_under_its_name_alone(places: Places) -> None:
    put(places.manual, name=Path(NAME).name)
    assert get(source(), places) == places.data / NAME


def test_a_wrong_file_placed_by_hand_stops_and_is_named(site: Site, places: Places) -> None:
    by_hand = put(places.manual, b"another one")
    site.answers["/a"] = [send(CONTENT)]
    with pytest.raises(SourceError) as caught:
        get(source(site.base + "/a"), places)
    assert caught.value.path == str(by_hand)
    assert "delete it" in caught.value.remedy
    assert site.asked == []
    assert by_hand.read_bytes() == b"another one"
    assert files_in(places.data) == []


def test_another_source_with_the_same_name_placed_by_hand_is_no_obstacle(
    site: Site, places: Places, caplog: pytest.LogCaptureFixture
) -> None:
    """rnnlg/hotel/test.json and rnnlg/restaurant/test.json have one name."""
    put(places.manual, b"the other domain", name="test.json")
    site.answers["/a"] = [send(CONTENT)]
    wanted = source(site.base + "/a", path="rnnlg/restaurant/test.json")
    assert get(wanted, places).read_bytes() == CONTENT
    assert str(places.manual / "test.json") in caplog.text


def test_what_is_there_already_is_verified_and_left_alone(site: Site, places: Places) -> None:
    path = put(places.data)
    before = path.stat()
    assert get(source(site.base + "/a"), places) == path
    after = path.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
    assert site.asked == []


def test_a_wrong_file_in_the_data_directory_stops_and_is_kept(site: Site, places: Places) -> None:
    path = put(places.data, CONTENT[:-1])
    site.answers["/a"] = [send(CONTENT)]
    with pytest.raises(SourceError, match=r"239,999 bytes \(240,000 bytes expected\)") as caught:
        get(source(site.base + "/a"), places)
    assert caught.value.path == str(path)
    assert site.base + "/a" in caught.value.remedy
    assert path.read_bytes() == CONTENT[:-1]
    assert site.asked == []


def test_a_missing_manual_source_names_every_place_and_the_remedy(
    places: Places, tmp_path: Path
) -> None:
    with pytest.raises(SourceError) as caught:
        get(source(), places)
    message = str(caught.value)
    for place in (places.data / NAME, places.manual / NAME, places.manual / Path(NAME).name):
        assert f"{place}: not there" in message
    assert "mirror: none is set (REFLESS_MIRROR" in message
    assert "public address: there is none" in message
    assert "worksheet 0x88" in caught.value.remedy
    assert str(places.manual / NAME) in caught.value.remedy
    assert "REFLESS_MIRROR" in caught.value.remedy

    mirrored = Places(places.data, places.manual, str(tmp_path / "mirror"))
    with pytest.raises(SourceError) as caught:
        get(source(), mirrored)
    assert f"{tmp_path / 'mirror' / NAME}: not there" in str(caught.value)
    assert "none is set" not in str(caught.value)


def test_at_hand_looks_at_places_without_asking_a_public_url(site: Site, tmp_path: Path) -> None:
    bare = Places(tmp_path / "data", tmp_path / "manual")
    public, manual = source(site.base + "/a"), source()
    assert not bare.at_hand(public)
    behind_url = Places(bare.data, bare.manual, site.base)
    assert behind_url.at_hand(public)
    assert not behind_url.at_hand(manual)
    for directory, name in (
        (bare.data, NAME),
        (bare.manual, NAME),
        (bare.manual, Path(NAME).name),
        (tmp_path / "mirror", NAME),
    ):
        path = put(directory, name=name)
        mirrored = Places(bare.data, bare.manual, str(tmp_path / "mirror"))
        assert mirrored.at_hand(manual), path
        path.unlink()
        assert not mirrored.at_hand(manual), path
    assert site.asked == []


# ---- without a sum, and archives known by their members ---------------------------------------


def test_a_source_without_a_sum_is_accepted_with_a_warning(
    places: Places, caplog: pytest.LogCaptureFixture
) -> None:
    put(places.manual)
    with caplog.at_level(logging.WARNING):
        assert get(source(sha256=""), places).read_bytes() == CONTENT
    warnings = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert warnings[0].startswith(f"{NAME}: no sum was ever published")
    assert hashlib.sha256(CONTENT).hexdigest() in warnings[0]


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


MEMBERS = {"wordnet/data.adj": b"adjectives " * 30, "wordnet/data.adv": b"adverbs"}


def wordnet(url: str = "") -> Source:
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in MEMBERS.items()}
    return source(url, sha256="", path="nltk/wordnet.zip", members=sums)


def test_an_archive_is_known_by_its_members_however_it_was_packed(places: Places) -> None:
    again = dict(reversed(MEMBERS.items())) | {"wordnet/README": b"more than what is asked for"}
    for content in (zipped(MEMBERS), zipped(again)):
        path = put(places.data, content, "nltk/wordnet.zip")
        assert verify(path, wordnet()) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped(MEMBERS | {"wordnet/data.adv": b"adverb"}), "member wordnet/data.adv has sha256"),
        (zipped({"wordnet/data.adj": MEMBERS["wordnet/data.adj"]}), "data.adv is missing"),
        (zipped(MEMBERS)[:-1], "not a whole zip archive"),
        (b"<html>", "not a whole zip archive"),
        (b"", "not a whole zip archive"),
    ],
    ids=["wrong", "missing", "truncated", "page", "empty"],
)
@pytest.mark.drill
def test_a_wrong_archive_is_refused(
    site: Site, places: Places, content: bytes, message: str
) -> None:
    site.answers["/a"] = [send(content)]
    with pytest.raises(SourceError, match=message):
        get(wordnet(site.base + "/a"), places)
    assert files_in(places.data) == []


@pytest.mark.drill
def test_an_archive_with_any_byte_broken_is_refused_or_still_has_the_right_members(
    places: Places,
) -> None:
    whole = zipped(MEMBERS)
    path = put(places.data, whole, "nltk/wordnet.zip")
    refused = 0
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1 :])
        try:
            verify(path, wordnet())
        except SourceError:
            refused += 1
            continue
        with zipfile.ZipFile(path) as archive:
            assert {name: archive.read(name) for name in MEMBERS} == MEMBERS
    assert refused > len(whole) / 2


@pytest.mark.parametrize("kind", ["missing", "directory"])
def test_verify_says_what_cannot_be_read(places: Places, kind: str) -> None:
    path = places.data / NAME
    if kind == "directory":
        path.mkdir(parents=True)
    with pytest.raises(SourceError, match="cannot be read") as caught:
        verify(path, source())
    assert caught.value.path == str(path)


# ---- disks and interruptions ------------------------------------------------------------------


def from_everywhere(site: Site, tmp_path: Path, content: bytes) -> Iterator[tuple[Source, Places]]:
    """The same file by hand, from a mirror directory and from a URL."""
    data, manual = tmp_path / "data", tmp_path / "manual"
    put(tmp_path / "full", content)
    site.answers["/a"] = [send(content)]
    yield source(content=content), Places(data, tmp_path / "full")
    yield source(content=content), Places(data, manual, str(tmp_path / "full"))
    yield source(site.base + "/a", content), Places(data, manual)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, the full disk")
@pytest.mark.parametrize("content", [b"small", CONTENT], ids=["at the end", "on the way"])
@pytest.mark.drill
def test_a_full_disk_is_no_fault_of_the_source(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    def full(path: Any, mode: str = "r", **options: Any) -> Any:
        if "w" not in mode:
            return open(path, mode, **options)
        Path(path).touch()
        return open("/dev/full", mode, **options)

    monkeypatch.setattr(fetching, "open", full, raising=False)
    for wanted, places in from_everywhere(site, tmp_path, content):
        with pytest.raises(OutputError, match="No space left on device") as caught:
            get(wanted, places, attempts=3)
        assert caught.value.path == str(places.data / NAME)
        assert "make room" in caught.value.remedy
        assert files_in(places.data) == []
    assert site.asked == ["/a"]


@pytest.mark.parametrize("obstacle", ["file in the way", "directory in the way", "read-only"])
def test_a_place_that_cannot_be_written_is_no_fault_of_the_source(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    if obstacle == "file in the way":
        (data / "huse").write_text("not a directory")
    elif obstacle == "directory in the way":
        (data / NAME).mkdir(parents=True)
    else:
        # Permissions do not stop root, who may well run these tests.
        def read_only(*_: Any, **__: Any) -> None:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        monkeypatch.setattr(fetching.os, "replace", read_only)
    before = files_in(data)
    for wanted, places in from_everywhere(site, tmp_path, CONTENT):
        with pytest.raises(OutputError, match="cannot be written"):
            get(wanted, places, attempts=3)
        assert files_in(data) == before
    assert len(site.asked) <= 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_directory(site: Site, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o500)
    for wanted, places in from_everywhere(site, tmp_path, CONTENT):
        with pytest.raises(OutputError, match="Permission denied"):
            get(wanted, places)
    data.chmod(0o700)
    assert files_in(data) == []


def test_a_file_by_hand_that_breaks_while_it_is_read(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell():
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return super().read(size)

    by_hand = put(places.manual)
    monkeypatch.setattr(Path, "open", lambda *_: Broken(CONTENT))
    with pytest.raises(SourceError, match="Input/output error") as caught:
        get(source(), places)
    assert caught.value.path == str(by_hand)
    assert files_in(places.data) == []


@pytest.mark.drill
def test_an_interruption_leaves_nothing(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    put(places.manual)

    def interrupt(*_: Any) -> None:
        assert len(files_in(places.data)) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(fetching, "verify", interrupt)
    with pytest.raises(KeyboardInterrupt):
        get(source(), places)
    assert files_in(places.data) == []


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.drill
def test_a_killed_fetch_leaves_nothing_under_the_final_name(
    site: Site, places: Places, sign: signal.Signals
) -> None:
    site.answers["/a"] = [site.stall, send(CONTENT)]
    wanted = source(site.base + "/a")
    code = (
        "import sys; from pathlib import Path; from refless.data.fetch import *\n"
        f"fetch(Source('batch', {NAME!r}, {wanted.url!r}, {wanted.sha256!r}),"
        f" Places(Path({str(places.data)!r}), Path({str(places.manual)!r})))"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        until = time.monotonic() + 20
        while not (places.data.exists() and files_in(places.data)):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.01)
        process.send_signal(sign)
        assert process.wait(20) == -sign
    finally:
        process.kill()
        process.wait()
    assert not (places.data / NAME).exists()
    assert get(wanted, places).read_bytes() == CONTENT


@pytest.mark.drill
def test_two_fetches_of_one_file_do_not_get_in_each_others_way(site: Site, places: Places) -> None:
    together = threading.Barrier(4)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        together.wait(10)
        send(CONTENT)(handler)

    site.answers["/a"] = [answer]
    wanted = source(site.base + "/a")
    errors: list[BaseException] = []

    def one() -> None:
        try:
            get(wanted, places, attempts=1, timeout=(5.0, 5.0))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert files_in(places.data) == [NAME]
    assert (places.data / NAME).read_bytes() == CONTENT


# ---- the table of sources ---------------------------------------------------------------------

COLUMNS = ["source", "path", "url", "sha256", "bytes", "access", "licence", "citation"]
COLUMNS.append("description")
ROW = ["mr", "a/b.csv", "https://x.org/b", "0" * 64, "12", "url", "MIT", '"Doe, J."', "texts"]


def table(tmp_path: Path, *rows: list[str], columns: list[str] = COLUMNS) -> Path:
    path = tmp_path / "sources.csv"
    path.write_text("".join(",".join(row) + "\n" for row in (columns, *rows)), encoding="utf-8")
    return path


def changed(**values: str) -> list[str]:
    return [values.get(name, old) for name, old in zip(COLUMNS, ROW, strict=True)]


def test_a_table_of_sources(tmp_path: Path) -> None:
    members = tmp_path / "members.csv"
    members.write_text(f"path,member,sha256\nz.zip,in/side,{'1' * 64}\n")
    manual = changed(path="z.zip", url="", sha256="", bytes="", access="manual")
    found = read_sources(table(tmp_path, ROW, manual), members)
    assert found["a/b.csv"] == Source(
        name="mr",
        path="a/b.csv",
        url="https://x.org/b",
        sha256="0" * 64,
        bytes=12,
        access="url",
        licence="MIT",
        citation="Doe, J.",
        description="texts",
    )
    assert found["z.zip"].bytes is None
    assert found["z.zip"].members == {"in/side": "1" * 64}
    assert list(found) == ["a/b.csv", "z.zip"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (changed(path="../b.csv"), "unusable path '../b.csv'"),
        (changed(path="a/../../b.csv"), "unusable path"),
        (changed(path="/etc/passwd"), "unusable path"),
        (changed(path=""), "unusable path"),
        (changed(path="."), "unusable path"),
        (changed(path="a//b.csv"), "unusable path"),
        (changed(path="./b.csv"), "unusable path"),
        (changed(path="a/"), "unusable path"),
        (changed(access="ftp"), "access must be url or manual"),
        (changed(url=""), "access is url, but there is none"),
        (changed(sha256="0" * 63), "sha256 must be 64"),
        (changed(sha256="A" * 64), "lower case"),
        (changed(bytes="1,2"), "does not have 9 fields"),
        (changed(bytes="12 kB"), "bytes is '12 kB'"),
        (changed(bytes="-1"), "bytes is '-1'"),
        (changed(citation="Doe, J."), "does not have 9 fields"),
        (ROW[:-1], "does not have 9 fields"),
        (changed(citation='"Doe" J.'), "cannot be read"),
        (ROW, "stands there twice"),
    ],
)
def test_a_malformed_row_is_named(tmp_path: Path, row: list[str], message: str) -> None:
    path = table(tmp_path, ROW, row)
    with pytest.raises(SourceError, match=re.escape(message)) as caught:
        read_sources(path)
    assert caught.value.path == str(path)
    if "cannot be read" not in message:
        assert caught.value.line == 3
        assert caught.value.remedy


def test_the_line_is_the_files_own(tmp_path: Path) -> None:
    """A citation may run over two lines, and an empty line is no row."""
    path = table(tmp_path, changed(citation='"Doe,\nJ."'), [""], changed(path="/b"))
    with pytest.raises(SourceError) as caught:
        read_sources(path)
    assert caught.value.line == 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        (b"", "columns"),
        (b"source,path\n", "'access', 'bytes'"),
        (",".join(COLUMNS).encode() + b"\n\xff\n", "utf-8"),
    ],
    ids=["missing", "empty", "other columns", "other encoding"],
)
def test_a_table_that_is_none(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "sources.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SourceError, match=message) as caught:
        read_sources(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (f"a/c.csv,in/side,{'1' * 64}", "path 'a/c.csv' is not in"),
        ("a/b.csv,in/side,123", "sha256 must be 64"),
        ("a/b.csv,in/side", "does not have 3 fields"),
    ],
)
def test_a_malformed_member_is_named(tmp_path: Path, row: str, message: str) -> None:
    members = tmp_path / "members.csv"
    members.write_text(f"path,member,sha256\na/b.csv,x,{'1' * 64}\n{row}\n")
    with pytest.raises(SourceError, match=message) as caught:
        read_sources(table(tmp_path, ROW), members)
    assert (caught.value.path, caught.value.line) == (str(members), 3)


def real_sources() -> dict[str, Source]:
    return read_sources(ROOT / "resources/sources.csv", ROOT / "resources/sources_members.csv")


def test_the_real_table_of_sources() -> None:
    found = real_sources()
    by_members = [path for path, s in found.items() if s.members]
    assert by_members == ["nltk/wordnet.zip"]
    for path, wanted in found.items():
        if wanted.access == "url" and path not in by_members:
            assert re.fullmatch("[0-9a-f]{64}", wanted.sha256), path
            assert wanted.bytes, path
            # pinned to a commit, so that the sum can stay right
            assert re.match(r"https://[^ ]+/[0-9a-f]{40}/", wanted.url), path
        assert wanted.licence, path
        assert wanted.citation, path
    assert len(found["nltk/wordnet.zip"].members) == 14
    # without a public address, a user needs to be told where to get it
    assert all(s.description for s in found.values() if s.access == "manual")


@pytest.mark.mirror
@pytest.mark.skipif(not MIRROR, reason="REFLESS_MIRROR is not set")
@pytest.mark.parametrize("path", [p for p, s in real_sources().items() if s.access == "url"])
def test_every_public_source_verifies_from_the_mirror(tmp_path: Path, path: str) -> None:
    places = Places(tmp_path / "data", tmp_path / "manual", MIRROR, network=False)
    got = fetch(real_sources()[path], places, progress=False)
    assert files_in(places.data) == [path]
    assert got.stat().st_size > 0
