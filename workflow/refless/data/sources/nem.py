"""NEM: outputs of three generators for MRs of three data sets, rated by crowd workers.

Stage: ratings. In: ``emnlp_data_medians.csv`` (Novikova et al. 2017), one row an output with the
medians of three or more ratings on 1..6. Out: a `RatedTexts` without individual ratings, because
the file has none.
"""

from __future__ import annotations

import math
from pathlib import Path

from refless.data.ratings import RatedTexts, text_table
from refless.data.sources import mr
from refless.data.sources._reading import (
    broken,
    named_records,
    read_text,
    shorten,
    text_fault,
)
from refless.errors import FormatError, Problem

DATASETS = {"BAGEL": "bagel", "SFRES": "sfrest", "SFHOT": "sfhot"}
SYSTEMS = {"Dusek": "TGen", "LOLS": "LOLS", "WEN": "RNNLG"}
MEDIANS = ("informativeness", "naturalness", "quality")
METRICS = (
    *("TER", "Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "NIST", "LEPOR", "CIDEr", "METEOR"),
    *("sim.mr.sys", "lev.dist", "sys.read.flesch", "sys.cpw", "sys.ref.len", "sys.wps", "sys.sps"),
    *("sys.spw", "sys.n.poly", "sys.pspw", "n.misspel", "parser.sc.mean", "parser.sc.max"),
)
LOW, HIGH = 1, 6

_WANTED = ("dataset", "system", "mr", "sys_ref", *METRICS, *MEDIANS)


def load(path: str | Path) -> RatedTexts:
    """Read the rated outputs.

    Returns
    -------
    RatedTexts : ``id`` is ``nem:<row>``, four digits, from 1; ``context`` is the MR as written;
        ``system`` is ``LOLS``, ``RNNLG`` (in the file WEN) or ``TGen`` (Dusek); ``quality`` is
        (median - 1) / 5 and ``n_ratings`` 3; ``ratings`` has no rows. Extra columns: ``dataset``
        (``bagel``, ``sfrest``, ``sfhot``); ``mr_key`` and ``mr_set`` (`refless.data.sources.mr.key`
        with and without the order of slots; the same in `bagel` and `rnnlg`);
        ``median_informativeness``, ``median_naturalness``, ``median_quality`` (1..6); and the
        file's own metrics (`METRICS`), NaN where empty.

        Problems (such a row is not used): too few or too many fields; an unknown data set or
        system; an MR that cannot be read; an empty text or one with a NUL; a median that is not
        1, 1.5, ... 6; a metric that is no number.

    Raises
    ------
    FormatError : not this file.
    """
    what = "NEM's file of medians"
    _, rows, problems = named_records(read_text(path), path, _WANTED, what)
    # Rows keep the number that they have in the file, whatever happens to the rows before them.
    lines = sorted([line for line, _ in rows] + [problem.line for problem in problems])
    numbers = {line: number for number, line in enumerate(lines, start=1)}
    texts: list[dict[str, object]] = []
    for line, value in rows:
        try:
            texts.append(_row(value, f"nem:{numbers[line]:04d}"))
        except FormatError as error:
            problems.append(Problem(str(path), line, error.message))
    if not texts and not problems:
        raise broken("the file has a header and no rows", path)
    problems.sort(key=lambda problem: problem.line)
    numeric = [*(f"median_{name}" for name in MEDIANS), *METRICS]
    table = text_table(texts, ["dataset", "mr_key", "mr_set", *numeric], numeric)
    return RatedTexts(table, problems=problems)


def _row(value: dict[str, str], name: str) -> dict[str, object]:
    if value["dataset"] not in DATASETS:
        raise FormatError(f"unknown data set {shorten(value['dataset'])}")
    if value["system"] not in SYSTEMS:
        raise FormatError(f"unknown system {shorten(value['system'])}")
    fault = text_fault(value["sys_ref"])
    if fault:
        raise FormatError(fault)
    medians = {f"median_{column}": _median(value[column], column) for column in MEDIANS}
    return {
        "id": name,
        "task": "nem",
        "context": value["mr"],
        "text": value["sys_ref"],
        "quality": (medians["median_quality"] - LOW) / (HIGH - LOW),
        "n_ratings": 3,
        "system": SYSTEMS[value["system"]],
        "dataset": DATASETS[value["dataset"]],
        **mr.key_columns(value["mr"]),
        **medians,
        **{column: _metric(value[column], column) for column in METRICS},
    }


def _median(text: str, column: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (LOW <= value <= HIGH and (2 * value).is_integer()):
        raise FormatError(f"{column} {shorten(text)} is not 1, 1.5, ... 6")
    return value


def _metric(text: str, column: str) -> float:
    if text.strip() in {"", "NA"}:
        return math.nan
    try:
        return float(text)
    except ValueError as error:
        raise FormatError(f"{column} {shorten(text)} is no number") from error
