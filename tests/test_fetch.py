"""Fetching: whatever a server, a disk or a user does, only the right bytes get the final name."""

import gzip
import hashlib
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from refless.errors import KernelError, OutputError, SourceError
from refless.fetch import encoders, raw_files
from refless.fetch.__main__ import main
from refless.fetch.encoders import fetch_encoder, locate_encoder
from refless.fetch.places import Places, Source, read_sources
from refless.fetch.raw_files import fetch, verify
from refless.kernel_registry import KERNELS
from refless.plan import Plan
from refless.settings import read_settings
from tests.kernels.test_bertscore import fake_model
from tests.test_settings import changed

CONTENT = b"rated,texts\n" * 20_000  # several chunks
NAME = "huse/batch.csv"

Answer = Callable[[BaseHTTPRequestHandler], None]


def send(body: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)
        handler.wfile.flush()

    return answer


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A web server on this machine; each address has a list of answers, the last one repeats."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    site = SimpleNamespace(answers={}, asked=[], released=threading.Event())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            answers = site.answers.get(self.path, [send(b"", status=404)])
            with suppress(ConnectionError):
                (answers.pop(0) if len(answers) > 1 else answers[0])(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.base = f"http://127.0.0.1:{server.server_address[1]}"
    with server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield site
        site.released.set()
        server.shutdown()


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(data=tmp_path / "data", manual=tmp_path / "manual")


def source(url: str = "") -> Source:
    known = hashlib.sha256(CONTENT).hexdigest()
    return Source(NAME, url, known, about="worksheet 0x88")


def put(directory: Path, content: bytes = CONTENT, name: str = NAME) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def files_in(directory: Path) -> list[str]:
    return [str(p.relative_to(directory)) for p in directory.rglob("*") if not p.is_dir()]


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ([send(CONTENT)], 1),
        ([send(b"", status=503), send(b"", status=429), send(CONTENT)], 3),
        ([send(b"", status=302, Location="/b")], 2),
        ([send(gzip.compress(CONTENT), Content_Encoding="gzip")], 1),
    ],
)
def test_right_bytes_arrive_under_the_final_name_and_nothing_else(site, places, answers, asked):
    site.answers = {"/a": answers, "/b": [send(CONTENT)]}
    path = fetch(source(site.base + "/a"), places)
    assert path == places.data / NAME
    assert path.read_bytes() == CONTENT
    assert files_in(places.data) == [NAME]
    assert len(site.asked) == asked


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (send(CONTENT[::-1]), "instead of"),
        (send(CONTENT + b"x"), "instead of"),
        (send(CONTENT[:-1], Content_Length=str(len(CONTENT))), "IncompleteRead"),
        (send(b"", status=404), "404"),
        (send(b"", status=500), "500"),
        (send(b"x" * 99, Content_Encoding="gzip"), "DecodeError"),
        (send(b"", status=302, Location="/a"), "TooManyRedirects"),
    ],
)
def test_what_is_not_the_file_is_refused(site, places, answer, said):
    site.answers["/a"] = [answer]
    with pytest.raises(SourceError, match=said) as caught:
        fetch(source(site.base + "/a"), places)
    assert site.base + "/a" in caught.value.message
    assert files_in(places.data) == []


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [
        ("TIMEOUT", (20.0, 0.3), "timed out"),
        ("DEADLINE", 0.3, "too slow"),
        ("LIMIT", 500_000, "longer"),
    ],
)
def test_a_server_that_does_not_finish_is_given_up(site, places, monkeypatch, limit, value, said):
    def drip(handler: BaseHTTPRequestHandler) -> None:
        send(b"x")(handler)
        while not site.released.wait({"TIMEOUT": 30, "DEADLINE": 0.02}.get(limit, 0)):
            handler.wfile.write(CONTENT if limit == "LIMIT" else b"x")

    site.answers["/a"] = [drip]
    monkeypatch.setattr(raw_files, f"_{limit}", value)
    with pytest.raises(SourceError, match=said):
        fetch(source(site.base + "/a"), places)
    assert files_in(places.data) == []


def test_places_are_tried_in_their_order(site, places, tmp_path):
    site.answers = {"/a": [send(CONTENT)], f"/mirror/{NAME}": [send(CONTENT)]}
    by_hand, mirrored = put(places.manual), put(tmp_path / "a mirror")

    def asked(mirror: str | Path) -> list[str]:
        """What the server was asked for."""
        site.asked.clear()
        fetch(source(site.base + "/a"), Places(places.data, places.manual, str(mirror)))
        return site.asked

    def asked_anew(mirror: str | Path) -> list[str]:
        (places.data / NAME).unlink()
        return asked(mirror)

    assert asked("") == []
    by_hand.unlink()
    assert asked_anew(tmp_path / "a mirror") == []
    assert asked_anew(site.base + "/mirror/") == [f"/mirror/{NAME}"]
    mirrored.write_bytes(b"wrong")
    assert asked_anew(tmp_path / "a mirror") == ["/a"]
    # what is there already is neither looked for nor replaced
    assert asked("") == []
    (places.data / NAME).write_bytes(b"mine")
    with pytest.raises(SourceError, match="instead of"):
        fetch(source(site.base + "/a"), places)
    assert (places.data / NAME).read_bytes() == b"mine"


def test_what_can_be_had_nowhere_names_every_place(site, places):
    offline = Places(places.data, places.manual, str(places.data / "none"), network=False)
    with pytest.raises(SourceError, match="switched off") as caught:
        fetch(source(site.base + "/a"), offline)
    for place in (places.manual / NAME, places.data / "none" / NAME):
        assert str(place) in caught.value.message
    assert site.asked == []
    with pytest.raises(SourceError, match="ConnectionError"):
        fetch(source("http://127.0.0.1:1/a"), places)
    with pytest.raises(SourceError, match="worksheet 0x88"):
        fetch(source(), places)
    with pytest.raises(SourceError, match=f"s3://bucket/{NAME}"):
        fetch(source(), replace(places, mirror="s3://bucket"))


def test_what_cannot_be_written_or_read_is_named(places):
    by_hand = put(places.manual)
    places.data.write_bytes(b"a file where a folder should be")
    with pytest.raises(OutputError) as caught:
        fetch(source(), places)
    assert caught.value.path == str(places.data / NAME)
    by_hand.unlink()
    by_hand.mkdir()
    with pytest.raises(SourceError, match="directory"):
        fetch(source(), places)


def test_an_archive_may_be_packed_anew_but_not_with_other_members(tmp_path):
    def packed(**members: bytes) -> Path:
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return tmp_path / "a.zip"

    known = hashlib.sha256(b"onetwo").hexdigest()
    wanted = Source("a.zip", sha256=known, members=("x", "y"))
    assert verify(packed(y=b"two", x=b"one", other=b"more"), wanted) == known
    with pytest.raises(SourceError, match="instead of"):
        verify(packed(y=b"two", x=b"oen"), wanted)
    with pytest.raises(SourceError, match="cannot be read"):
        verify(packed(x=b"one"), wanted)
    (tmp_path / "a.zip").write_bytes(packed(x=b"one" * 999, y=b"two").read_bytes()[:-30])
    with pytest.raises(SourceError, match="cannot be read"):
        verify(tmp_path / "a.zip", wanted)


def test_the_table_of_sources():
    sources = read_sources()
    assert sources["nltk/wordnet.zip"].members
    unsummed = {path for path, one in sources.items() if not one.sha256}
    assert unsummed == {"huse/lm_results.csv", "huse/reddit_results_reformatted.csv"}
    assert all(one.url or one.about for one in sources.values())


@pytest.mark.usefixtures("after_jobs")
def test_the_command_goes_on_if_it_is_told_to(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REFLESS_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("REFLESS_NETWORK", "off")
    put(tmp_path / "mirror", name="huse/lm_results.csv")
    names = ["nem/emnlp_data_medians.csv", "models/none", "huse/lm_results.csv"]
    with pytest.raises(SystemExit):
        main(*names)
    assert not (tmp_path / "resources/data/huse/lm_results.csv").exists()
    main("--keep-going", *names)
    assert (tmp_path / "resources/data/huse/lm_results.csv").read_bytes() == CONTENT
    said = capsys.readouterr().err
    assert "nem/emnlp_data_medians.csv: could not be had" in said
    assert "none" in said
    assert hashlib.sha256(CONTENT).hexdigest() in said  # no sum of it is published


@pytest.mark.usefixtures("after_jobs")
def test_a_failed_download_is_a_failure_in_the_end(tmp_path, monkeypatch, capsys):
    """After all others were tried; of what has no address, that it is missing is no failure."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REFLESS_MIRROR", "")
    monkeypatch.setenv("REFLESS_NETWORK", "on")
    monkeypatch.setattr(raw_files, "_download", lambda url: b"another file")
    main("--keep-going", "huse/lm_results.csv")
    with pytest.raises(SystemExit):
        main("--keep-going", "nem/emnlp_data_medians.csv", "huse/lm_results.csv")
    said = capsys.readouterr().err
    assert "could not be fetched: nem/emnlp_data_medians.csv\n" in said
    assert "network=False" in said


KERNEL = "bertscore.mine"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """Its places for encoders, with all packages."""
    monkeypatch.delenv("REFLESS_MODELS", raising=False)
    monkeypatch.setitem(KERNELS, "bertscore.*", KERNELS["bertscore.*"]._replace(packages=()))
    return Places(tmp_path / "data", tmp_path / "manual", str(tmp_path / "mirror"))


def test_an_encoder_counts_where_it_lies(machine, tmp_path, monkeypatch):
    monkeypatch.setenv("REFLESS_MODELS", str(tmp_path / "models"))
    (empty := tmp_path / "manual/models/mine").mkdir(parents=True)
    own = {"model": str(tmp_path)}  # which holds none
    settings = read_settings(changed("kernels", {"bertscore.roberta-large": own}))
    plan = Plan(settings, {}, machine)
    for kernel in (KERNEL, "bertscore.nowhere", "bertscore.roberta-large"):
        assert plan.kernel(kernel).code == "encoder_missing"
    assert plan.options("bertscore.roberta-large") == own
    empty.rmdir()
    # the later machine first
    for folder in ("models", "mirror/models", "manual/models", "data/models"):
        fake_model(here := tmp_path / folder / "mine")
        assert locate_encoder("mine", machine) == here
        assert plan.kernel(KERNEL) is None
        assert str(here / "config.json") in plan.files(KERNEL)
    assert fetch_encoder("mine", machine) == tmp_path / "data/models/mine"
    needing = KERNELS["bertscore.*"]._replace(packages=("no_such_package",))
    monkeypatch.setitem(KERNELS, "bertscore.*", needing)
    assert plan.kernel(KERNEL).code == "package_missing"


@pytest.mark.parametrize("fault", ["none", "another model", "the hub", "killed", "no network"])
def test_a_fetched_encoder_is_whole_or_not_there(machine, monkeypatch, fault):
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

    monkeypatch.setattr(encoders, "download", download)
    if fault == "none":
        assert (fetch_encoder("mine", machine) / "config.json").is_file()
    else:
        with pytest.raises((KernelError, KeyboardInterrupt, SourceError)):
            fetch_encoder("mine", replace(machine, network=fault != "no network"))
    left = [path.name for path in (machine.data / "models").glob("*")]
    assert left == (["mine"] if fault == "none" else [])
