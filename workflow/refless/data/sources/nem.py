"""NEM: outputs of three generators for MRs of three data sets, rated by crowd workers.

Stage: ratings. A row of the file (Novikova et al. 2017) is an output with the medians of three or
more ratings on 1..6. The single ratings, ``emnlp_data_individual_hum_scores.csv`` in the same
repository, are not read.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from refless.data import mr
from refless.data.ratings import RatedTexts

DOMAINS = {"BAGEL": "bagel", "SFRES": "sfrest", "SFHOT": "sfhot"}
SYSTEMS = {"Dusek": "TGen", "LOLS": "LOLS", "WEN": "RNNLG"}
MEDIANS = ["informativeness", "naturalness", "quality"]


def load(path: str | Path, dataset: str) -> RatedTexts:
    """Read the rated outputs.

    Returns RatedTexts : ``context`` is the MR. Extra columns: ``domain``, those of `mr.keys`, the
        medians, and the file's own metrics, NaN where empty.
    """
    rows = pd.read_csv(path, dtype=str, na_filter=False)
    medians = rows[MEDIANS].astype(float).add_prefix("median_")
    metrics = rows.loc[:, "TER":"parser.sc.max"]
    metrics = metrics.apply(lambda cells: cells.str.strip().replace(["", "NA"], np.nan))
    texts = pd.DataFrame(
        {
            "id": [f"{dataset}:{number:04d}" for number in range(1, len(rows) + 1)],
            "context": rows["mr"],
            "text": rows["sys_ref"],
            "quality": (medians["median_quality"] - 1) / 5,
            "n_ratings": 3,  # or more: the file does not say
            "system": rows["system"].map(SYSTEMS),
            "domain": rows["dataset"].map(DOMAINS),
            **mr.keys(rows["mr"]),
            **medians,
            **metrics.astype(float),
        }
    )
    return RatedTexts(texts)
