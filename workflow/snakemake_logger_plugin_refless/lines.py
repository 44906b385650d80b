"""A run as lines, for whoever keeps them in a file: one for each finished job. Stage: none."""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from logging import INFO, WARNING, Handler, LogRecord
from pathlib import Path
from statistics import fmean
from typing import Any

from snakemake_interface_logger_plugins.common import LogEvent

_LEFT_OUT = (
    *("Activating conda", "Assuming unrestricted", "Building DAG", "Conda environments: ignored"),
    *("Execute ", "None", "Provided cores", "Reasons:", "Rules claiming", "Select jobs"),
    *("Using shell", "host:"),
)
"""Beginnings of messages that tell a user nothing."""
_BASIS = 0.8
"""Share of the jobs that are left whose rules have finished jobs, for an estimate of the time."""


@dataclass
class Progress:
    """What is done, and how long the rest may take. Times are in seconds.

    counts : rule -> its jobs in this run
    """

    counts: Mapping[str, int]
    began: float
    done: int = 0
    _started: dict[int, tuple[str, float]] = field(default_factory=dict)
    _took: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def total(self) -> int:
        """All jobs of this run."""
        return sum(self.counts.values())

    def start(self, job: int, rule: str, now: float) -> None:
        """Note that a job was started, or given to a scheduler."""
        self._started[job] = rule, now

    def finish(self, job: int, now: float) -> float:
        """Note that a job has ended; how long it took, waiting in a queue included."""
        self.done += 1
        rule, start = self._started.pop(job, ("", now))
        self._took[rule].append(now - start)
        return now - start

    def left(self, now: float) -> float | None:
        """About how long the rest takes with as many jobs at a time as so far; None where most of
        it is of rules that have not finished a job yet."""
        rest = {rule: n - len(self._took.get(rule, ())) for rule, n in self.counts.items()}
        known = {rule: n for rule, n in rest.items() if n > 0 and rule in self._took}
        jobs, elapsed = sum(n for n in rest.values() if n > 0), now - self.began
        if not jobs or elapsed <= 0 or sum(known.values()) < _BASIS * jobs:
            return None
        work = sum(n * fmean(self._took[rule]) for rule, n in known.items())
        at_a_time = max(1.0, sum(map(sum, self._took.values())) / elapsed)
        return work / at_a_time


def spoken(seconds: float) -> str:
    """A duration in the unit that a person would take.

    >>> spoken(12.2), spoken(125), spoken(7900)
    ('12 s', '2 min', '2.2 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class Lines(Handler):
    """Writes to standard error: the number of jobs, each that has ended, and each failure with its
    log."""

    def __init__(self, settings: Any) -> None:
        super().__init__()
        self._dryrun, self._shows_logs = settings.dryrun, settings.show_failed_logs
        self._progress = Progress({}, time.time())
        self._names: dict[int, str] = {}
        self._plan = ""

    def emit(self, record: LogRecord) -> None:
        """Write what a record says, if it says something to a user."""
        written = {
            LogEvent.RUN_INFO: self._jobs,
            LogEvent.JOB_INFO: self._started,
            LogEvent.JOB_FINISHED: self._finished,
            LogEvent.JOB_ERROR: self._failed,
            LogEvent.ERROR: LogRecord.getMessage,
            None: self._message,
        }.get(getattr(record, "event", None))
        if written and (text := written(record)):
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Of a dry run, the jobs stand last, where they are seen."""
        if self._plan:
            print(self._plan, file=sys.stderr, flush=True)
        self._plan = ""
        super().close()

    def _jobs(self, record: LogRecord) -> str:
        """How many jobs there are of each rule."""
        if self._dryrun:
            self._plan = record.getMessage()
            return ""
        counts: Counter[str] = Counter(record.stats)  # type: ignore[attr-defined]
        counts.pop("total", None)
        self._progress = Progress(counts, time.time())
        listed = ", ".join(f"{rule} {n}" if n > 1 else rule for rule, n in counts.items())
        total = self._progress.total
        return f"{total} {'job' if total == 1 else 'jobs'}: {listed}"

    def _started(self, record: LogRecord) -> str:
        """Nothing: what has ended is written, and what runs is in its log."""
        about = [record.rule_name, *(record.wildcards or {}).values()]  # type: ignore[attr-defined]
        job: int = record.jobid  # type: ignore[attr-defined]
        self._names[job] = " ".join(map(str, about))
        self._progress.start(job, str(about[0]), time.time())
        return ""

    def _finished(self, record: LogRecord) -> str:
        job: int = record.job_id  # type: ignore[attr-defined]
        now = time.time()
        took, left = self._progress.finish(job, now), self._progress.left(now)
        of = f"{self._progress.done} of {max(self._progress.total, self._progress.done)}"
        line = f"{time.strftime('%H:%M:%S')} {of} done: {self._label(job)}, {spoken(took)}"
        return line if left is None else f"{line}; about {spoken(left)} left"

    def _failed(self, record: LogRecord) -> str:
        """The job, and its logs."""
        logs = list(map(str, record.log))  # type: ignore[attr-defined]
        job: int = record.jobid  # type: ignore[attr-defined]
        where = f"{self._label(job)}; its log: {' '.join(logs)}"
        lines = [f"{time.strftime('%H:%M:%S')} failed: {where}"]
        for path in map(Path, logs if self._shows_logs else []):
            # what lies there may be the log of an earlier run
            if path.is_file() and path.stat().st_mtime >= self._progress.began - 1:
                lines.append(path.read_text(encoding="utf-8", errors="replace").rstrip())
        return "\n".join(lines)

    def _message(self, record: LogRecord) -> str:
        message = record.getMessage()
        told = record.levelno >= WARNING or not message.startswith(_LEFT_OUT)
        return message if told and record.levelno >= INFO else ""

    def _label(self, job: int) -> str:
        return self._names.get(job, f"job {job}")
