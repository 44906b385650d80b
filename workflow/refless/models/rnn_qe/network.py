"""The network of RNN-QE for many models at once: parameters stacked on a leading axis.

Stage: prediction (RNN-QE). In: packed token numbers of each model (`batches`). Out: for each model
and row a predicted rating, and gradients of the loss.

Per model, as in Dušek et al. (2017), section 2: a recurrent encoder of the MR and one of the text,
each with embeddings of its own; their last states, joined; fully connected tanh layers of that
width; a linear unit. Loss: squared error, mean over the batch. Dropout on the encoders' inputs.
The GRU is Cho et al.'s (2014) as cuDNN and ``torch.nn.GRU`` have it:

    z, r = sigmoid(W x + U h + b),  n = tanh(W_n x + b_n + r (U_n h + c_n)),  h' = n + z (h - n)

The paper's variants (LSTM, both reading directions, classifiers of each level), which it found no
better, are left out.

Not said in the paper, and chosen here: states are as wide as embeddings; embeddings start as
N(0, 1), other weights as U(-s, s) with s = 1/sqrt(width of the input), as torch's layers; the
linear unit's bias starts at the mean rating of the training part; a token that training never saw
is a vector of zeros.

The backward pass of the GRU is written out: gradients of weights then take one product over all
steps instead of one a step, and what a step must do is left with one product and seven additions.
"""

from __future__ import annotations

import math
import pickle
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refless.errors import SettingError
from refless.models.rnn_qe.batches import Packed, Sequences, distinct, pack

try:
    import torch
    from torch import Tensor
except ModuleNotFoundError as error:
    raise SettingError(
        "RNN quality estimation needs torch, which is not installed", remedy="make torch"
    ) from error

ENCODERS = ("mr", "text")
PRECISIONS = ("float32", "bfloat16", "float64")
ROWS_AT_ONCE = 256
"""Sequences that are encoded at a time where nothing is learned."""
UNREADABLE = (
    *(OSError, RuntimeError, KeyError, TypeError, ValueError, EOFError, pickle.UnpicklingError),
    *(NotImplementedError, zipfile.BadZipFile, zlib.error),
)
"""What `load` raises on a file that it cannot read."""
SHUT = 1e4
"""Added to the update gate of a row that has not begun: its sigmoid is 1 and the state stays."""


def load(path: str | Path, device: str = "cpu") -> Any:
    """What torch saved, if each byte is as it was written; nothing in the file is executed.

    Raises
    ------
    UNREADABLE : it cannot be read, or is damaged: torch itself compares no sums.
    """
    with zipfile.ZipFile(path) as archive:
        if damaged := archive.testzip():
            raise zipfile.BadZipFile(f"{damaged} is damaged")
    return torch.load(path, map_location=device, weights_only=True)


@dataclass(frozen=True)
class Architecture:
    """What the network is made of; the defaults are the paper's, where it says.

    embedding, hidden : width of the embeddings and of each encoder's state
    layers : fully connected ones
    dropout : share of the encoders' inputs that is dropped, in steps of 1/256
    precision : of the GRU's matrix products in training: ``float32``, or ``bfloat16`` (operands
        rounded to 8 bits of mantissa, sums in single precision). All else is in single precision,
        or in double with ``float64``.

    Raises
    ------
    SettingError : a value that makes no sense.
    """

    embedding: int = 300
    hidden: int = 300
    layers: int = 2
    dropout: float = 0.5
    precision: str = "float32"

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise SettingError(f"precision is {self.precision!r}, not one of {list(PRECISIONS)}")
        if not 0 <= self.dropout < 1 or min(self.embedding, self.hidden, self.layers) < 1:
            raise SettingError(
                "dropout must be in [0, 1), and widths and the number of layers at least 1"
            )

    @property
    def dtype(self) -> torch.dtype:
        return torch.float64 if self.precision == "float64" else torch.float32

    @property
    def width(self) -> int:
        """Of what goes into the fully connected layers."""
        return self.hidden * len(ENCODERS)

    def shapes(self, mr_words: int, text_words: int) -> dict[str, tuple[int, ...]]:
        """Names and shapes of one model's parameters, vocabularies with the unknown token."""
        gates = 3 * self.hidden
        shapes: dict[str, tuple[int, ...]] = {
            "mr.embedding": (mr_words, self.embedding),
            "text.embedding": (text_words, self.embedding),
        }
        for name in ENCODERS:
            shapes |= {
                f"{name}.input": (self.embedding, gates),
                f"{name}.state": (self.hidden, gates),
                f"{name}.input_bias": (gates,),
                f"{name}.state_bias": (gates,),
            }
        width = self.width
        for layer in range(self.layers):
            shapes |= {f"layer{layer}.weight": (width, width), f"layer{layer}.bias": (width,)}
        return shapes | {"output.weight": (width, 1), "output.bias": (1,)}


def initial(
    architecture: Architecture,
    mr_words: int,
    text_words: int,
    mean: float,
    generator: np.random.Generator,
) -> dict[str, np.ndarray]:
    """One model's parameters before training, float32; ``mean`` is that of the ratings."""
    values = {}
    for name, shape in architecture.shapes(mr_words, text_words).items():
        recurrent = name.split(".")[0] in ENCODERS
        if name.endswith("embedding"):
            value = generator.standard_normal(shape, np.float32)
        else:
            fan = architecture.hidden if recurrent else architecture.width
            value = (2 * generator.random(shape, np.float32) - 1) / np.float32(math.sqrt(fan))
        if name.endswith("embedding"):
            value[0] = 0
        values[name] = value
    values["output.bias"][:] = mean
    return values


# ---- recurrent encoders --------------------------------------------------------------------------


def _tanh(x: Tensor) -> Tensor:
    """tanh in place. On a CPU, torch's own takes over ten times as long as its sigmoid."""
    return x.mul_(2).sigmoid_().mul_(2).sub_(1)


def _spans(counts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(rows, where they start) of each step."""
    start = 0
    for count in counts:
        yield count, start
        start += count


class _Products:
    """Batched matrix products with operands of the precision asked for."""

    def __init__(self, precision: str) -> None:
        self.low = precision == "bfloat16"

    def operand(self, x: Tensor) -> Tensor:
        return x.bfloat16() if self.low else x

    def __call__(self, a: Tensor, b: Tensor) -> Tensor:
        """``a @ b`` for each model; ``b`` has gone through `operand`."""
        return torch.bmm(self.operand(a), b).float() if self.low else torch.bmm(a, b)


def _run_gru(
    gates: Tensor, unreal: Tensor, counts: Sequence[int], size: int, state: Tensor, bias: Tensor,
    products: _Products, keep: bool,
) -> tuple[Tensor, Tensor | None, Tensor | None]:  # fmt: skip
    """Last states (models, size, hidden); with ``keep``, also U_n h + c_n and h before each step.

    ``gates`` holds W x and all biases but c_n, in the order r, z, n, shape (models, rows over all
    steps, 3 hidden); it is overwritten with the values of r, z and n. ``bias`` is c_n.
    """
    models, rows, width = gates.shape
    hidden = width // 3
    gates.view(-1, width)[:, hidden : 2 * hidden].index_fill_(0, unreal, SHUT)
    h = gates.new_zeros(models, size, hidden)
    reach = gates.new_empty(models, rows, hidden) if keep else None
    before = products.operand(gates.new_empty(models, rows, hidden)) if keep else None
    for count, start in _spans(counts):
        here = gates[:, start : start + count]
        old = h[:, :count]
        operand = products.operand(old)
        if before is not None:
            before[:, start : start + count] = operand
        from_state = products(operand, state)
        rz = here[..., : 2 * hidden].add_(from_state[..., : 2 * hidden]).sigmoid_()
        candidate = from_state[..., 2 * hidden :].add_(bias)
        n = _tanh(here[..., 2 * hidden :].addcmul_(rz[..., :hidden], candidate))
        if reach is not None:
            reach[:, start : start + count] = candidate
        old.sub_(n).mul_(rz[..., hidden:]).add_(n)
    return h, reach, before


def _biases(b: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """What is added to W x, and c_n: (models, 1, 3 hidden) and (models, 1, hidden)."""
    hidden = b.shape[1] // 3
    both = torch.cat([b[:, : 2 * hidden] + c[:, : 2 * hidden], b[:, 2 * hidden :]], 1)
    return both[:, None], c[:, None, 2 * hidden :]


class _Gru(torch.autograd.Function):
    """Last states of a stack of GRUs over packed sequences, with gradients written out."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, w: Tensor, u: Tensor, b: Tensor, c: Tensor, unreal: Tensor,
        counts: Sequence[int], size: int, precision: str,
    ) -> Tensor:  # fmt: skip
        products = _Products(precision)
        x, w, u = products.operand(x), products.operand(w), products.operand(u)
        bias, candidate_bias = _biases(b, c)
        gates = products(x, w).add_(bias)
        h, reach, before = _run_gru(gates, unreal, counts, size, u, candidate_bias, products, True)
        ctx.save_for_backward(x, w, u, gates, reach, before)
        ctx.counts, ctx.products = counts, products
        return h

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Tensor | None, ...]:
        x, w, u, gates, reach, before = ctx.saved_tensors
        products = ctx.products
        hidden = before.shape[-1]
        r, z, n = (gates[..., k * hidden : (k + 1) * hidden] for k in range(3))
        # Derivatives by what goes into n, r, z and by U_n h + c_n, all by the state after the step
        # at first. The input's gates are the first three, the state's the last three.
        d = gates.new_empty(*gates.shape[:2], 4 * hidden)
        dn, dr, dz, dc = (d[..., k * hidden : (k + 1) * hidden] for k in range(4))
        new = 1 - z
        torch.mul(n, n, out=dn).sub_(1).neg_().mul_(new)
        torch.sub(before, n, out=dz).mul_(z).mul_(new)
        torch.mul(dn, r, out=dc)
        torch.sub(1, r, out=dr).mul_(dc).mul_(reach)
        back = u.transpose(1, 2)
        dh = gradients[0].clone()
        for count, start in reversed(list(_spans(ctx.counts))):
            now = dh[:, :count]
            here = d[:, start : start + count]
            here.view(*here.shape[:2], 4, hidden).mul_(now[:, :, None])
            now.mul_(z[:, start : start + count]).add_(products(here[..., hidden:], back))
        sums = d.sum(1)
        db = torch.cat([sums[:, hidden : 3 * hidden], sums[:, :hidden]], 1)
        d = products.operand(d)
        by_input = d[..., : 3 * hidden]
        w_nrz = torch.cat([w[..., 2 * hidden :], w[..., : 2 * hidden]], 2)
        dx = products(by_input, w_nrz.transpose(1, 2))
        dw = products(x.transpose(1, 2), by_input)
        dw = torch.cat([dw[..., hidden:], dw[..., :hidden]], 2)
        du = products(before.transpose(1, 2), d[..., hidden:])
        return dx, dw, du, db, sums[:, hidden:], None, None, None, None


# ---- the whole network ---------------------------------------------------------------------------


class Inputs:
    """What one encoder reads, on the device: token numbers, which of them are real, and where."""

    def __init__(self, packed: Packed, device: torch.device) -> None:
        self.tokens = torch.from_numpy(packed.tokens).to(device)
        self.unreal = torch.from_numpy(np.flatnonzero(~packed.real)).to(device)
        self.counts = packed.counts
        models, self.size = packed.place.shape
        place = packed.place + self.size * np.arange(models)[:, None]
        self.place = torch.from_numpy(place.ravel()).to(device)
        self.real = packed.real


def masks(
    inputs: Inputs, architecture: Architecture, generators: Sequence[np.random.Generator]
) -> Tensor | None:
    """What the inputs are multiplied with: 0, or 1 / (1 - dropout). Drawn for real tokens only,
    each model's from its own generator and in its own order."""
    dropped = round(256 * architecture.dropout)
    if not dropped:
        return None
    width = architecture.embedding
    drawn = np.zeros((*inputs.real.shape, width), np.uint8)
    for model, generator in enumerate(generators):
        count = int(inputs.real[model].sum())
        own = np.frombuffer(generator.bytes(count * width), np.uint8)
        drawn[model, inputs.real[model]] = own.reshape(count, width)
    kept = torch.from_numpy(drawn).to(inputs.tokens.device) >= dropped
    return kept.to(architecture.dtype).mul_(256 / (256 - dropped))


Parameters = dict[str, Tensor]
"""By name, shape (models, ...)."""


def _lookup(table: Tensor, rows: Tensor) -> Tensor:
    """``table[m, rows[m]]`` for each model m."""
    models, size = table.shape[:2]
    offset = torch.arange(models, device=rows.device)[:, None] * size
    flat = table.flatten(0, 1).index_select(0, (rows + offset).flatten())
    return flat.view(*rows.shape, table.shape[2])


def encode(
    architecture: Architecture,
    parameters: Parameters,
    name: str,
    inputs: Inputs,
    mask: Tensor | None,
) -> Tensor:
    """Last states of one encoder in training, rows as in the batch: (models, rows, hidden)."""
    x = _lookup(parameters[f"{name}.embedding"], inputs.tokens)
    if mask is not None:
        x = x * mask
    own = (parameters[f"{name}.{p}"] for p in ("input", "state", "input_bias", "state_bias"))
    sizes = inputs.unreal, inputs.counts, inputs.size
    return _as_given(_Gru.apply(x, *own, *sizes, architecture.precision), inputs)


def _as_given(h: Tensor, inputs: Inputs) -> Tensor:
    """Last states, rows as they were before sorting."""
    return h.flatten(0, 1).index_select(0, inputs.place).view_as(h)


@torch.no_grad()
def encode_trained(
    architecture: Architecture, parameters: Parameters, name: str, inputs: Inputs
) -> Tensor:
    """As `encode` without dropout: then a word's part of the gates is computed once a word."""
    bias, candidate_bias = _biases(*(parameters[f"{name}.{p}_bias"] for p in ("input", "state")))
    words = torch.baddbmm(bias, parameters[f"{name}.embedding"], parameters[f"{name}.input"])
    h, _, _ = _run_gru(
        _lookup(words, inputs.tokens), inputs.unreal, inputs.counts, inputs.size,
        parameters[f"{name}.state"], candidate_bias, _Products("float32"), False,
    )  # fmt: skip
    return _as_given(h, inputs)


def head(architecture: Architecture, parameters: Parameters, states: Tensor) -> Tensor:
    """From joined states (models, rows, width) to ratings, not rounded: (models, rows)."""
    for layer in range(architecture.layers):
        bias = parameters[f"layer{layer}.bias"][:, None]
        states = torch.tanh(torch.baddbmm(bias, states, parameters[f"layer{layer}.weight"]))
    bias = parameters["output.bias"][:, None]
    return torch.baddbmm(bias, states, parameters["output.weight"]).squeeze(2)


def losses(ratings: Tensor, truth: Tensor, weight: Tensor) -> Tensor:
    """Loss of each model, (models,): the rows' squared errors, weighted; all (models, rows)."""
    return ((ratings - truth) ** 2 * weight).sum(1)


@torch.no_grad()
def predict(
    architecture: Architecture,
    parameters: Parameters,
    sequences: Mapping[str, Sequence[Sequences]],
    rows: Sequence[np.ndarray],
) -> list[np.ndarray]:
    """Ratings, not rounded, of each model's ``rows``; each distinct MR and text is encoded once.

    Parameters
    ----------
    sequences : what each encoder reads, of each model
    """
    device = parameters["output.bias"].device
    size = max(map(len, rows))
    joined = []
    for name in ENCODERS:
        chosen = [distinct(read, own) for read, own in zip(sequences[name], rows, strict=True)]
        which = np.zeros((len(rows), size), np.int64)
        for model, (_, own) in enumerate(chosen):
            which[model, : len(own)] = own
        parts = []
        for start in range(0, max(1, *(len(unique) for unique, _ in chosen)), ROWS_AT_ONCE):
            some = [unique[start : start + ROWS_AT_ONCE] for unique, _ in chosen]
            inputs = Inputs(pack(sequences[name], some), device)
            parts.append(encode_trained(architecture, parameters, name, inputs))
        joined.append(_lookup(torch.cat(parts, 1), torch.from_numpy(which).to(device)))
    values = head(architecture, parameters, torch.cat(joined, 2))
    found = values.double().cpu().numpy()
    return [value[: len(own)] for value, own in zip(found, rows, strict=True)]
