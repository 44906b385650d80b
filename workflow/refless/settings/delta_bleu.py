"""The settings of ΔBLEU (Galley et al. 2015). Stage: none."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from refless.settings._base import NO_BOOLEAN, Count, FewDraws, Section, Seed, Several

LeastWeight = Annotated[float, Field(ge=-1, le=1), NO_BOOLEAN]


class DeltaBleu(Section):
    """ΔBLEU: table 2 and figure 2."""

    assignments: Count = Field(
        description="Random assignments of contexts to units over which correlations are averaged;"
        " fewer for units of few contexts, which make far more observations each."
    )
    seed: Seed = Field(description="Seed of the assignments and of the draws.")
    draws: FewDraws = Field(description="Draws of contexts for the 95% intervals of table 2.")
    thresholds: Several[LeastWeight] = Field(
        description="Least weights of a reference, panel A of figure 2."
    )
    orders: Several[Count] = Field(description="Highest orders of n-grams, panel C of figure 2.")
