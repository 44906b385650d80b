"""A mirror that serves wrong bytes, falls silent or hangs up, as a run of the workflow meets it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.conftest import Project, small_project
from tests.drills.harm import drilled
from tests.serving import Quiet

pytestmark = pytest.mark.slow

# fault -> (the file that the mirror serves so, what is said of it)
FAULTS = {
    "wrong bytes": ("nem/emnlp_data_medians.csv", "instead of"),
    "silence": ("bagel/ACL10-inform-training.txt", "timed out"),
    "hangs up": ("huse/summarization_raw_outputs.csv", "IncompleteRead"),
}


class Faulty(Quiet):
    """Serves a directory, some files of it badly."""

    broken = True
    released = threading.Event()

    def do_GET(self) -> None:
        faults = {path: fault for fault, (path, _) in FAULTS.items()}
        fault = faults.get(self.path.strip("/"))
        if fault is None or not Faulty.broken:
            super().do_GET()
            return
        content = Path(self.translate_path(self.path)).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if fault == "wrong bytes":
            self.wfile.write(content[::-1])
            return
        self.wfile.write(content[: len(content) // 2])
        self.wfile.flush()
        if fault == "silence":
            Faulty.released.wait(60)
        self.close_connection = True


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str], Project, str]]:
    """What a run with the faulty mirror says and leaves behind; then one with the mirror mended."""
    project = small_project(tmp_path_factory.mktemp("mirrors"))
    handler = functools.partial(Faulty, directory=project.mirror)
    files = [f"resources/data/{path}" for path, _ in FAULTS.values()]
    command = ["--config", "network=False", "--keep-going", "--", *files]
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        project.mirror = f"http://127.0.0.1:{server.server_port}"
        first = drilled(project, *command, script="refless.data.fetch", patience="0.5")
        assert first.returncode != 0
        data = (project.path / "resources/data").rglob("*")
        left = [str(path.relative_to(project.path)) for path in data if path.is_file()]
        Faulty.released.set()
        Faulty.broken = False
        second = project.snakemake(*command)
        yield first.stdout, left, project, second
        server.shutdown()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_mirror_is_named_and_a_sound_one_later_does(
    runs: tuple[str, list[str], Project, str], fault: str
) -> None:
    path, said = FAULTS[fault]
    output, left, project, _ = runs
    assert left == []
    told = output[output.index(f"error: {path}: could not be had") :]
    told = told[: told.index("REFLESS_MIRROR")]
    assert f"{project.mirror}/{path}: " in told
    assert said in told
    assert "What to do:" in told
    assert f"resources/manual/{path}" in told
    mirrored = project.path.parent / "mirror" / path
    assert (project.path / "resources/data" / path).read_bytes() == mirrored.read_bytes()
