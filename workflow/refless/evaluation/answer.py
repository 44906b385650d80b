"""What a command answers: a table, pairs, sentences, a page."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from jinja2 import Template


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What `refless.compare`, `refless.estimate` and `refless.score` return."""

    table: pd.DataFrame
    pairs: pd.DataFrame = field(default_factory=pd.DataFrame)  # tests of each two rows
    answer: str = ""  # a sentence a line
    warnings: list[str] = field(default_factory=list)  # what to know before trusting it

    def to_html(self) -> str:
        """The answer as a page that stands alone."""
        views = {"table": _view(self.table), "pairs": _view(self.pairs)}
        return self._page("What the ratings say", views)

    def _page(self, title: str, views: Mapping[str, str], picture: str = "", note: str = "") -> str:
        path = Path(__file__).with_name("report.html")
        page = Template(path.read_text("utf-8"), autoescape=True)
        return page.render(
            title=title,
            answer=self.answer.splitlines(),
            warnings=self.warnings,
            views={name: view for name, view in views.items() if view},
            picture=picture,
            note=note,
        )


def missing_scores(scores: pd.DataFrame) -> Iterator[str]:
    """A sentence if some texts, a row each, lack scores."""
    missing = scores.isna().sum()
    if lacking := [f"{name} (of {n:,} texts)" for name, n in missing.items() if n]:
        yield f"missing, so that a mean counts: {', '.join(lacking)}"


def _view(table: pd.DataFrame) -> str:
    if table.empty:
        return ""
    return table.to_html(index=False, border=0, na_rep="", float_format="{:.3g}".format)
