"""What a command answers: a table, pairs, sentences, a page."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Template


@dataclass(frozen=True, kw_only=True, repr=False)
class Answer:
    """What `refless.compare`, `refless.estimate` and `refless.score` return.

    table : a row a method and split, a system, or a text
    pairs : the tests of each two rows
    answer : what the command prints, as one string with a line for each of its lines
    warnings : what to know before trusting it, a sentence each
    signature : what decides it, in one line, by `refless.citation.signature`

    In Python's prompt it shows as its ``answer`` and ``signature``, in a notebook as its page. It
    can be pickled.
    """

    table: pd.DataFrame
    pairs: pd.DataFrame = field(default_factory=pd.DataFrame)
    answer: str = ""
    warnings: list[str] = field(default_factory=list)
    signature: str = ""

    def __repr__(self) -> str:
        signed = f"signature {self.signature}" if self.signature else ""
        return "\n".join(filter(None, (self.answer, signed)))

    def to_html(self) -> str:
        """The answer as a page that stands alone."""
        views = {"table": table_html(self.table), "pairs": table_html(self.pairs)}
        return page(
            title="What the ratings say",
            lines=self.answer.splitlines(),
            warnings=self.warnings,
            views=views,
            facts={"signature": self.signature},
        )

    def _repr_html_(self) -> str:
        """The page in a frame, so that its styles stay inside."""
        style = "width: 100%; height: 40rem; border: 0"
        return f'<iframe srcdoc="{escape(self.to_html())}" style="{style}"></iframe>'


def page(**content: Any) -> str:
    """A page that stands alone.

    content : ``title``; as far as there are any, ``lines``, ``grids`` and ``views`` as HTML,
        ``warnings``, ``next_step``, ``picture``, ``note``, and ``facts`` about the run
    """
    path = Path(__file__).with_name("report.html")
    return Template(path.read_text("utf-8"), autoescape=True).render(content)


def missing_scores(scores: pd.DataFrame) -> Iterator[str]:
    """A sentence if some texts, a row each, lack scores."""
    missing = scores.isna().sum()
    if lacking := [f"{name} (of {n:,} texts)" for name, n in missing.items() if n]:
        yield f"missing, so that a mean counts: {', '.join(lacking)}"


def table_html(table: pd.DataFrame) -> str:
    """A table as HTML; nothing of an empty one."""
    if table.empty:
        return ""
    return table.to_html(index=False, border=0, na_rep="", float_format="{:.3g}".format)
