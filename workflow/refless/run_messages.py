"""What a run of the workflow says in the beginning and in the end. Stage: none."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from refless.errors import ReflessError
from refless.models.rnn_qe.names import RUNS
from refless.store.records import read_record


def opening_line(runs: Collection[str]) -> str:
    """What a run says before it trains RNN-QE: an entry of `RUNS` for each job."""
    jobs = [RUNS[name] for name in runs]
    networks, hours = sum(job.networks for job in jobs), sum(job.hours for job in jobs)
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
    rows, reasons = Counter(computed=0, shipped=0, absent=0), Counter[str]()
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
