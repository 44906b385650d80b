"""Projects in which Snakemake runs without touching the checkout, and the two that are shared."""

import fcntl
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from refless.experiments.published import read_published
from tests.workflow import small_data

# What a shell starts in the background ignores Ctrl-C, and its children do; drills send it to them.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "resources/shipped"
OFFLINE = ("--config", "network=False", 'rnn_qe={"train": "never"}')


def published(name: str) -> pd.DataFrame:
    """A table of a paper as it is printed."""
    return read_published(ROOT / f"resources/published/{name}.csv")


@dataclass
class Project:
    """A copy of the project and the mirror that it is told of (empty for none)."""

    path: Path
    mirror: str = ""

    def launch(
        self,
        *arguments: str,
        preexec_fn: Callable[[], None] | None = None,
        start_new_session: bool = False,
        **environment: str,
    ) -> subprocess.Popen[str]:
        # No test is to download an encoder, wherever it runs, or to hear of a run around it.
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("REFLESS_")}
        own = {"REFLESS_MIRROR": self.mirror, "HF_HUB_OFFLINE": "1", "NO_PROXY": "127.0.0.1"}
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--cores", "2", *arguments],
            cwd=self.path,
            env={**inherited, **own, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            preexec_fn=preexec_fn,
            start_new_session=start_new_session,
        )

    def start(
        self, *arguments: str, preexec_fn: Callable[[], None] | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run Snakemake in the copy, whatever comes of it."""
        with self.launch(*arguments, preexec_fn=preexec_fn, **environment) as run:
            try:
                output, _ = run.communicate(timeout=900)
            except BaseException:
                run.kill()
                raise
        return subprocess.CompletedProcess(run.args, run.returncode, output)

    def snakemake(self, *arguments: str, ok: bool = True, **environment: str) -> str:
        """Run Snakemake in the copy; its whole output, or a failure that shows it."""
        result = self.start(*arguments, **environment)
        assert (result.returncode == 0) == ok, result.stdout
        return result.stdout

    def planned(self, *arguments: str, **environment: str) -> dict[str, int]:
        """The jobs that a dry run plans, by rule, with their number; the targets are left out."""
        output = self.snakemake("--dry-run", *arguments, **environment)
        table = output.rpartition("Job stats")[2].split("total")[0] if "total" in output else ""
        rows = re.findall(r"^ *(\w[\w ]*?) +(\d+) *$", table, re.MULTILINE)
        found = {name.replace(" ", "_"): int(n) for name, n in rows}
        return {name: n for name, n in found.items() if name != "all"}

    def change(self, old: str, new: str, path: str = "config/config.yaml") -> None:
        """Replace the only place in a file where something stands."""
        text = (self.path / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, (path, old, text.count(old))
        (self.path / path).write_text(text.replace(old, new), encoding="utf-8")

    def own_modules(self) -> None:
        """Put a copy of the modules in the place of the link, for a test that edits one."""
        link = self.path / "workflow"
        link.unlink()
        shutil.copytree(ROOT / "workflow", link, ignore=shutil.ignore_patterns("__pycache__"))

    def contents(self) -> dict[str, bytes]:
        """All results by their path, but for what a run says of itself (when, where, how long)."""
        results = self.path / "results"
        own_affairs = ("logs", "run", "report.html")
        return {
            str(path.relative_to(self.path)): path.read_bytes()
            for path in sorted(results.rglob("*"))
            if path.is_file()
            and path.relative_to(results).parts[0] not in own_affairs
            and ".partial" not in path.name  # of a job that was killed
        }

    def table(self, name: str) -> pd.DataFrame:
        words = {"setup": str, "train_topic": str}
        return pd.read_csv(self.path / f"results/tables/{name}.csv", dtype=words)

    def copy(self, target: Path) -> "Project":
        shutil.copytree(self.path, target, symlinks=True)
        return Project(target, self.mirror)


def copy_project(target: Path, mirror: str = "") -> Project:
    """The checkout without results and raw data; code is linked."""
    target.mkdir(parents=True)
    for part in ("Snakefile", "workflow", "envs", "docs", "README.md"):
        (target / part).symlink_to(ROOT / part)
    for part in ("config", "profiles"):
        shutil.copytree(ROOT / part, target / part)
    (target / "resources").mkdir()
    for path in (ROOT / "resources").iterdir():
        if path.is_file():
            shutil.copy2(path, target / "resources")
        elif path.name not in ("data", "trained", "manual"):
            (target / "resources" / path.name).symlink_to(path)
    return Project(target, mirror)


def small_project(base: Path) -> Project:
    """A project with tests/small/config.yaml, behind a mirror of its own, and nothing shipped."""
    mirror = base / "mirror"
    project = copy_project(base / "project", str(mirror))
    (project.path / "resources/shipped").unlink(missing_ok=True)
    shutil.copy(ROOT / "tests/small/config.yaml", project.path / "config/config.yaml")
    small_data.register(project.path, small_data.write_raw_files(mirror))
    small_data.write_table(project.path / "mine.tsv")
    return project


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Project]
) -> Project:
    """A project that all workers of a run share: the first makes it, the others wait."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    made, failed = base / f"{name}.made", base / f"{name}.failed"
    with open(base / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert not failed.exists(), failed.read_text(encoding="utf-8")
        if not made.exists():
            try:
                project = make(base / name)
            except BaseException as error:
                failed.write_text(f"{name} could not be made: {error}", encoding="utf-8")
                raise
            made.write_text(f"{project.path}\n{project.mirror}", encoding="utf-8")
    path, _, mirror = made.read_text(encoding="utf-8").partition("\n")
    return Project(Path(path), mirror)


def _make_small(base: Path) -> Project:
    project = small_project(base)
    # where a user places them by hand: a job for each download takes its time
    shutil.copytree(project.mirror, project.path / "resources/manual")
    project.snakemake("all")
    return project


def _make_quick(base: Path) -> Project:
    project = copy_project(base / "project")
    project.snakemake(*OFFLINE, "--", "all")
    return project


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small project in which everything has been built once. Only to look at: all share it."""
    return made_once(tmp_path_factory, "small", _make_small)


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project after the quickstart, without data, mirror and network. Only to look at."""
    if not any(SHIPPED.rglob("*.csv")):
        pytest.skip("nothing is shipped: make ship")
    return made_once(tmp_path_factory, "quick", _make_quick)


@pytest.fixture
def changed(small: Project, tmp_path: Path) -> Project:
    return small.copy(tmp_path / "project")


@pytest.fixture
def fresh(tmp_path: Path) -> Project:
    return small_project(tmp_path)


@pytest.fixture(scope="session")
def mirror() -> str:
    """The directory with the real data; the test is skipped where none is set."""
    place = os.environ.get("REFLESS_MIRROR", "")
    if not Path(place or "/nowhere").is_dir():
        pytest.skip("needs the real data: set REFLESS_MIRROR to a directory that has it")
    return place


@pytest.fixture
def after_jobs() -> Iterator[None]:
    """`refless.job.job` is the last word in a process of its own; here others come after it."""
    root = logging.getLogger()
    handlers, level, on_term = root.handlers[:], root.level, signal.getsignal(signal.SIGTERM)
    root.handlers[:] = []
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    signal.signal(signal.SIGTERM, on_term)


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "leave out the tests that this file lists; those that pass are added to it"
    parser.addoption("--once", type=Path, metavar="FILE", help=about)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "mirror" in getattr(item, "fixturenames", ()) or item.get_closest_marker("slurm"):
            item.add_marker(pytest.mark.slow)
    before = _passed_before(config)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in before])
    items[:] = [item for item in items if item.nodeid not in before]


PASSED: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and report.passed:
        PASSED.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    path = session.config.getoption("once")
    if path and not hasattr(session.config, "workerinput"):  # once for all workers
        names = sorted(PASSED | _passed_before(session.config))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


def _passed_before(config: pytest.Config) -> set[str]:
    path = config.getoption("once")
    return set(path.read_text("utf-8").splitlines()) if path and path.is_file() else set()
