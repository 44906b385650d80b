"""What every job shares: exit codes, messages for users, logs, and a tidy end."""

import ast
import logging
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from refless import steps
from refless.errors import FormatError
from refless.job import job
from refless.steps import Steps
from tests.conftest import ROOT

pytestmark = pytest.mark.usefixtures("after_jobs")


def told(log: Path, **wildcards: str) -> SimpleNamespace:
    """What Snakemake gives a script."""
    return SimpleNamespace(log=[str(log)], **({"wildcards": wildcards} if wildcards else {}))


def test_a_log_must_be_writable(tmp_path, capsys):
    (tmp_path / "logs").write_text("a file where a directory should be")
    with pytest.raises(SystemExit) as caught, job(told(tmp_path / "logs/task.log")):
        pass
    assert caught.value.code == 1
    assert "task.log" in capsys.readouterr().err


def test_each_run_starts_its_log_anew(tmp_path):
    log = tmp_path / "logs" / "deep" / "task.log"
    for word in ("first", "second"):
        with job(told(log)):
            logging.getLogger("refless.fetch").info("the %s – now", word)
    assert "INFO the second – now" in log.read_text(encoding="utf-8")
    assert "first" not in log.read_text(encoding="utf-8")


def test_a_known_error_is_a_message(tmp_path, capsys):
    """In the log, which Snakemake shows; standard error would be once too often."""
    log = tmp_path / "task.log"
    with pytest.raises(SystemExit) as caught, job(told(log)):
        raise FormatError("label 'six'", path="raw.csv", line=7, remedy="mend the row")
    assert caught.value.code == 1
    assert "raw.csv:7: label 'six'\n  What to do: mend the row" in log.read_text()
    assert "Traceback" not in log.read_text()
    with pytest.raises(SystemExit), job(told(log, dataset="mine", kernel="meteor")):
        raise FormatError("no context has two texts", remedy="add some")
    assert "dataset mine, kernel meteor: no context has two texts" in log.read_text()
    assert capsys.readouterr().err == ""
    with pytest.raises(SystemExit), job(SimpleNamespace(log=[])):  # of a command, not of a rule
        raise FormatError("no context has two texts", remedy="add some")
    assert "no context has two texts" in capsys.readouterr().err


def test_an_unknown_error_keeps_its_traceback(tmp_path):
    log = tmp_path / "task.log"
    with pytest.raises(SystemExit), job(told(log)):
        raise ZeroDivisionError("a bug")
    assert "Traceback" in log.read_text()
    assert "ZeroDivisionError: a bug" in log.read_text()


def test_a_job_without_its_packages_says_where_they_are_missing(tmp_path):
    log = tmp_path / "task.log"
    with pytest.raises(SystemExit), job(told(log)):
        import no_such_package  # noqa: F401
    written = log.read_text()
    assert "no_such_package" in written
    assert sys.executable in written
    assert "Traceback" not in written


def test_a_log_says_at_once_what_the_job_is_and_in_the_end_that_it_was_stopped(tmp_path):
    log = tmp_path / "task.log"
    of = SimpleNamespace(log=[str(log)], rule="compute_kernel", wildcards={"dataset": "mine"})
    with pytest.raises(SystemExit), job(of):
        sys.exit(log.read_text())
    begun = log.read_text().splitlines()[0]
    assert "compute_kernel" in begun
    assert "mine" in begun
    assert "stopped" in log.read_text()


def test_a_long_work_has_a_line_now_and_then(tmp_path, monkeypatch):
    log = tmp_path / "task.log"
    with job(told(log)):
        few, many = Steps("few texts", 2000), Steps("many texts", 2000)
        few(1)
        monkeypatch.setattr(steps, "EVERY", 0.0)
        many(1500)
    written = log.read_text()
    assert "few" not in written
    assert re.search(r"many texts.*1,500.*2,000", written)


def test_a_job_that_dies_in_its_imports_has_a_log():
    """So they come after the log is open."""
    for path in (ROOT / "workflow/scripts").glob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        first = [f"{one.module}" for one in body if isinstance(one, ast.ImportFrom)]
        first += [a.name for one in body if isinstance(one, ast.Import) for a in one.names]
        assert {name.split(".")[0] for name in first} <= {*sys.stdlib_module_names, "refless"}, path
        assert [name for name in first if name.startswith("refless")] == ["refless.job"], path


def test_a_cancelled_job_takes_its_half_written_file_along(tmp_path):
    """Schedulers cancel with SIGTERM, which would end Python without another word."""
    code = f"""
import time
from pathlib import Path
from types import SimpleNamespace
from refless.job import job
from refless.store.files import whole_file
with job(SimpleNamespace(log=[{str(tmp_path / "task.log")!r}])):
    with whole_file({str(tmp_path / "results/table.csv")!r}) as partial:
        partial.write_text("half of it")
        time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        until = time.monotonic() + 120
        while not list(tmp_path.glob("results/.*")):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.01)
        process.terminate()
        assert process.wait(120) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()
    assert list(tmp_path.glob("results/.*")) == []
