"""BERTScore: tokens matched greedily by the cosine of their contextual embeddings.

Stage: kernels. In: candidates x and training texts s; an encoder, which is a folder with
transformers' files. Out: k(x, s), F1; 1 for equal texts (but for rounding), mostly -1 to 1.

    P = mean over the tokens t of x of max over the tokens u of s of cos(t, u)
    R = mean over the tokens u of s of max over the tokens t of x of cos(t, u)
    F = 2 P R / (P + R),  rescaled: (F - b) / (1 - b)  with the encoder's baseline b

(Zhang, Kishore, Wu, Weinberger & Artzi 2020, without idf weights.) As in the package bert-score:
the mean leaves out the special tokens at the ends of a text, the maximum does not; texts are
stripped, and cut where the encoder cannot read on; F is 0 before rescaling where a text has no
token (empty, blanks). A pair is scored as bert-score scores it alone: in bert-score's batches,
padding puts a floor of 0 under the cosines. Where P and R have opposite signs, F has no bound
(the encoder in the wheel gives -7.4 for two headlines that have nothing in common).

===========================  ===================================================================
bertscore.roberta-large      layer 17, rescaled: what the paper used. Its tau of 0.10 means
                             something on this scale only
bertscore.<name in MODELS>   layer and baseline of bert-score's tables
bertscore.<any other>        needs ``layer=``; rescaled only with ``baseline=``
===========================  ===================================================================

bert-score 0.3.13 asks for a blank before the first word where the encoder is of RoBERTa's kind.
transformers 5 ignores it, without a word, so that bert-score then reads another first token than
it did for the paper. Here the blank is put there; ``prefix_space=False`` is bert-score's reading
under transformers 5.

Values are numbers of single precision (before rescaling), computed by torch. Each text is encoded
once, with texts of the same length only, and matrices are never so small that the libraries
change their order of adding: on the CPUs tried, values of a pair were the same bits in any block.
Other instruction sets moved values above 0.2 by up to 3e-7, and the few near P = -R by up to 0.005.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from refless.errors import KernelError
from refless.kernels._plan import Fill, Index, even_blocks
from refless.kernels._texts import starts_of
from refless.kernels.encoder import (
    LEAST_ROWS,
    MODELS,
    Encoder,
    alone,
    content_sum,
    device_of,
    download,
    file_sums,
    find,
    in_package,
    libraries,
    load,
    model_name,
    run,
    tokenized,
)

__all__ = ["MODELS", "download", "find", "in_package", "layer_and_offset", "model_name"]

WIDTH = 1024
"""Training texts in a block."""
AT_ONCE = 8
"""Candidates that are compared with a block at a time."""
LEAST_COLUMNS = 64
"""As `LEAST_ROWS`."""


def index(
    name: str,
    training: Sequence[str],
    *,
    model: str | Path | None = None,
    layer: int | None = None,
    rescale: bool | None = None,
    baseline: str | Path | None = None,
    prefix_space: bool = True,
    device: str | None = None,
) -> Index:
    """Make training texts ready; see ``refless.kernels._plan.Index``.

    Encoding uses as many threads as torch: all cores, or what ``OMP_NUM_THREADS`` says.

    Parameters
    ----------
    model : folder of the encoder; without it, see `refless.kernels.encoder.find`
    layer : whose output the embeddings are, from 1 (0: before the first); without it the
        model's in MODELS
    rescale : by the baseline; without it, yes if MODELS or ``baseline`` gives one for the layer
    baseline : a file as bert-score has them: LAYER,P,R,F
    prefix_space : whether encoders of RoBERTa's kind read a blank before the text
    device : of torch, e.g. ``cpu`` or ``cuda:1``; without it ``cuda`` if there is one

    Raises
    ------
    KernelError : torch, the model, its layer, its baseline or the device is not there; or the
        model is not the one that the kernel is named after.
    """
    layer, offset = layer_and_offset(name, layer, rescale, baseline)
    place = device_of(device)
    encoder = load(find(name, model), layer, str(place))
    return Index(len(training), partial(BertScorePlan, training, encoder, prefix_space, offset))


def resources(
    name: str,
    *,
    model: str | Path | None = None,
    baseline: str | Path | None = None,
    device: str | None = None,
) -> dict[str, str]:
    """SHA-256 of what decides the values besides code and texts: of the encoder's files, and of a
    baseline that is given as a file (those in MODELS belong to the code).

    Raises
    ------
    KernelError : a file is not there, or the encoder is not the one that the kernel names.
    """
    found = file_sums(name, model)
    if baseline is not None:
        found["baseline"] = content_sum([Path(baseline)])
    return found


def layer_and_offset(
    name: str,
    layer: int | None = None,
    rescale: bool | None = None,
    baseline: str | Path | None = None,
) -> tuple[int, float]:
    """The layer and the baseline b that options of `index` amount to (0: values are not rescaled);
    neither torch nor model is needed.

    Raises
    ------
    KernelError : the options contradict each other or are of the wrong type, or do not say enough.
    """
    known = MODELS.get(model_name(name))
    if layer is not None and (isinstance(layer, bool) or not isinstance(layer, int)):
        raise KernelError(f"layer is {layer!r}; it must be a whole number")
    if not (rescale is None or isinstance(rescale, bool)):
        raise KernelError(f"rescale is {rescale!r}; it must be true or false")
    if layer is None and known is None:
        raise KernelError(
            f"of which layer of the model does {name} take the embeddings?",
            remedy="give layer=, from 1 to the number of the model's layers; the last is"
            " seldom the best (Zhang et al. 2020, appendix B)",
        )
    chosen = known.layer if layer is None and known else int(layer or 0)
    published = known.baseline if known else None
    if rescale is False:
        if baseline is not None:
            raise KernelError(
                "a baseline is given, but rescale is off", remedy="leave out one of them"
            )
        return chosen, 0.0
    if baseline is not None:
        return chosen, _baseline_of(Path(baseline), chosen)
    if known and published is not None and chosen == known.layer:
        return chosen, published
    if rescale or published is not None:
        raise KernelError(
            f"there is no baseline for {name}, layer {chosen}",
            remedy="give baseline=, a file LAYER,P,R,F for this model (bert-score has some in"
            " rescale_baseline/en), or rescale=False",
        )
    return chosen, 0.0


def _baseline_of(path: Path, layer: int) -> float:
    """Column F in the row of a layer."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = {int(row["LAYER"]): float(row["F"]) for row in csv.DictReader(file)}
        if rows[layer] < 1:
            return rows[layer]
        raise ValueError("F must be below 1")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise KernelError(
            f"this is no baseline for layer {layer}: {error}",
            path=path,
            remedy="it has the columns LAYER,P,R,F, and a row for each layer",
        ) from error


def encode(
    texts: Sequence[str], encoder: Encoder, prefix_space: bool
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Embeddings of the tokens of all texts.

    Returns
    -------
    vectors : tensor on the encoder's device, float32, shape (all tokens, width), of length 1
    weights : float64, shape (all tokens,): the share of a token in the mean, 0 for special tokens
    starts : int64, shape (texts + 1,)

    A text without tokens gets one, of length 0 and weight 0, so that its F is 0.
    """
    torch, _ = libraries()
    blank = " " if encoder.opens_with_blank and prefix_space else ""
    stripped = {k: blank + own for k, text in enumerate(texts) if (own := text.strip())}
    special = {encoder.tokenizer.sep_token_id, encoder.tokenizer.cls_token_id}
    tokens = {
        text: row
        for text, row in tokenized(stripped, encoder).items()
        if not special.issuperset(row)
    }
    counts = [
        np.array([token not in special for token in tokens.get(text, ())] or [False])
        for text in range(len(texts))
    ]
    starts = starts_of(map(len, counts), len(counts))
    shares = [own / max(own.sum(), 1) for own in counts]
    weights = np.concatenate([*shares, np.zeros(0)])
    vectors = torch.zeros((int(starts[-1]), encoder.width), device=encoder.device)

    def keep(batch: list[int], states: Any) -> None:
        places = starts[batch][:, None] + np.arange(states.shape[1])
        states = states / states.norm(dim=-1, keepdim=True)
        vectors[torch.from_numpy(places).to(encoder.device)] = states

    run(tokens, encoder, keep)
    return vectors, weights, starts


class BertScorePlan:
    """Candidates and training texts as embeddings of their tokens."""

    def __init__(
        self,
        training: Sequence[str],
        encoder: Encoder,
        prefix_space: bool,
        offset: float,
        candidates: Sequence[str],
    ) -> None:
        self.shape = len(candidates), len(training)
        number: dict[str, int] = {}
        self._x = np.array([number.setdefault(t, len(number)) for t in candidates], np.int64)
        self._s = np.array([number.setdefault(t, len(number)) for t in training], np.int64)
        self._vectors, self._weights, self._starts = encode(list(number), encoder, prefix_space)
        self._offset, self._device = offset, encoder.device
        self._threads = libraries()[0].get_num_threads()

    def blocks(self) -> Iterator[tuple[int, int]]:
        return even_blocks(self.shape[1], WIDTH)

    def block(self, start: int, stop: int) -> Fill:
        """Lay the tokens of training texts end to end."""
        vectors, weights, starts = self._tokens(self._s[start:stop], LEAST_COLUMNS)
        vectors = vectors.T.contiguous()

        def fill(first: int, last: int, out: np.ndarray) -> None:
            with alone(self._device, self._threads):
                for low in range(first, last, AT_ONCE):
                    some = self._x[low : min(low + AT_ONCE, last)]
                    x, x_weights, x_starts = self._tokens(some, LEAST_ROWS)
                    cosines = (x @ vectors).cpu().numpy()[: len(x_weights), : len(weights)]
                    # The means are taken in double precision and F rounded to single, so that the
                    # order in which a mean is added up does not show.
                    best = np.maximum.reduceat(cosines, starts, axis=1) * x_weights[:, None]
                    precision = np.add.reduceat(best, x_starts)
                    best = np.maximum.reduceat(cosines, x_starts) * weights
                    recall = np.add.reduceat(best, starts, axis=1)
                    both = precision + recall
                    both[both == 0] = np.inf
                    values = (2 * precision * recall / both).astype(np.float32)
                    out[low - first : low - first + len(some)] = values
            if self._offset:
                out -= self._offset
                out /= 1 - self._offset

        return fill

    def _tokens(self, texts: np.ndarray, least: int) -> tuple[Any, np.ndarray, np.ndarray]:
        """Vectors of the tokens of texts, on the device, the first one repeated to make ``least``;
        their weights, and where each text starts."""
        spans = [np.arange(self._starts[text], self._starts[text + 1]) for text in texts]
        places = np.concatenate(spans)
        starts = starts_of(map(len, spans), len(spans))[:-1]
        padded = np.append(places, np.repeat(places[:1], max(0, least - len(places))))
        rows = libraries()[0].from_numpy(padded).to(self._device)
        return self._vectors[rows], self._weights[places], starts
