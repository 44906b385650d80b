"""The benchmark: that it measures what it says, and that peers and kernels agree. Never times."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refless.report.benchmarks import readme

from benchmarks import kernels as benchmark
from benchmarks.common import real_texts, take
from refless.errors import SourceError
from refless.store.files import read_json
from tests.kernels.texts import mirror, random_sentences

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return list(dict.fromkeys(random_sentences(200, 13, seed=2)))[:60]


def beside(name: str, texts: list[str]) -> dict[str, Any]:
    return benchmark.beside_peers(name, texts, 80, 2, [1, 2])


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


@pytest.mark.slow
def test_nltks_meteor_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    wordnet = mirror("nltk/wordnet.zip")
    monkeypatch.setenv("REFLESS_WORDNET", str(wordnet))
    real, about = real_texts(wordnet.parents[1])
    assert about["real"]
    assert about["different"] == len(real) > 20_000
    assert_record(beside("meteor.nltk39", take(real, 40)), ["nltk"], 20)


def test_bert_score_agrees(texts: list[str]) -> None:
    torch = pytest.importorskip("torch", reason="make torch")
    pytest.importorskip("bert_score", reason="make torch")

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
    with pytest.raises(AssertionError, match=r"bleu\.char and nltk differ"):
        beside("bleu.char", texts)


def test_a_kernel_whose_peer_is_missing_is_left_out(
    texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    record = benchmark.measure([benchmark.BERTSCORE], texts, {}, n=9, sample=1, runs=1)
    assert "torch" in record["left_out"][benchmark.BERTSCORE]
    assert record["peers"] == []


def test_parts_are_told_apart() -> None:
    # 5 texts take 3 s each, pairs 0.25 s each: 15 s and 4 or 100 pairs.
    assert benchmark._parts(16.0, 4, 40.0, 100, 5) == (3.0, 0.25)


def test_texts_are_different_and_always_the_same(texts: list[str]) -> None:
    few, many = take(texts, 20), take(texts, 300)
    assert few == take(texts, 20)
    assert set(few) < set(texts) < set(many)
    assert [len(set(few)), len(set(many))] == [20, 300]


def test_without_data_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="make all"):
        real_texts(tmp_path)


def shared(x: str, s: str, split: Callable[[str], list[str]], orders: tuple[int, ...]) -> int:
    """N-grams of x that are in s too, the k-th of a kind in each being like; by brute force."""

    def units(text: str) -> set[tuple[object, ...]]:
        parts, found = split(text), []
        for n in orders:
            grams = [tuple(parts[i : i + n]) for i in range(len(parts) - n + 1)]
            found += [(gram, grams[:i].count(gram)) for i, gram in enumerate(grams)]
        return set(found)

    return len(units(x) & units(s))


def test_floor_reads_every_overlap(texts: list[str]) -> None:
    x, s = texts[:30], texts[30:]
    expected = sum(shared(a, b, list, (2, 3, 4)) for a in x for b in s)
    record = benchmark.beside_floor(texts, 2)
    assert record["overlaps"] == expected / 900
    assert {len(times) for times in record["seconds"].values()} == {2}
    units, starts = np.array([1, 0, 1], np.int32), np.array([0, 2, 5], np.int32)
    posts = np.array([7, 1, 2, 3, 4], np.uint16)
    for read in (benchmark._read_vector, benchmark._read_scalar):
        assert read(units, starts, posts) == 9 + 8 + 9


def test_overlaps_of_words() -> None:
    x, s = ["the cats ran the cat", "dog"], ["the cat the", "", "a dog, a dog"]
    units = [benchmark.units("rouge_l.stem", side) for side in (x, s)]
    # the: 2 * 2; dog: 2; a word of three letters is not stemmed, cats is
    assert benchmark.overlaps(*units) == 4 + 2 + 2


def test_peak_memory_is_the_processes_own() -> None:
    code = "from benchmarks.kernels import peak_memory; print(peak_memory())"
    room = np.ones(5 * 10**7)  # 400 MB, which a child may inherit as its peak
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert 10**7 < int(found.stdout) < room.nbytes < benchmark.peak_memory()


@pytest.mark.slow
def test_the_command_writes_a_record_and_the_readmes_table(tmp_path: Path) -> None:
    data = mirror("nltk/wordnet.zip").parents[1]
    options = "--kernels bleu.char --n 40 --sample 30 --runs 2 --sizes 20 --record"
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.kernels", *options.split(), "--data", data],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'workflow'}"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    record = read_json(tmp_path / "resources/benchmarks/kernels.json")
    assert record == read_json(tmp_path / "results/benchmarks/kernels.json")
    assert result.stdout == readme(record) + "\n"
    assert record["machine"]["cores"] >= 1
    assert record["texts"]["real"]
    (one,) = record["growth"]
    assert one["n"] == 20
    assert one["peak_bytes"] >= one["peak_bytes_before"] > 10**7
    assert 0 < one["overlaps"] < 200


def test_every_kernel_is_recorded() -> None:
    record = read_json(ROOT / "resources/benchmarks/kernels.json")
    assert {one["kernel"] for one in record["peers"]} == set(benchmark.KERNELS)
