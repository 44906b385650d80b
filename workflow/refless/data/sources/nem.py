"""NEM: outputs of three generators for MRs of three data sets, rated by crowd workers.

Stage: ratings. A row of the file (Novikova et al. 2017) is an output with the medians of three or
more ratings on 1..6; single ratings were not published.
"""

from __future__ import annotations

from pathlib import Path

from refless.data.ratings import RatedTexts, text_table
from refless.data.sources import mr
from refless.data.sources._raw import reading, table

DATASETS = {"BAGEL": "bagel", "SFRES": "sfrest", "SFHOT": "sfhot"}
SYSTEMS = {"Dusek": "TGen", "LOLS": "LOLS", "WEN": "RNNLG"}
MEDIANS = ("informativeness", "naturalness", "quality")
METRICS = ("TER", "parser.sc.max")
"""The first and the last of the file's own metrics."""


def load(path: str | Path) -> RatedTexts:
    """Read the rated outputs.

    Returns
    -------
    RatedTexts : ``context`` is the MR as written; ``quality`` is (median - 1) / 5. Extra columns:
        ``dataset`` (`DATASETS`), those of `mr.keys`, the medians, and the file's own metrics, NaN
        where empty.
    """
    texts, metrics = [], []
    with reading(path, table(path)) as rows:
        for number, row in enumerate(rows, start=1):
            names = list(row)
            metrics = names[names.index(METRICS[0]) : names.index(METRICS[1]) + 1]
            medians = {f"median_{name}": float(row[name]) for name in MEDIANS}
            if not all(1 <= median <= 6 for median in medians.values()):
                raise ValueError("a median is not 1 to 6")
            about = {
                "id": f"nem:{number:04d}",
                "context": row["mr"],
                "text": row["sys_ref"],
                "quality": (medians["median_quality"] - 1) / 5,
                "n_ratings": 3,
                "system": SYSTEMS[row["system"]],
                "dataset": DATASETS[row["dataset"]],
            }
            own = {name: float(row[name].strip().replace("NA", "") or "nan") for name in metrics}
            texts.append({**about, **mr.keys(row["mr"]), **medians, **own})
    numbers = [*(f"median_{name}" for name in MEDIANS), *metrics]
    return RatedTexts(text_table(texts, ["dataset", "mr_key", "mr_set", *numbers], numbers))
