"""Rubbish in the texts: never markup or formula, and every other text keeps its numbers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from refless.ratings import TEXT_COLUMNS, read_table
from tests.conftest import Project
from tests.workflow import small_data

pytestmark = [pytest.mark.workflow, pytest.mark.drill]

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


def test_hostile_texts_come_through_and_reach_no_table(fresh: Project, tmp_path: Path) -> None:
    path = Path(fresh.mirror) / "huse/summarization_raw_outputs.csv"
    content = path.read_text(encoding="utf-8")
    for old, new in zip(small_data.sentences(60, 0), HOSTILE, strict=False):
        assert old in content
        content = content.replace(old, new)
    path.write_text(content, encoding="utf-8")
    small_data.register(fresh.path, {"huse/summarization_raw_outputs.csv": path})
    fresh.snakemake("bleu_neighbors_section53", "results/tables/bleu_neighbors_section53.html")
    texts = read_table(fresh.path / "results/ratings/huse_summarization/texts.csv", TEXT_COLUMNS)
    # as they are, but for blanks at the ends
    assert {text.strip() for text in HOSTILE} <= set(texts["text"].str.strip())
    neighbors = pd.read_csv(fresh.path / "results/neighbors/huse_summarization.csv")
    assert neighbors["estimate"].dropna().between(0, 1).all()
    for kind in ("neighbors", "tables"):
        for file in (fresh.path / "results" / kind).iterdir():
            written = file.read_text(encoding="utf-8")
            assert not any(text in written for text in HOSTILE if text not in ("NaN", "null"))
