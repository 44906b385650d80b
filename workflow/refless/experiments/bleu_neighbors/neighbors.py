"""The neighbors of each text of a data set, and the predictions from them.

Stage: prediction. In: texts, and the kernel of all with all. Out: of each rated text the mean
quality of its neighbors, leave-one-out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless.data.task import Task, read_task
from refless.errors import StaleError
from refless.experiments.bleu_neighbors.matrices import read_kernel
from refless.models.neighbor_means import apply_thresholds, neighbor_means
from refless.statistics import contexts_if_enough, human_rows
from refless.statistics.humans import AnnotatorScores
from refless.store import sealed
from refless.store.records import Destination

Array = np.ndarray

NEIGHBOR_COLUMNS = ["id", "quality", "mean", "neighbors"]
LARGE_DATASET = 1000
"""Texts beyond which ratings are added ``in_order``, see `neighbor_means`; the paper's data sets,
where ranks of ties hang on `numpy.mean`, have fewer."""


def with_quality(dataset: Task) -> pd.DataFrame:
    """Texts with a quality, in the order of their file."""
    return dataset.texts[dataset.texts["quality"].notna()]


def write_neighbors(
    path: Destination,
    dataset: Task,
    name: str,
    paths: Sequence[str | Path],
    tau: float,
    options: Mapping[str, Any],
) -> None:
    """Write mean and number of the neighbors of every rated text of a data set, `NEIGHBOR_COLUMNS`;
    ``paths`` are those of the kernel, see `read_kernel`."""
    rated, matrix = with_quality(dataset), read_kernel(paths, dataset)
    quality, in_order = rated["quality"].to_numpy(np.float64), len(rated) > LARGE_DATASET
    means, counts = neighbor_means(matrix, quality, tau, leave_one_out=True, in_order=in_order)
    table = rated.assign(mean=means, neighbors=counts)[NEIGHBOR_COLUMNS]
    # BERTScore in another form than the paper's
    substitute = name.startswith("bertscore.") and (name != "bertscore.roberta-large" or options)
    sealed.write(path, table, {"substitute_encoder": bool(substitute)})


_nothing = partial(np.zeros, 0)


@dataclass(frozen=True)
class Predicted:
    """A data set with its single ratings and its predictions; of one that is not there, nothing.

    id, quality : of the rated texts, shape (n,)
    text, rater, rating : of each single rating the number of its text (0 to n - 1), the annotator,
        and the rating from 0 to 1, shape (ratings,) each
    units : what a bootstrap resamples whole, see `contexts_if_enough`
    provenance : of the ratings, ``computed`` or ``shipped``
    files : by kernel, `NEIGHBOR_COLUMNS` of each rated text
    estimates : by kernel, the predictions under the thresholds, NaN where undefined
    """

    id: Sequence[str] = ()
    quality: Array = field(default_factory=_nothing)
    text: Array = field(default_factory=_nothing)
    rater: Array = field(default_factory=_nothing)
    rating: Array = field(default_factory=_nothing)
    units: Array | None = None
    provenance: str = ""
    files: Mapping[str, sealed.Sealed] = field(default_factory=dict)
    estimates: Mapping[str, Array] = field(default_factory=dict)

    @property
    def annotated(self) -> bool:
        """Whether there are single ratings."""
        return len(self.text) > 0

    @property
    def rated_by_several(self) -> Array:
        """Whether a text has two annotators or more, bool (n,)."""
        pairs = np.unique(np.array([self.text, pd.factorize(self.rater)[0]]), axis=1)
        return np.bincount(pairs[0], minlength=len(self.quality)) > 1

    def human_rows(self, **options: Any) -> AnnotatorScores:
        """See `refless.statistics.human_rows`."""
        return human_rows(
            self.text, self.rater, self.rating, self.quality, units=self.units, **options
        )

    def kernel_cells(self, kernel: str) -> dict[str, Any]:
        """A kernel's columns ``provenance`` and ``substitute_encoder`` in tables."""
        metadata = self.files[kernel].metadata
        return {
            "provenance": metadata["provenance"],
            "substitute_encoder": int(metadata["substitute_encoder"]),
        }


def predictions(table: pd.DataFrame, n_training: int, a: int, b: float) -> Array:
    """The predictions from ``mean`` and ``neighbors`` under a and b, see `apply_thresholds`."""
    means, counts = table["mean"].to_numpy(np.float64), table["neighbors"].to_numpy(np.int64)
    return apply_thresholds(means, counts, n_training, a, b)


def read_neighbors(path: Path, id: Sequence[str], quality: Array) -> sealed.Sealed:
    """Neighbors of texts with this quality, as written. Raises as `refless.store.sealed.read`, and
    StaleError: they are of other texts, or of other ratings."""
    file = sealed.read(path)
    rows = file.content.drop_duplicates("id")  # files of table 2 have them once a kernel
    same = list(rows["id"]) == list(id)
    if not (same and np.allclose(rows["quality"], quality, rtol=0, atol=1e-9)):
        raise StaleError(
            "came with refless, and is of other texts or ratings than those in results/ratings",
            path=path,
            remedy="install what its kernel needs, so that it is computed here: `make torch` for"
            " BERTScore, WordNet for METEOR, all raw files for others",
        )
    return file


def read_predicted(
    ratings: Iterable[str | Path], paths: Iterable[str | Path], a: int, b: float
) -> dict[str, Predicted]:
    """Data set -> its predictions under the thresholds a and b; ``ratings`` are the files of rated
    texts that there are, ``paths`` ``<dataset>/<kernel>.csv`` by `write_neighbors`. Raises as
    `read_neighbors`."""
    folders = dict.fromkeys(Path(path).parent for path in ratings)
    predicted = {}
    files = [Path(path) for path in paths]
    for dataset in map(read_task, folders):
        rated, single = with_quality(dataset), dataset.ratings
        id, quality = rated["id"].tolist(), rated["quality"].to_numpy(np.float64)
        neighbors = {
            path.stem: read_neighbors(path, id, quality)
            for path in files
            if path.parent.name == dataset.name
        }
        predicted[dataset.name] = Predicted(
            id=id,
            quality=quality,
            text=pd.Index(id).get_indexer(single["id"]),
            rater=single["rater"].to_numpy(),
            rating=single["rating"].to_numpy(float),
            units=contexts_if_enough(dataset.contexts),
            provenance=dataset.metadata["provenance"],
            files=neighbors,
            estimates={
                kernel: predictions(file.content, len(id) - 1, a, b)
                for kernel, file in neighbors.items()
            },
        )
    return predicted
