"""What every script shares: exit codes, messages for users, logs, and a tidy end."""

from __future__ import annotations

import argparse
import logging
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from refless.errors import FormatError
from refless.scripting import run

Main = Callable[[argparse.Namespace], None]


@pytest.fixture(autouse=True)
def restore() -> Iterator[None]:
    """`run` is the last word in a process of its own; here others come after it."""
    root = logging.getLogger()
    handlers, level, on_term = root.handlers[:], root.level, signal.getsignal(signal.SIGTERM)
    root.handlers[:] = []
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    signal.signal(signal.SIGTERM, on_term)


def script(main: Main, *argv: str) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("task")
    run(main, parser, list(argv))


def malformed(_: argparse.Namespace) -> None:
    raise FormatError("label 'six'", path="raw.csv", line=7, remedy="mend the row")


def broken(_: argparse.Namespace) -> None:
    raise ZeroDivisionError("a bug")


def test_a_log_that_cannot_be_written_is_an_error_for_users(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "logs").write_text("a file where a directory should be")
    with pytest.raises(SystemExit) as caught:
        script(lambda _: None, "dstc7", "--log", str(tmp_path / "logs/task.log"))
    assert caught.value.code == 1
    said = capsys.readouterr().err
    assert "task.log: cannot be written: " in said
    assert "What to do:" in said


def test_main_gets_its_arguments_and_the_log_gets_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "logs" / "deep" / "task.log"

    def main(arguments: argparse.Namespace) -> None:
        logging.getLogger("refless.data.fetch").info("working on %s – now", arguments.task)

    script(main, "dstc7", "--log", str(log))
    assert "INFO working on dstc7 – now" in log.read_text(encoding="utf-8")
    assert "working on dstc7" in capsys.readouterr().err


def test_a_second_run_starts_its_log_anew(tmp_path: Path) -> None:
    log = tmp_path / "task.log"
    for word in ("first", "second"):

        def main(_: argparse.Namespace, word: str = word) -> None:
            logging.getLogger("refless").info(word)

        script(main, "dstc7", "--log", str(log))
    assert "first" not in log.read_text()
    assert "second" in log.read_text()


@pytest.mark.parametrize("logged", [True, False])
def test_a_known_error_is_a_message_and_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], logged: bool
) -> None:
    log = tmp_path / "task.log"
    with pytest.raises(SystemExit) as caught:
        script(malformed, "dstc7", *(["--log", str(log)] if logged else []))
    assert caught.value.code == 1
    expected = "raw.csv:7: label 'six'\n  What to do: mend the row"
    shown = capsys.readouterr().err
    assert shown == f"error: {expected}\n"
    assert log.exists() == logged
    if logged:
        assert expected in log.read_text()
        assert "Traceback" not in log.read_text()


@pytest.mark.parametrize("logged", [True, False])
def test_an_unknown_error_keeps_its_traceback(tmp_path: Path, logged: bool) -> None:
    log = tmp_path / "task.log"
    with pytest.raises(ZeroDivisionError, match="a bug"):
        script(broken, "dstc7", *(["--log", str(log)] if logged else []))
    if logged:
        assert "Traceback" in log.read_text()
        assert "in broken" in log.read_text()
        assert "ZeroDivisionError: a bug" in log.read_text()


def test_a_wrong_command_line_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        script(broken)
    assert caught.value.code == 2
    assert "task" in capsys.readouterr().err


def test_a_cancelled_job_takes_its_half_written_file_along(tmp_path: Path) -> None:
    """Schedulers cancel with SIGTERM, which would end Python without another word."""
    code = f"""
import argparse, time
from pathlib import Path
from refless.store.files import whole_file
from refless.scripting import run
def main(arguments):
    with whole_file(Path({str(tmp_path)!r}) / "table.csv") as partial:
        partial.write_text("half of it")
        time.sleep(60)
run(main, argparse.ArgumentParser(), [])
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        until = time.monotonic() + 20
        while not list(tmp_path.iterdir()):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.01)
        process.terminate()
        assert process.wait(20) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()
    assert list(tmp_path.iterdir()) == []
