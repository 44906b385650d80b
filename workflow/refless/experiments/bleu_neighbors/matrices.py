"""Kernel matrices of a data set: all texts with all, in blocks of rows. Stage: kernel."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from refless.data.task import Task
from refless.errors import SettingError
from refless.kernels import kernel
from refless.store import sealed
from refless.store.records import Destination

Array = np.ndarray

MAX_TEXTS = 20_000
"""Texts of the largest data set that has matrices: 1.6 GB each."""


def write_kernel(
    path: Destination,
    dataset: Task,
    name: str,
    options: Mapping[str, Any],
    threads: int | None = None,
) -> None:
    """Compute and write a block of rows of the kernel of a data set's texts with themselves,
    float32 (rows, n).

    path : ``<block>of<blocks>.npy``; the first block has the number 1
    name, options : the kernel, and what it is called with besides
    Raises KernelError: as `kernel`. Raises SettingError: there are more than `MAX_TEXTS` texts.
    """
    texts = dataset.texts["text"].tolist()
    n = len(texts)
    if n > MAX_TEXTS:
        raise SettingError(
            f"{dataset.name} has {n:,} texts; matrices are kept of {MAX_TEXTS:,} at most",
            remedy="set `experiments: {bleu_neighbors: null}` there; `refless compare` takes any"
            " number",
        )
    block, blocks = map(int, Path(path).stem.split("of"))
    rows = texts[(block - 1) * n // blocks : block * n // blocks]
    matrix = kernel(name, rows, texts, threads=threads, dtype=np.float32, **options)
    sealed.write(path, matrix)


def read_kernel(paths: Iterable[str | Path], dataset: Task) -> Array:
    """Return the kernel of a data set's n rated texts with themselves, float32 (n, n), in the order
    of their file.

    paths : the blocks by `write_kernel`, in order
    Raises FormatError, StaleError: as `refless.store.sealed.read`.
    """
    blocks: list[Array] = [sealed.read(path).content for path in paths]
    matrix = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    rated = np.flatnonzero(dataset.texts["quality"].notna())
    return matrix if len(rated) == len(matrix) else matrix[np.ix_(rated, rated)]
