"""Why published numbers and ours differ: a line a table, and the paragraph that it leads to.

Stage: report. In: the table of cells, the page of findings. Out: lines and paragraphs.
"""

from typing import NamedTuple

import pandas as pd

from refless.report.fill import section
from refless.report.names import words

HEADING = "Why numbers differ from the papers'"
"""Of the findings' section that has a part for each paper."""


class Cause(NamedTuple):
    """Why so many cells of a table differ, or lack a number of ours."""

    cells: int
    sentence: str


def causes_of(cells: pd.DataFrame, table: str) -> list[Cause]:
    """The causes of a table's cells (by `refless.experiments.reproducibility.cells`), the most
    frequent first; none of cells that are equal."""
    of_table = cells.loc[cells["table"] == table, "explanation"].fillna("")
    counts = of_table.str.split().explode().dropna().value_counts()
    sentences = {**words()["reason"], **words()["why"]}
    words_used = map(str, counts.index)
    return [Cause(int(counts[word]), sentences.get(word, word)) for word in words_used]


def paragraphs(findings: str, papers: list[str]) -> dict[str, str]:
    """By paper, what the findings say of its differences; no paper that they say nothing of."""
    texts = {paper: section(section(findings, HEADING), paper, level=3) for paper in papers}
    return {paper: text for paper, text in texts.items() if text}


def anchor(paper: str) -> str:
    """Where a paper's paragraph is in the report.

    >>> anchor("BLEU Neighbors")
    'why-bleu-neighbors'
    """
    return f"why-{paper.lower().replace(' ', '-')}"
