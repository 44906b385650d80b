"""Fetching: whatever a server, a disk or a user does, only the right bytes get the final name."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from refless.data import fetch as fetching
from refless.data.fetch import answers, fetch
from refless.data.places import Places
from refless.data.raw_files import Source
from refless.errors import OutputError, SourceError

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
                with suppress(ConnectionError):
                    (answers.pop(0) if len(answers) > 1 else answers[0])(self)

            do_HEAD = do_GET

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


def send(body: bytes, length: int | None = -1, status: int = 200, **headers: str) -> Answer:
    """An answer with a body; ``length`` is what Content-Length says (None: nothing)."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        if length is not None:
            handler.send_header("Content-Length", str(len(body) if length == -1 else length))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def refuse(status: int, **headers: str) -> Answer:
    return send(b"", status=status, **headers)


def redirect(to: str) -> Answer:
    return refuse(302, Location=to)


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
    settings: dict[str, Any] = {"attempts": 2, "timeout": (20.0, 20.0), "pause": 0.0}
    return fetch(wanted, places, **(settings | changes))


def put(directory: Path, content: bytes = CONTENT, name: str = NAME) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def files_in(directory: Path) -> list[str]:
    """All files below a directory, hidden ones as well."""
    return sorted(str(p.relative_to(directory)) for p in directory.rglob("*") if not p.is_dir())


# ---- one URL ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ([send(CONTENT)], 1),
        ([redirect("/b")], 2),
        ([send(gzip.compress(CONTENT), Content_Encoding="gzip")], 1),
        *[([refuse(status), refuse(status), send(CONTENT)], 3) for status in (429, 500, 503)],
        # a server that asks for hours is not obeyed
        ([refuse(503, Retry_After="3600"), send(CONTENT)], 2),
        # a body that breaks off once
        ([send(CONTENT[:1000], length=len(CONTENT)), send(CONTENT)], 2),
        ([send(CONTENT[:1000], length=None), send(CONTENT)], 2),
    ],
    ids=[
        "plain",
        "redirect",
        "packed",
        "429",
        "500",
        "503",
        "hours",
        "breaks off",
        "breaks off unseen",
    ],
)
def test_right_bytes_arrive_under_the_final_name_and_nothing_else(
    site: Site, places: Places, answers: list[Answer], asked: int
) -> None:
    site.answers = {"/a": answers, "/b": [send(CONTENT)]}
    path = get(source(site.base.upper() + "/a"), places, attempts=3)
    assert path == places.data / NAME
    assert path.read_bytes() == CONTENT
    assert files_in(places.data) == [NAME]
    assert len(site.asked) == asked


PAGE = b" <!doctype HTML><title>not found</title>"


@pytest.mark.parametrize(
    ("answer", "changes", "said", "asked"),
    [
        (send(PAGE), {}, hashlib.sha256(PAGE).hexdigest(), 1),
        (send(PAGE), {"sha256": "", "bytes": None}, "HTML", 1),
        (send(CONTENT, Content_Type="Text/HTML; x"), {}, "HTML", 1),
        (send(CONTENT + b"x"), {}, "longer", 1),
        (send(CONTENT + b"x", length=None), {"sha256": ""}, "longer", 1),
        (send(CONTENT[:-1], length=len(CONTENT)), {}, "IncompleteRead", 2),
        (send(CONTENT[:-1], length=len(CONTENT)), {"sha256": ""}, "IncompleteRead", 2),
        (send(CONTENT[:-1], length=None), {"sha256": ""}, "IncompleteRead", 2),
        (refuse(403), {}, "403", 1),
        (refuse(404), {}, "404", 1),
        (refuse(500), {}, "500", 2),
        (send(b"x" * 99, Content_Encoding="gzip"), {}, "DecodeError", 2),
        (redirect("/a"), {}, "TooManyRedirects", 31),
        (redirect("ftp://127.0.0.1/a"), {}, "InvalidSchema", 1),
    ],
)
def test_what_is_not_the_file_is_refused(
    site: Site, places: Places, answer: Answer, changes: dict[str, Any], said: str, asked: int
) -> None:
    site.answers["/a"] = [answer]
    with pytest.raises(SourceError, match=said) as caught:
        get(source(site.base + "/a", **changes), places)
    assert site.base + "/a" in caught.value.message
    assert len(site.asked) == asked
    assert files_in(places.data) == []


def test_an_endless_body_is_not_read_on(site: Site, places: Places) -> None:
    sent = []

    def endless(handler: BaseHTTPRequestHandler) -> None:
        send(b"", length=None)(handler)
        while True:
            handler.wfile.write(CONTENT)
            sent.append(len(CONTENT))

    site.answers["/a"] = [endless]
    with pytest.raises(SourceError, match="longer"):
        get(source(site.base + "/a"), places)
    assert sum(sent) < 100 * len(CONTENT)  # what fits into the system's buffers


def test_an_endless_body_of_unknown_size_ends_at_a_limit(site: Site, places: Places) -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        send(b"", length=None)(handler)
        while True:
            handler.wfile.write(CONTENT)

    site.answers["/a"] = [endless]
    wanted = source(site.base + "/a", bytes=None, sha256="")
    with pytest.raises(SourceError, match="longer than the 500,000 bytes"):
        get(wanted, places, limit=500_000)
    assert files_in(places.data) == []


def test_a_file_without_a_sum_that_is_another_one_blocks_no_sound_one(
    site: Site, places: Places, caplog: Any
) -> None:
    batch = b"WorkerId,Answer.0\nw,3\n"
    wanted = source(site.base + "/a", batch, sha256="", bytes=None, columns="WorkerId Answer.0")
    put(places.manual, b"some,other\n1,2\n")
    site.answers = {"/mirror/" + NAME: [send(b"not found\n")], "/a": [send(batch)]}
    with_mirror = Places(places.data, places.manual, site.base + "/mirror")
    assert get(wanted, with_mirror).read_bytes() == batch
    assert files_in(places.data) == [NAME]
    assert str(places.manual / NAME) in caplog.text
    assert site.base + "/mirror/" in caplog.text


@pytest.mark.parametrize(
    ("limit", "said", "asked"),
    [({"timeout": (20.0, 0.3)}, "timed out", 2), ({"deadline": 0.3}, "deadline", 1)],
    ids=["silent", "a byte at a time"],
)
def test_a_server_that_does_not_finish_is_given_up(
    site: Site, places: Places, limit: dict[str, Any], said: str, asked: int
) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        send(b"", length=len(CONTENT))(handler)
        while not site.released.wait(0.02):
            handler.wfile.write(b"x")

    site.answers["/a"] = [drip if "deadline" in limit else site.stall]
    with pytest.raises(SourceError, match=said):
        get(source(site.base + "/a"), places, **limit)
    assert len(site.asked) == asked
    assert files_in(places.data) == []


@pytest.mark.parametrize("answer", [refuse(500), send(b"", length=1)], ids=["status", "body"])
def test_pauses_grow_and_come_only_between_tries(
    site: Site, places: Places, monkeypatch: pytest.MonkeyPatch, answer: Answer
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    site.answers["/a"] = [answer]
    with pytest.raises(SourceError):
        get(source(site.base + "/a"), places, attempts=4, pause=1.5)
    assert len(site.asked) == 4
    assert 2 <= len(pauses) <= 3
    assert pauses == sorted(pauses)
    assert 3.0 <= pauses[-1] <= 12.0


def test_answers(site: Site, places: Places) -> None:
    site.answers = {"/a": [send(b"")], "/page": [send(b"", Content_Type="text/html")]}
    assert answers(site.base + "/a")
    for none in (site.base + "/page", site.base + "/gone", "http://127.0.0.1:1/a"):
        assert not answers(none, timeout=1)
    with pytest.raises(SourceError, match="ConnectionError"):
        get(source("http://127.0.0.1:1/a"), places)


# ---- the order of places ----------------------------------------------------------------------

ALL = ["manual", "by name", "mirror", "url"]


@pytest.mark.parametrize("first", range(4), ids=ALL)
@pytest.mark.parametrize("before", [None, b"something else"], ids=["missing", "wrong"])
@pytest.mark.parametrize("mirror", ["directory", "file url", "url"])
def test_the_first_place_that_has_the_right_file_is_taken(
    site: Site, tmp_path: Path, caplog: Any, first: int, before: bytes | None, mirror: str
) -> None:
    """Places before it have nothing or something wrong; each wrong one is named."""
    folder = tmp_path / "my mirror"
    paths = [tmp_path / "manual" / NAME, tmp_path / "manual/batch.csv", folder / NAME]
    contents = [before] * first + [CONTENT] * (len(ALL) - first)
    for path, content in zip(paths, contents, strict=False):
        if content is not None and (mirror != "url" or path != paths[2]):
            put(path.parent, content, path.name)
    spelling = {
        "directory": str(folder),
        "file url": f"file://localhost{folder}".replace(" ", "%20"),
        "url": site.base + "/mirror/",
    }[mirror]
    if contents[2] is not None:
        site.answers["/mirror/" + NAME] = [send(contents[2])]
    site.answers["/a"] = [send(CONTENT)]
    places = Places(tmp_path / "data", tmp_path / "manual", spelling)
    assert get(source(site.base + "/a"), places).read_bytes() == CONTENT
    wanted = (["/mirror/" + NAME] if mirror == "url" and first >= 2 else []) + (
        ["/a"] if first == 3 else []
    )
    assert site.asked == wanted
    assert files_in(places.data) == [NAME]
    for path in paths[: min(first, 2)] if before else []:
        assert str(path) in caplog.text
        assert path.read_bytes() == before


def test_without_network_no_public_url_is_asked_but_a_mirror_is(site: Site, places: Places) -> None:
    site.answers["/a"] = [send(CONTENT)]
    places = Places(places.data, places.manual, site.base + "/mirror", network=False)
    with pytest.raises(SourceError, match="network") as caught:
        get(source(site.base + "/a"), places)
    assert "404" in caught.value.message
    assert f"{site.base}/a" in caught.value.message
    assert site.asked == ["/mirror/" + NAME]


def test_what_is_there_already_is_verified_and_left_alone(site: Site, places: Places) -> None:
    path = put(places.data)
    before = path.stat()
    assert get(source(site.base + "/a"), places) == path
    after = path.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(SourceError) as caught:
        get(source(site.base + "/a"), places)
    assert caught.value.path == str(path)
    assert site.base + "/a" in caught.value.remedy
    assert path.read_bytes() == CONTENT[:-1]
    assert site.asked == []


@pytest.mark.parametrize("mirror", ["", "mirror"])
def test_a_missing_manual_source_names_every_place_and_the_remedy(
    places: Places, mirror: str
) -> None:
    places = Places(places.data, places.manual, mirror)
    with pytest.raises(SourceError) as caught:
        get(source(), places)
    named = [places.data / NAME, places.manual / NAME, places.manual / "batch.csv"]
    named.append(Path(mirror, NAME if mirror else "REFLESS_MIRROR"))
    for place in (*named, "public address"):
        assert str(place) in caught.value.message
    for told in ("worksheet 0x88", str(places.manual / NAME), "REFLESS_MIRROR"):
        assert told in caught.value.remedy


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


OBSTACLES = ["file in the way", "directory in the way", "read-only", "not ours"]


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_a_place_that_cannot_be_written_is_no_fault_of_the_source(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    if obstacle == "file in the way":
        (data / "huse").write_text("not a directory")
    elif obstacle == "directory in the way":
        (data / NAME).mkdir(parents=True)
    elif obstacle == "not ours":
        data.chmod(0o500)
        if os.access(data, os.W_OK):
            pytest.skip("root may write anywhere")
    else:
        # Permissions do not stop root, who may well run these tests.
        def read_only(*_: Any, **__: Any) -> None:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        monkeypatch.setattr(os, "replace", read_only)
    before = files_in(data)
    for wanted, places in from_everywhere(site, tmp_path, CONTENT):
        with pytest.raises(OutputError, match="cannot be written"):
            get(wanted, places, attempts=3)
        assert files_in(data) == before
    assert len(site.asked) <= 1


def test_a_file_by_hand_that_breaks_while_it_is_read(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell():
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return super().read(size)

    by_hand = put(places.manual)
    whole = Path.open
    monkeypatch.setattr(
        Path, "open", lambda path, *how: Broken(CONTENT) if path == by_hand else whole(path, *how)
    )
    with pytest.raises(SourceError, match="Input/output error") as caught:
        get(source(), places)
    assert str(by_hand) in caught.value.message
    assert files_in(places.data) == []


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_killed_fetch_leaves_nothing_under_the_final_name(
    site: Site, places: Places, sign: signal.Signals
) -> None:
    site.answers["/a"] = [site.stall, send(CONTENT)]
    wanted = source(site.base + "/a")
    code = (
        "from pathlib import Path; from refless.data.fetch import *\n"
        f"fetch(Source('batch', {NAME!r}, {wanted.url!r}, {wanted.sha256!r}),"
        f" Places(Path({str(places.data)!r}), Path({str(places.manual)!r})))"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        until = time.monotonic() + 120
        while not (places.data.exists() and files_in(places.data)):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.01)
        process.send_signal(sign)
        assert process.wait(120) == -sign
    finally:
        process.kill()
        process.wait()
    assert not (places.data / NAME).exists()
    assert get(wanted, places).read_bytes() == CONTENT


def test_two_fetches_of_one_file_do_not_get_in_each_others_way(site: Site, places: Places) -> None:
    together = threading.Barrier(4)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        together.wait(60)
        send(CONTENT)(handler)

    site.answers["/a"] = [answer]
    wanted = source(site.base + "/a")
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(get, wanted, places, attempts=1) for _ in range(4)]
    assert [job.result() for job in jobs] == [places.data / NAME] * 4
    assert files_in(places.data) == [NAME]
    assert (places.data / NAME).read_bytes() == CONTENT
