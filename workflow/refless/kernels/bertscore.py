"""BERTScore: tokens matched greedily by the cosine of their contextual embeddings.

Stage: kernels. In: candidates x and training texts s; an encoder, which is a folder with
transformers' files. Out: k(x, s), F1; 1 for equal texts (but for rounding), mostly -1 to 1.

    P = mean over the tokens t of x of max over the tokens u of s of cos(t, u)
    R = mean over the tokens u of s of max over the tokens t of x of cos(t, u)
    F = 2 P R / (P + R),  rescaled: (F - b) / (1 - b)  with the encoder's baseline b

(Zhang, Kishore, Wu, Weinberger & Artzi 2020, without idf weights.) A pair is scored as the package
bert-score scores it alone: the mean leaves out the special tokens at the ends of a text, the
maximum does not; texts are stripped, and cut where the encoder cannot read on; F is 0 before
rescaling where a text has no token. Encoders of RoBERTa's kind read a blank before the first
word, as bert-score 0.3.13 asks for; transformers 5 ignores its wish without a word.

Values are numbers of single precision (before rescaling), computed by torch. Each text is encoded
once, with texts of the same length only, and matrices are never so small that the libraries
change their order of adding: on the CPUs tried, values of a pair were the same bits in any block.
"""

import csv
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from refless.compute.words import starts_of
from refless.errors import KernelError
from refless.kernels._blocks import Fill, Index, even_blocks
from refless.kernels.encoder import (
    ENCODERS,
    LEAST_ROWS,
    Encoder,
    alone,
    encoder_name,
    encoder_sum,
    find_encoder,
    libraries,
    load_encoder,
    run,
    tokenized,
)
from refless.store.files import file_sum

_WIDTH = 1024
"""Training texts in a block."""
_CANDIDATES_AT_ONCE = 8
"""Candidates that are compared with a block at a time."""
_LEAST_COLUMNS = 64
"""A product of matrices has so many columns at least, for the reason that `LEAST_ROWS` has."""


def index(
    name: str,
    training: Sequence[str],
    *,
    model: str | Path | None = None,
    layer: int | None = None,
    rescale: bool | None = None,
    baseline: str | Path | None = None,
) -> Index:
    """Make training texts ready; see `refless.kernels._blocks.Index`.

    Encoding uses as many threads as torch: all cores, or what ``OMP_NUM_THREADS`` says.

    model : folder of the encoder; without it, see `refless.kernels.encoder.find_encoder`
    layer, rescale, baseline : see `layer_and_offset`
    Raises KernelError: torch, the model, its layer or its baseline is not there.
    """
    chosen, offset = layer_and_offset(name, layer, rescale, baseline)
    encoder = load_encoder(find_encoder(name, model), chosen)
    return Index(len(training), partial(_blocks, training, encoder, offset))


def resources(
    name: str, *, model: str | Path | None = None, baseline: str | Path | None = None
) -> dict[str, str]:
    """Sums of the encoder's files, and of a baseline that is given as a file (those in ENCODERS
    belong to the code); errors as of `find_encoder`."""
    sums = {"encoder": encoder_sum(find_encoder(name, model))}
    if baseline is not None:
        sums["baseline"] = file_sum(Path(baseline).expanduser())
    return sums


def layer_and_offset(
    name: str,
    layer: int | None = None,
    rescale: bool | None = None,
    baseline: str | Path | None = None,
) -> tuple[int, float]:
    """The layer of the embeddings, and the baseline b (0: values are not rescaled). Neither torch
    nor the model is needed.

    layer : whose output the embeddings are, from 1 (0: before the first); without it the
        model's in ENCODERS
    rescale : by the baseline; without it, yes if ENCODERS or ``baseline`` gives one for the layer
    baseline : a file as bert-score has them: LAYER,P,R,F
    Raises KernelError: the options do not say enough, or the baseline has no such layer.
    """
    published = ENCODERS.get(encoder_name(name))
    if layer is None:
        if published is None:
            raise KernelError(
                f"of which layer of the model does {name} take the embeddings?",
                remedy="give layer=, from 1 to the number of the model's layers; the last is"
                " seldom the best (Zhang et al. 2020, appendix B)",
            )
        layer = published.layer
    if rescale is False:
        return layer, 0.0
    if baseline is not None:
        return layer, _baseline_of(Path(baseline).expanduser(), layer)
    if published and published.baseline is not None and layer == published.layer:
        return layer, published.baseline
    if rescale or (published and published.baseline is not None):
        raise KernelError(
            f"there is no baseline for {name}, layer {layer}",
            remedy="give baseline=, a file LAYER,P,R,F for this model (bert-score has some in"
            " rescale_baseline/en), or rescale=False",
        )
    return layer, 0.0


def _baseline_of(path: Path, layer: int) -> float:
    """Column F in the row of a layer."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = {int(row["LAYER"]): float(row["F"]) for row in csv.DictReader(file)}
        return rows[layer]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise KernelError(
            f"this is no baseline for layer {layer}: {error}",
            path=path,
            remedy="it has the columns LAYER,P,R,F, and a row for each layer",
        ) from error


def encode(texts: Sequence[str], encoder: Encoder) -> tuple[Any, np.ndarray, np.ndarray]:
    """Embeddings of the tokens of all texts.

    Returns vectors : tensor on the encoder's device, float32, shape (all tokens, width), of length
        1
    weights : float64, shape (all tokens,): the share of a token in the mean, 0 for special tokens
    starts : int64, shape (texts + 1,)

    A text without tokens gets one, of length 0 and weight 0, so that its F is 0.
    """
    torch, _ = libraries()
    special = {encoder.tokenizer.sep_token_id, encoder.tokenizer.cls_token_id}
    tokens = tokenized(texts, encoder, " " if encoder.opens_with_blank else "")
    counts = [
        np.array([token not in special for token in tokens.get(text, ())] or [False])
        for text in range(len(texts))
    ]
    starts = starts_of(map(len, counts), len(counts))
    shares = [count / max(count.sum(), 1) for count in counts]
    vectors = torch.zeros((int(starts[-1]), encoder.width), device=encoder.device)

    def keep(batch: list[int], states: Any) -> None:
        places = starts[batch][:, None] + np.arange(states.shape[1])
        states = states / states.norm(dim=-1, keepdim=True)
        vectors[torch.from_numpy(places).to(encoder.device)] = states

    run(tokens, encoder, keep)
    return vectors, np.concatenate([*shares, np.zeros(0)]), starts


def _blocks(
    training: Sequence[str], encoder: Encoder, offset: float, candidates: Sequence[str]
) -> Iterator[tuple[int, int, Fill]]:
    """Lay the tokens of training texts end to end."""
    torch, _ = libraries()
    number: dict[str, int] = {}
    numbers = [number.setdefault(text, len(number)) for text in (*candidates, *training)]
    x, s = np.split(np.array(numbers, np.int64), [len(candidates)])
    vectors, weights, starts = encode(list(number), encoder)
    threads = torch.get_num_threads()

    def tokens_of(texts: np.ndarray, least: int) -> tuple[Any, np.ndarray, np.ndarray]:
        """Vectors of the tokens of texts, the first one repeated to make ``least``; their weights,
        and where each text starts."""
        spans = [np.arange(starts[text], starts[text + 1]) for text in texts]
        places = np.concatenate(spans)
        padded = np.append(places, np.repeat(places[:1], max(0, least - len(places))))
        rows = vectors[torch.from_numpy(padded).to(encoder.device)]
        return rows, weights[places], starts_of(map(len, spans), len(spans))[:-1]

    def fill(
        columns: Any,
        s_weights: np.ndarray,
        s_starts: np.ndarray,
        first: int,
        last: int,
        out: np.ndarray,
    ) -> None:
        with alone(encoder.device, threads):
            for low in range(first, last, _CANDIDATES_AT_ONCE):
                some = x[low : min(low + _CANDIDATES_AT_ONCE, last)]
                rows, x_weights, x_starts = tokens_of(some, LEAST_ROWS)
                cosines = (rows @ columns).cpu().numpy()[: len(x_weights), : len(s_weights)]
                # The means are taken in double precision and F rounded to single, so that the
                # order in which a mean is added up does not show.
                best = np.maximum.reduceat(cosines, s_starts, axis=1) * x_weights[:, None]
                precision = np.add.reduceat(best, x_starts)
                best = np.maximum.reduceat(cosines, x_starts) * s_weights
                recall = np.add.reduceat(best, s_starts, axis=1)
                both = precision + recall
                both[both == 0] = np.inf
                values = (2 * precision * recall / both).astype(np.float32)
                out[low - first : low - first + len(some)] = values
        if offset:
            out -= offset
            out /= 1 - offset

    for start, stop in even_blocks(len(s), _WIDTH):
        rows, s_weights, s_starts = tokens_of(s[start:stop], _LEAST_COLUMNS)
        yield start, stop, partial(fill, rows.T.contiguous(), s_weights, s_starts)
