"""Rubbish in the raw files: a text like any other. What is no text is in tests/data."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from refless.data.normalize import normalize
from refless.data.own import read_ratings
from refless.data.ratings import RatedTexts
from refless.data.sources import table
from refless.data.task import read_task
from refless.kernels import kernel
from tests.conftest import Project
from tests.workflow import small_data

HOSTILE = [
    "=cmd()",
    "+1+1",
    "@SUM(1)",
    "<script>alert(1)</script>",
    "NaN",
    "null",
    "\u202eright to left",
    "bell \u0007 and escape \u001b[31m",
    "comma, quote and semicolon;",
    "word " * 20_000,
]


# ---- through the workflow ------------------------------------------------------------------------


@pytest.mark.slow
def test_hostile_texts_come_through_and_reach_no_table(fresh: Project) -> None:
    path = Path(fresh.mirror) / "huse/summarization_raw_outputs.csv"
    content = path.read_text(encoding="utf-8")
    for old, new in zip(small_data.sentences(60, 0), HOSTILE, strict=False):
        assert old in content
        content = content.replace(old, new)
    path.write_text(content, encoding="utf-8")
    small_data.register(fresh.path, {"huse/summarization_raw_outputs.csv": path})
    fresh.snakemake("bleu_neighbors_table1")
    texts = read_task(fresh.path / "results/ratings/huse_summarization").texts["text"]
    # as they are, but for blanks at the ends
    assert {text.strip() for text in HOSTILE} <= set(texts.str.strip())
    for kind in ("neighbors", "tables"):
        for file in (fresh.path / "results" / kind).iterdir():
            written = file.read_text(encoding="utf-8")
            assert not any(text in written for text in HOSTILE if text not in ("NaN", "null"))


def test_no_text_leaves_the_ratings(small: Project) -> None:
    """Of any data set: what holds for ordinary texts holds for formulas and markup."""
    results = small.path / "results"
    texts: set[str] = set()
    for folder in results.glob("ratings/*"):
        table = read_task(folder).texts
        texts |= {*table["text"], *table["context"]}
    texts = {text for text in texts if len(text) > 12}  # "set 3" is an essay's context
    assert len(texts) > 400
    # a text's words as a search finds them, whatever stands between
    wanted = re.compile("|".join(sorted(map(re.escape, texts), key=len, reverse=True)))
    found = [
        str(path.relative_to(results))
        for path in results.rglob("*")
        if path.suffix in (".csv", ".md", ".html", ".json", ".svg", ".txt")
        and path.relative_to(results).parts[0] not in ("ratings", "logs", "benchmarks")
        and wanted.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


# ---- kernels -------------------------------------------------------------------------------------

KERNELS = ["bleu.char", "bleu.word", "bleu.char.unclipped"]
KERNELS += ["rouge_l.stem", "rouge_l.plain"]


@pytest.mark.parametrize("name", KERNELS)
def test_odd_texts_change_no_other_texts_numbers(name: str) -> None:
    ordinary = small_data.sentences(40, seed=3)
    odd = [*HOSTILE, "", " ", ".", ordinary[0]]
    mixed = [text for pair in zip(ordinary, odd, strict=False) for text in pair]
    mixed += ordinary[len(odd) :]
    place = [mixed.index(text) for text in ordinary]
    alone, among = kernel(name, ordinary, ordinary), kernel(name, mixed, mixed)
    np.testing.assert_array_equal(among[np.ix_(place, place)], alone)
    assert np.isfinite(among).all()
    assert among.min() >= 0
    # the same text twice has the same row twice
    twice = [n for n, text in enumerate(mixed) if text == ordinary[0]]
    np.testing.assert_array_equal(among[twice[0]], among[twice[1]])
    np.testing.assert_array_equal(kernel(name, mixed, mixed, threads=1), among)


def test_own_files_of_one_name_have_sums_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {}
    for part, text in (("one", "a"), ("two", "b")):
        path = tmp_path / part / "rated.tsv"
        path.parent.mkdir()
        path.write_text(f"text\tquality\n{text}\t1\nc{text}\t2\n")
        files[part] = str(path)

    def load(loader: str, task: str, files: dict[str, str], options: object) -> RatedTexts:
        return table.tidy(read_ratings(list(files.values())), task)

    def written(task: str, data: RatedTexts, out: Path, sums: dict[str, str], told: object) -> None:
        assert (len(data.texts), sorted(sums)) == (4, sorted(files.values()))

    monkeypatch.setattr("refless.data.sources.load", load)
    monkeypatch.setattr("refless.data.normalize.write_task", written)
    normalize("mine", "table", files, {}, tmp_path)
