"""The settings of ΔBLEU (Galley et al. 2015). Stage: none."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from refless.settings._base import (
    NO_BOOLEAN,
    Count,
    FewDraws,
    Section,
    Seed,
    Several,
)

LeastWeight = Annotated[float, Field(ge=-1, le=1), NO_BOOLEAN]


class Intervals(Section):
    """95% intervals: draws of contexts, and of systems and contexts."""

    draws: FewDraws = Field(description="Draws for the table.")
    figure_draws: FewDraws = Field(description="Draws for the figure.")


class DeltaBleu(Section):
    """ΔBLEU: table 2 and figure 2."""

    assignments: Count = Field(
        description="Random assignments of contexts to units over which correlations are averaged,"
        " under each seed."
    )
    figure_assignments: Count = Field(
        description="The same in the figure. Units of few contexts get fewer assignments: they make"
        " far more observations each."
    )
    seeds: Several[Seed] = Field(
        description="Seeds of the assignments: the first is the table's, the others show how stable"
        " it is."
    )
    bootstrap: Intervals = Field(description="Intervals.")
    thresholds: Several[LeastWeight] = Field(
        description="Least weights of a reference, panel A of figure 2."
    )
    orders: Several[Count] = Field(description="Highest orders of n-grams, panel C of figure 2.")
