"""What a run of the workflow shows: ``logger: refless`` in a profile. Stage: none.

On a terminal bars, by snakemake-logger-plugin-rich; elsewhere, or without that package, a line for
each finished job. Before the jobs, what training costs; in the end where the files are, if all that
was asked for is there. Snakemake calls this wherever jobs run: here, under Slurm, by any command.

Snakemake imports this package whenever it starts, so nothing else is imported before it is needed.
"""

import sys
import time
from importlib.util import find_spec
from logging import ERROR, Handler, LogRecord
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_refless.lines import Lines

_NOTHING_TO_DO = "Nothing to be done"


class LogHandler(LogHandlerBase):
    """Passes each record on to what shows it, and knows how the run went."""

    def __post_init__(self) -> None:
        self._whole = self._closed = False
        self._begin = time.time()
        self._errors: set[str] = set()
        self._shown: Handler
        if sys.stderr.isatty() and find_spec("snakemake_logger_plugin_rich"):
            from snakemake_logger_plugin_rich import LogHandler as Bars

            self._shown = Bars(self.common_settings, self.settings)
        else:
            self._shown = Lines(self.common_settings)

    def emit(self, record: LogRecord) -> None:
        """Show a record, and what belongs behind it. A fault here is shown, and stops no run."""
        try:
            self._show(record)
        except Exception:
            self.handleError(record)

    def _show(self, record: LogRecord) -> None:
        event = getattr(record, "event", None)
        if record.levelno >= ERROR:
            self._whole = False
        elif event == LogEvent.PROGRESS:
            self._whole = bool(record.done == record.total)  # type: ignore[attr-defined]
        elif record.getMessage().startswith(_NOTHING_TO_DO):
            self._whole = True
        if not self._is_repeated(record):
            self._shown.handle(record)
        if event == LogEvent.RUN_INFO and not self.common_settings.dryrun:
            self._say("opening_lines")

    def close(self) -> None:
        """The last lines of a run. Snakemake calls this more than once."""
        self._shown.close()
        if not self._closed and self.common_settings.dryrun:
            self._say("opening_lines")
        elif not self._closed:
            self._say("closing_lines", self._whole, time.time() - self._begin)
        self._closed = True
        super().close()

    def _is_repeated(self, record: LogRecord) -> bool:
        """Whether an error was shown already, or only says that a job's command has failed: the
        job's log says why. Its traceback stands in Snakemake's log, and nowhere else."""
        if record.levelno < ERROR or getattr(record, "event", None) == LogEvent.JOB_ERROR:
            return False
        record.msg = message = record.getMessage().partition("\nTraceback (most recent")[0]
        record.args = ()
        repeated = message in self._errors or "CalledProcessError" in message
        self._errors.add(message)
        return repeated

    def _say(self, what: str, *arguments: Any) -> None:
        """Print what the rules of refless have to say of this run, if they are those that run."""
        messages = sys.modules.get("refless.run_messages")
        run = messages and messages.run()
        lines = getattr(run, what)(*arguments) if run else []
        print(*(f"{line}\n" for line in lines), sep="", end="", file=sys.stderr, flush=True)

    @property
    def writes_to_stream(self) -> bool:
        """It writes to the terminal."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """It writes no file."""
        return False

    @property
    def has_filter(self) -> bool:
        """It leaves out records by itself."""
        return True

    @property
    def has_formatter(self) -> bool:
        """It formats records by itself."""
        return True

    @property
    def needs_rulegraph(self) -> bool:
        """It has no use for the graph of rules."""
        return False
