"""NEM: outputs of three generators for MRs of three data sets, rated by crowd workers.

Stage: ratings. In: ``emnlp_data_medians.csv`` (Novikova et al. 2017), one row an output with the
medians of three or more ratings on 1..6. Out: a `RatedTexts` without individual ratings, because
the file has none.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

from refless.data.ratings import RatedTexts, text_table
from refless.data.sources import mr
from refless.data.sources._raw import each, known, table, words

DATASETS = {"BAGEL": "bagel", "SFRES": "sfrest", "SFHOT": "sfhot"}
SYSTEMS = {"Dusek": "TGen", "LOLS": "LOLS", "WEN": "RNNLG"}
MEDIANS = ("informativeness", "naturalness", "quality")
METRICS = ("TER", "parser.sc.max")
"""The first and the last of the file's own metrics."""
LOW, HIGH = 1, 6


def load(path: str | Path) -> RatedTexts:
    """Read the rated outputs.

    Returns
    -------
    RatedTexts : ``id`` is ``nem:<row>``, four digits, from 1; ``context`` is the MR as written;
        ``quality`` is (median - 1) / 5; ``ratings`` has no rows. Extra columns: ``dataset``
        (``bagel``, ``sfrest``, ``sfhot``), ``mr_key`` and ``mr_set`` (`mr.key_columns`), the
        medians, and the file's own metrics, NaN where empty.

    Raises
    ------
    FormatError : the file is not in this format.
    """
    wanted = ["dataset", "system", "mr", "sys_ref", *METRICS, *MEDIANS]
    rows = list(table(path, wanted))
    names = list(rows[0][1]) if rows else []
    metrics = names[names.index(METRICS[0]) : names.index(METRICS[1]) + 1] if rows else []
    number = count(1)

    def read(row: dict[str, str]) -> dict[str, Any]:
        medians = {f"median_{name}": _median(row[name]) for name in MEDIANS}
        return {
            "id": f"nem:{next(number):04d}",
            "context": row["mr"],
            "text": words(row["sys_ref"]),
            "quality": (medians["median_quality"] - LOW) / (HIGH - LOW),
            "n_ratings": 3,
            "system": SYSTEMS[known(row["system"], SYSTEMS)],
            "dataset": DATASETS[known(row["dataset"], DATASETS)],
            **mr.key_columns(row["mr"]),
            **medians,
            **{name: float(row[name].strip().replace("NA", "") or "nan") for name in metrics},
        }

    numeric = [*(f"median_{name}" for name in MEDIANS), *metrics]
    extra = ["dataset", "mr_key", "mr_set", *numeric]
    return RatedTexts(text_table(each(path, rows, read), extra, numeric))


def _median(text: str) -> float:
    if LOW <= (value := float(text)) <= HIGH and (2 * value).is_integer():
        return value
    raise ValueError(f"the median {text} is not 1, 1.5, ... 6")
