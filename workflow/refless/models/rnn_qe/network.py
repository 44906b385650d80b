"""The network of RNN-QE, on torch's own layers.

Stage: prediction (RNN-QE). In: token numbers of MRs and texts. Out: ratings, not rounded.
Source: Dušek, Novikova & Rieser (2017), section 2.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from refless.errors import SettingError

try:
    import torch
    from torch import Tensor, nn
except ModuleNotFoundError as error:
    raise SettingError(
        "RNN quality estimation needs torch, which is not installed",
        remedy="make torch, in a clone of refless; elsewhere: pip install torch",
    ) from error

Array = np.ndarray

PAPER_WIDTH = 300
"""The width of embeddings and states in the paper."""
DROPOUT = 0.5
ROWS_AT_ONCE = 256
"""Sequences that are encoded at a time where nothing is learned."""


class Network(nn.Module):
    """A GRU for the MR and one for the text, each with embeddings of its own; their last states,
    joined; two tanh layers of that width; a linear unit. Dropout on the encoders' inputs.
    Vocabularies are of so many words, without the row of unknown tokens."""

    def __init__(self, mr_words: int, text_words: int, width: int) -> None:
        super().__init__()
        self.width = width
        sizes, both = {"mr": mr_words + 1, "text": text_words + 1}, 2 * width
        self.embeddings = nn.ModuleDict(
            {side: nn.Embedding(size, width, padding_idx=0) for side, size in sizes.items()}
        )
        self.encoders = nn.ModuleDict({side: nn.GRU(width, width) for side in sizes})
        self.dropout = nn.Dropout(DROPOUT)
        layers = nn.Linear(both, both), nn.Tanh(), nn.Linear(both, both), nn.Tanh()
        self.head = nn.Sequential(*layers, nn.Linear(both, 1))

    def forward(self, mrs: Sequence[Array], texts: Sequence[Array]) -> Tensor:
        """Ratings, shape (rows,), from token numbers, int64 (tokens,) each."""
        states = torch.cat([self._encode("mr", mrs), self._encode("text", texts)], 1)
        ratings: Tensor = self.head(states).squeeze(1)
        return ratings

    def _encode(self, side: str, sequences: Sequence[Array]) -> Tensor:
        """Last states, (rows, width); of an empty sequence zeros."""
        states = next(self.parameters()).new_zeros(len(sequences), self.width)
        filled = [row for row, sequence in enumerate(sequences) if len(sequence)]
        if filled:
            tokens = [torch.from_numpy(sequences[row]) for row in filled]
            packed: Any = nn.utils.rnn.pack_sequence(tokens, enforce_sorted=False)
            packed = packed.to(states.device)
            inputs = self.dropout(self.embeddings[side](packed.data))
            states[filled] = self.encoders[side](packed._replace(data=inputs))[1][0]
        return states


@contextmanager
def one_core() -> Iterator[None]:
    """torch on one core for the while: more do not help networks of this size, and sums differ."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def predict(network: Network, mrs: Sequence[Array], texts: Sequence[Array]) -> Array:
    """Ratings, not rounded, float64 (rows,), without dropout.

    >>> network = Network(mr_words=5, text_words=9, width=4)
    >>> predict(network, [np.array([1])], [np.array([2, 9])]).shape
    (1,)
    """
    network.eval()
    starts = range(0, len(texts), ROWS_AT_ONCE)
    parts = [slice(start, start + ROWS_AT_ONCE) for start in starts]
    with torch.no_grad(), one_core():
        ratings = [network(mrs[part], texts[part]).double().cpu().numpy() for part in parts]
    return np.concatenate([np.empty(0), *ratings])
