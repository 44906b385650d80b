"""What a run of the workflow says in the beginning and in the end. Stage: none.

The rules announce their run (`announce`), and the logger `snakemake_logger_plugin_refless` asks for
its lines when Snakemake says that jobs begin, and that it ends.
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refless.errors import ReflessError
from refless.models.rnn_qe.names import RUNS
from refless.store.records import read_record


@dataclass(frozen=True)
class Run:
    """A run of the workflow.

    workflow : Snakemake's, of which the plan of jobs is asked when it is made
    folder : where it runs; with ``--directory``, Snakemake goes back in the end
    """

    workflow: Any
    folder: str

    def opening_lines(self) -> list[str]:
        """What training costs, if networks are trained."""
        if self.workflow.dag is None:
            return []
        needed = self.workflow.dag.needrun_jobs(exclude_finished=False)
        jobs = [job for job in needed if _is(job, "train_rnn_qe")]
        return [opening_line([job.wildcards.name for job in jobs])] if jobs else []

    def closing_lines(self, whole: bool, seconds: float) -> list[str]:
        """Where the files are, if the run is ``whole``; what could not be fetched, if it is not."""
        if self.workflow.dag is None or self.workflow.touch:
            return []
        os.chdir(self.folder)
        dag = self.workflow.dag
        if not whole:
            files = [path for job in dag.jobs if _is(job, "fetch_source") for path in job.output]
            return fetch_lines([path for path in files if not Path(path).exists()])
        asked = [path for job in dag.targetjobs for path in job.output or job.input]
        made = {path for job in dag.jobs for path in job.output}
        return closing_lines(asked, made, seconds) if asked else []


_runs: list[Run] = []


def announce(run: Run) -> None:
    """Say which run this process makes."""
    _runs[:] = [run]


def run() -> Run | None:
    """The run of this process, if it was announced."""
    return _runs[0] if _runs else None


def _is(job: Any, rule: str) -> bool:
    """Whether a job is of a rule, whatever a module puts before its name."""
    return bool(job.rule.name.endswith(rule))


def fetch_lines(lost: Sequence[str]) -> list[str]:
    """What is said of raw files that a failed run could not fetch, or did not come to."""
    if not lost:
        return []
    names = ", ".join(path.removeprefix("resources/data/") for path in lost)
    return [
        f"refless: {len(lost)} raw files were not fetched: {names}\n"
        "  What to do: `make` needs none of them, and no network; with one, `snakemake --cores 1"
        " fetch` fetches all, and says of each why it could not"
    ]


def opening_line(runs: Collection[str]) -> str:
    """What a run says before it trains RNN-QE: an entry of `RUNS` for each job."""
    jobs = [RUNS[name] for name in runs]
    networks = sum(job.networks for job in jobs)
    hours = sum(job.hours for job in jobs)
    return (
        f"refless: trains {networks} networks of RNN-QE in {len(jobs)} jobs, about"
        f" {hours:.1f} hours of one core (without: make, or train: never below rnn_qe)"
    )


def closing_lines(targets: Sequence[str], outputs: Collection[str], seconds: float) -> list[str]:
    """What a run says in the end: where the files are, and where their numbers came from.

    targets, outputs : the files that it was asked for, and all that these are made from
    """
    tables = [path for path in outputs if re.fullmatch(r"results/tables/.*\.csv", path)]
    figures = [path for path in outputs if re.fullmatch(r"results/figures/.*\.pdf", path)]
    report = Path("results/report.html")
    lines = {"report": _report_line(report, [*tables, *figures], str(report) in outputs)}
    if tables:
        lines["tables"] = f"{len(tables)} in {Path('results/tables').resolve()}"
    if figures:
        lines["figures"] = f"{len(figures)} in {Path('results/figures').resolve()}"
    if tables:
        try:
            lines["rows"] = _row_counts(tables)
        except ReflessError as error:
            return [f"error: {error}"]
    if not tables and not figures:
        lines["files"] = str(Path(targets[0]).resolve().parent)
    lines["time"] = f"{seconds:.0f} s"
    lines["next"] = (
        "change config/config.yaml and run again; `refless compare` takes your own ratings"
    )
    return [f"{name:8} {text}" for name, text in lines.items() if text]


def _row_counts(tables: Iterable[str]) -> str:
    """How many rows were computed, shipped and absent, and why; what a changed setting took away
    comes first."""
    rows = Counter(computed=0, shipped=0, absent=0)
    reasons = Counter[str]()
    for path in tables:
        metadata = read_record(path)["metadata"]
        rows.update(metadata["provenance_counts"])
        reasons.update(metadata["reason"])
    counts = ", ".join(f"{n} {provenance}" for provenance, n in rows.items())
    words = sorted(reasons, key=lambda word: (word != "settings", -reasons[word], word))
    if words:
        counts += f" ({', '.join(f'{reasons[word]} {word}' for word in words)})"
    return counts


def _report_line(report: Path, items: Iterable[str], renewed: bool) -> str:
    """Where the report is, if it was asked for; that it shows earlier tables, if it does."""
    if renewed:
        return str(report.resolve())
    newest = max((Path(path).stat().st_mtime for path in items), default=0.0)
    if not report.is_file() or report.stat().st_mtime >= newest:
        return ""
    return f"{report} is older than these files; the target report makes it anew"
