"""What a run shows away from a terminal: by the records that Snakemake writes."""

import logging
import os
from copy import copy
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from refless import run_messages
from snakemake_logger_plugin_refless import LogHandler
from snakemake_logger_plugin_refless.lines import Progress, spoken


def record(event: LogEvent | None = None, message: str = "", **fields: Any) -> logging.LogRecord:
    level = logging.ERROR if event in (LogEvent.ERROR, LogEvent.JOB_ERROR) else logging.INFO
    made = logging.LogRecord("snakemake", level, "", 0, message, (), None)
    made.__dict__.update(fields, event=event)
    return made


def begins(job: int, rule: str, **wildcards: str) -> logging.LogRecord:
    return record(LogEvent.JOB_INFO, jobid=job, rule_name=rule, wildcards=wildcards)


def ends(job: int, done: int, total: int) -> list[logging.LogRecord]:
    finished = record(LogEvent.JOB_FINISHED, job_id=job)
    return [finished, record(LogEvent.PROGRESS, done=done, total=total)]


class Run:
    """Of which only whether it was whole is asked."""

    def opening_lines(self) -> list[str]:
        return ["this will take hours"]

    def closing_lines(self, whole: bool, seconds: float) -> list[str]:
        return [f"whole: {whole}"]


@pytest.fixture(autouse=True)
def announced() -> Any:
    run_messages.announce(Run())  # type: ignore[arg-type]
    yield
    run_messages._runs.clear()


def shown(records: list[logging.LogRecord], dryrun: bool = False) -> LogHandler:
    handler = LogHandler(SimpleNamespace(dryrun=dryrun, show_failed_logs=True), None)
    for one in records:
        handler.handle(one)
    handler.close()
    handler.close()  # as Snakemake does
    return handler


PLAN = record(LogEvent.RUN_INFO, "Job stats: ...", stats={"a_rule": 2, "all": 1, "total": 3})


def test_each_finished_job_has_a_line_with_its_rule_and_data_set(capsys):
    jobs = [begins(1, "a_rule", dataset="huse"), begins(2, "a_rule", dataset="nem")]
    shown([PLAN, *jobs, *ends(2, 1, 3), *ends(1, 2, 3), begins(0, "all"), *ends(0, 3, 3)])
    lines = capsys.readouterr().err.splitlines()
    done = [line for line in lines if "done: " in line]
    assert [line.split("done: ")[1].split(",")[0] for line in done] == [
        "a_rule nem",
        "a_rule huse",
        "all",
    ]
    assert ["1 of 3" in done[0], "2 of 3" in done[1], "3 of 3" in done[2]] == [True] * 3
    assert lines[-1] == "whole: True"
    assert lines.count("whole: True") == 1


@pytest.mark.parametrize(
    ("records", "whole"),
    [
        ([record(message="Nothing to be done (all requested files are present).")], True),
        ([PLAN], False),
        ([record(LogEvent.ERROR, "CreateCondaEnvironmentException: no conda")], False),
        ([PLAN, begins(1, "a"), *ends(1, 1, 1), record(LogEvent.ERROR, "disk full")], False),
    ],
)
def test_success_is_what_snakemake_says_and_nothing_else(capsys, records, whole):
    shown(records)
    assert f"whole: {whole}" in capsys.readouterr().err


def test_a_dry_run_says_what_it_would_cost(capsys):
    shown([PLAN, PLAN], dryrun=True)
    said = capsys.readouterr().err
    assert said.count("Job stats") == 1
    assert said.count("this will take hours") == 1
    assert "whole" not in said


def test_a_failed_job_is_shown_once_with_its_log(capsys, tmp_path):
    log = tmp_path / "job.log"
    log.write_text("ERROR the label is wrong\n")
    failed = record(LogEvent.JOB_ERROR, "Error in rule", jobid=1, log=[str(log)])
    told = record(LogEvent.ERROR, "CalledProcessError in file data.smk, line 3:")
    shown([PLAN, begins(1, "a_rule", dataset="huse"), told, failed])
    said = capsys.readouterr().err
    assert "failed: a_rule huse" in said
    assert said.count("the label is wrong") == 1
    assert "CalledProcessError" not in said


def test_an_error_is_told_once_and_without_a_traceback(capsys, tmp_path):
    old = tmp_path / "job.log"
    old.write_text("done in 3 s\n")
    os.utime(old, (1, 1))
    told = "Failed to run sinfo: no such host\nTraceback (most recent call last):\n  File x"
    error = logging.LogRecord("snakemake", logging.ERROR, "", 0, told, (), None)
    failed = record(LogEvent.JOB_ERROR, "Error in rule", jobid=1, log=[str(old)])
    shown([PLAN, begins(1, "a_rule"), copy(error), copy(error), failed])
    said = capsys.readouterr().err
    assert said.count("no such host") == 1
    assert "Traceback" not in said
    assert "done in 3 s" not in said  # of an earlier run


def test_a_fault_of_the_logger_stops_no_run(capsys):
    shown([record(LogEvent.JOB_FINISHED), *ends(7, 1, 1)])  # one without its number
    assert "whole: True" in capsys.readouterr().err


def test_the_time_left_is_told_where_there_is_a_basis():
    progress = Progress({"train": 10, "table": 1}, began=0.0)
    for job in range(4):
        progress.start(job, "train", now=0.0)
    assert progress.left(50.0) is None
    for job in range(4):
        assert progress.finish(job, now=100.0) == 100.0
    assert progress.left(100.0) == pytest.approx(150.0)  # six more, four at a time
    few = Progress({"train": 1, "table": 9}, began=0.0)
    few.start(1, "train", 0.0)
    few.finish(1, 100.0)
    assert few.left(100.0) is None
    assert [spoken(seconds) for seconds in (12.2, 125, 7900)] == ["12 s", "2 min", "2.2 h"]
