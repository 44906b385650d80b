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
from refless.statistics.humans import Annotations, AnnotatorScores
from refless.store import sealed
from refless.store.records import Destination

Array = np.ndarray

NEIGHBOR_COLUMNS = ["id", "quality", "mean", "neighbors"]
LARGE_DATASET = 1000
"""Texts beyond which ratings are added ``in_order``, see `neighbor_means`; the paper's data sets,
where ranks of ties hang on `numpy.mean`, have fewer."""


def with_quality(dataset: Task) -> pd.DataFrame:
    """Return the rows of those texts of a data set that have a quality, in the order of their
    file."""
    return dataset.texts[dataset.texts["quality"].notna()]


def write_neighbors(
    path: Destination,
    dataset: Task,
    name: str,
    paths: Sequence[str | Path],
    tau: float,
    options: Mapping[str, Any],
) -> None:
    """Write mean and number of the neighbors of every rated text of a data set, leave-one-out, as
    `NEIGHBOR_COLUMNS`.

    name, options : the kernel, and what it was called with besides
    paths : the kernel's blocks, see `read_kernel`
    tau : the least similarity of a neighbor
    Raises FormatError, StaleError: as `refless.store.sealed.read`.
    """
    rated = with_quality(dataset)
    matrix = read_kernel(paths, dataset)
    quality = rated["quality"].to_numpy(np.float64)
    in_order = len(rated) > LARGE_DATASET
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
        """Whether the data set has single ratings, with the annotator of each."""
        return len(self.text) > 0

    @property
    def rated_by_several(self) -> Array:
        """Whether each text has two annotators or more, bool (n,)."""
        annotator, _ = pd.factorize(self.rater)
        # a text that an annotator rated twice makes one pair
        pairs = np.unique(np.array([self.text, annotator]), axis=1)
        return np.bincount(pairs[0], minlength=len(self.quality)) > 1

    @property
    def annotations(self) -> Annotations:
        """The individual ratings."""
        return Annotations(candidate=self.text, rater=self.rater, rating=self.rating)

    def human_rows(self, **options: Any) -> AnnotatorScores:
        """Return the scores of the data set's annotators, with the ``options`` of
        `refless.statistics.human_rows`."""
        return human_rows(self.annotations, self.quality, units=self.units, **options)

    def kernel_cells(self, kernel: str) -> dict[str, Any]:
        """Return what tables show of a kernel's file: ``provenance``, and whether another encoder
        stands in for the paper's, 0 or 1."""
        metadata = self.files[kernel].metadata
        return {
            "provenance": metadata["provenance"],
            "substitute_encoder": int(metadata["substitute_encoder"]),
        }


def predictions(table: pd.DataFrame, n_training: int, a: int, b: float) -> Array:
    """Return the predictions of a table's texts, float64 (n,), NaN where undefined.

    table : ``mean`` and ``neighbors`` of each text, as in `NEIGHBOR_COLUMNS`
    n_training : the number of texts among which neighbors were looked for
    a, b : the fewest neighbors, and their largest share of ``n_training``, see `apply_thresholds`
    """
    means = table["mean"].to_numpy(np.float64)
    counts = table["neighbors"].to_numpy(np.int64)
    return apply_thresholds(means, counts, n_training, a, b)


def read_neighbors(path: Path, id: Sequence[str], quality: Array) -> sealed.Sealed:
    """Read a file by `write_neighbors` or by
    `refless.experiments.bleu_neighbors.table2.write_cross_estimates`.

    id, quality : of the texts that it should be of, (n,) each
    Raises FormatError, StaleError: as `refless.store.sealed.read`. Raises StaleError: it is of
        other texts, or of other ratings.
    """
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
    """Return the data sets that are there by name, each with its predictions.

    ratings : files of rated texts, each in the folder of its data set
    paths : ``<dataset>/<kernel>.csv`` by `write_neighbors`
    a, b : thresholds, see `predictions`
    Raises FormatError, StaleError: as `read_neighbors`.
    """
    folders = dict.fromkeys(Path(path).parent for path in ratings)
    files = [Path(path) for path in paths]
    predicted = {}
    for dataset in map(read_task, folders):
        of_dataset = [path for path in files if path.parent.name == dataset.name]
        predicted[dataset.name] = _predicted(dataset, of_dataset, a, b)
    return predicted


def _predicted(dataset: Task, paths: Iterable[Path], a: int, b: float) -> Predicted:
    """Return one data set with its single ratings and the predictions of each of its files of
    neighbors; see `read_predicted`."""
    rated = with_quality(dataset)
    single = dataset.ratings
    id = rated["id"].tolist()
    quality = rated["quality"].to_numpy(np.float64)
    files = {}
    estimates = {}
    for path in paths:
        file = read_neighbors(path, id, quality)
        files[path.stem] = file
        estimates[path.stem] = predictions(file.content, len(id) - 1, a, b)
    return Predicted(
        id=id,
        quality=quality,
        text=pd.Index(id).get_indexer(single["id"]),
        rater=single["rater"].to_numpy(),
        rating=single["rating"].to_numpy(float),
        units=contexts_if_enough(dataset.contexts),
        provenance=dataset.metadata["provenance"],
        files=files,
        estimates=estimates,
    )
