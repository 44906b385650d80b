"""The settings of the table `comparison`: every method on every data set. Stage: none."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from refless.settings._base import Count, FewDraws, Section, Seed, Several


class Comparison(Section):
    """Every method of `refless compare` on our data sets."""

    kernels: Several[str] = Field(
        description="Kernels of neighbors; those that cannot be computed are left out.",
    )
    draws: FewDraws = Field(description="Draws of the bootstrap.")
    deals: Count = Field(
        description="How often texts are dealt to folds, at most; never more than 10,000 divided"
        " by their number. Correlations and errors are means over the deals."
    )
    seed: Seed = Field(description="Seed of the folds and of the draws.")
    networks: Literal["shipped", "run"] = Field(
        "shipped",
        description="RNN-QE's estimates in the comparison. `shipped`: those that come with refless,"
        " for the data sets that have any; `run`: train the networks, minutes a data set (`make"
        " torch`).",
    )
