"""The benchmark: that it measures what it says, and that peers and kernels agree. Never times."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import kernels_timing as benchmark
from benchmarks.kernels_timing import BERTSCORE, generated_texts, lacks, real_texts, tables, take

from refless.errors import KernelError
from refless.kernels._registry import load
from refless.store.files import read_json
from tests.kernels.texts import mirror

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return take(generated_texts(100)[0], 60)


def beside(name: str, texts: list[str], wordnet: Path | None = None) -> dict[str, Any]:
    return benchmark.beside_peers(name, texts, sample=80, runs=2, threads=[1, 2], wordnet=wordnet)


def assert_record(record: dict[str, Any], peers: list[str], n: int) -> None:
    assert list(dict.fromkeys(row["peer"] for row in record["peers"])) == peers
    assert record["n"] == n
    assert {(row["what"], row["threads"]) for row in record["ours"]} == {
        (what, threads) for what in ("kernel", "neighbor_sums") for threads in (1, 2)
    }
    assert len(record["ratios"]) == 4 * len(peers)
    assert record["largest_difference"] <= record["tolerance"]
    for row in record["ratios"]:
        assert row["least"] <= row["median"] <= row["most"]


@pytest.mark.parametrize("name", ["bleu.char", "bleu.word", "rouge_l.stem", "rouge_l.plain"])
def test_peers_agree(name: str, texts: list[str]) -> None:
    kept = ["rouge-score", "rouge-score, words kept"]
    record = beside(name, texts)
    assert_record(record, kept if name.startswith("rouge") else ["nltk"], 30)


@pytest.mark.mirror
def test_nltks_meteor_agrees() -> None:
    wordnet = mirror("nltk/wordnet.zip")
    real, about = real_texts(wordnet.parents[1])
    assert about["real"]
    assert about["different"] == len(real) > 20_000
    assert_record(beside("meteor.nltk39", take(real, 40), wordnet), ["nltk"], 20)


@pytest.mark.skipif(bool(lacks(BERTSCORE)), reason=lacks(BERTSCORE))
def test_bert_score_agrees(texts: list[str]) -> None:
    import torch

    before = torch.get_num_threads()
    record = benchmark.beside_bert_score(
        texts, runs=1, threads=[1, 2], different=8, copies=2, block=4, n=100
    )
    assert_record(record, ["bert-score"], 100)
    assert torch.get_num_threads() == before


def test_a_peer_that_disagrees_is_an_error(
    texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from nltk.translate import bleu_score

    monkeypatch.setattr(bleu_score, "sentence_bleu", lambda *_, **__: 0.5)
    with pytest.raises(KernelError, match=r"bleu\.char and nltk differ"):
        beside("bleu.char", texts)


def test_a_kernel_without_a_peer_is_an_error(texts: list[str]) -> None:
    with pytest.raises(KernelError, match="beside"), benchmark.peers("bleu.char.unclipped"):
        pass


def test_parts_are_told_apart() -> None:
    # 5 texts take 3 s each, pairs 0.25 s each: 15 s and 4 or 100 pairs.
    assert benchmark._parts(16.0, 4, 40.0, 100, 5) == (3.0, 0.25)


def test_texts_are_different_and_always_the_same() -> None:
    texts, about = generated_texts(50)
    assert texts == generated_texts(50)[0]
    assert len(set(texts)) == 50 == about["different"]
    assert {len(text.split()) for text in texts} == set(range(6, 14))
    few, many = take(texts, 20), take(texts, 300)
    assert few == take(texts, 20)
    assert set(few) < set(texts) < set(many)
    assert [len(set(few)), len(set(many))] == [20, 300]


def test_without_data_there_are_no_real_texts(tmp_path: Path) -> None:
    assert real_texts(tmp_path)[0] == []


def shared(x: str, s: str, split: Callable[[str], list[str]], orders: tuple[int, ...]) -> int:
    """N-grams of x that are in s too, the k-th of a kind in each being like; by brute force."""

    def units(text: str) -> set[tuple[object, ...]]:
        parts, found = split(text), []
        for n in orders:
            grams = [tuple(parts[i : i + n]) for i in range(len(parts) - n + 1)]
            found += [(gram, grams[:i].count(gram)) for i, gram in enumerate(grams)]
        return set(found)

    return len(units(x) & units(s))


def test_floor_reads_every_overlap(texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load("bleu.char"), "WIDTH", 7)  # blocks of several widths
    x, s = texts[:30], texts[30:]
    expected = sum(shared(a, b, list, (2, 3, 4)) for a in x for b in s)
    plan: Any = load("bleu.char").plan("bleu.char", x, s)
    blocks = [benchmark._postings(plan, start, stop) for start, stop in plan.blocks()]
    assert [int(posts.max()) for _, posts in blocks] == [6, 6, 6, 6, 1]
    own, _ = benchmark._units("bleu.char", plan)
    read = sum(starts[own + 1] - starts[own] for starts, _ in blocks).sum()  # type: ignore[union-attr]
    assert read == expected == benchmark.overlaps("bleu.char", plan)
    total = sum(posts[starts[u] : starts[u + 1]].sum() for u in own for starts, posts in blocks)
    for reader in benchmark._readers().values():
        assert sum(int(reader(own, *block)) for block in blocks) == total
    record = benchmark.beside_floor(texts, 2)
    assert record["overlaps"] == expected / 900
    assert {len(times) for times in record["seconds"].values()} == {2}


def test_overlaps_of_words(texts: list[str]) -> None:
    x, s = ["the cats ran the cat", "dog"], ["the cat the", "", "a dog, a dog"]
    plan = load("rouge_l.stem").plan("rouge_l.stem", x, s)
    # the: 2 * 2, cat: 2 * 1; dog: 2.
    assert benchmark.overlaps("rouge_l.stem", plan) == 8


def test_peak_memory_is_the_processes_own() -> None:
    code = "from benchmarks.kernels_timing import peak_memory; print(peak_memory())"
    room = np.ones(5 * 10**7)  # 400 MB, which a child may inherit as its peak
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert 10**7 < int(found.stdout) < room.nbytes < benchmark.peak_memory()


def test_the_script_writes_a_record_and_the_readmes_table(tmp_path: Path) -> None:
    script = ROOT / "workflow/scripts/benchmark_kernels.py"
    options = "--kernels bleu.char --n 40 --sample 30 --runs 2 --sizes 20 --record --data none"
    result = subprocess.run(
        [sys.executable, script, *options.split()], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    record = read_json(tmp_path / "resources/benchmarks/kernels.json")
    assert record == read_json(tmp_path / "results/benchmarks/kernels.json")
    assert result.stdout == tables(record) + "\n"
    assert record["machine"]["cores"] >= 1
    assert record["texts"]["source"].startswith("generated")
    (one,) = record["growth"]
    assert one["n"] == 20
    assert one["peak_bytes"] >= one["peak_bytes_before"] > 10**7
    assert 0 < one["overlaps"] < 200
    assert "`bleu.char` | nltk | 1 |" in result.stdout


def test_readme_quotes_the_record() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    quoted = re.search(r"<!-- benchmark:begin -->\n(.*)\n<!-- benchmark:end -->", text, re.DOTALL)
    assert quoted
    record = read_json(ROOT / "resources/benchmarks/kernels.json")
    assert quoted[1] == tables(record)
    assert record["texts"]["real"]
    assert {one["kernel"] for one in record["peers"]} == set(benchmark.KERNELS)
    assert re.search(r"/(work|home|root|tmp)\b", str(record)) is None
