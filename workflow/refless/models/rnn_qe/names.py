"""What RNN-QE is trained on, by name: ``setup4``, ``cross_domain_1_setup4``, ``curve_50_setup1``.

Stage: none. Settings, rules and tables share these names; nothing is imported here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

SETUPS = (1, 2, 3, 4, 5, 6)
CONFIGURATIONS = (1, 2, 3)
CROSS = ("cross_domain", "cross_system")
"""The experiments of tables 4 and 5."""
CURVE = "curve"
EXPERIMENTS = ("cross_validation", *CROSS, CURVE)
"""What tables 3 to 5 and the learning curve want."""
APART, PAPER = "apart", "paper"
READINGS = (APART, PAPER)
"""Further questions of table 3: folds that are harder, the paper's schedule of training."""

NAME = re.compile(
    rf"(({APART}|{CURVE}_[1-9]\d*|({'|'.join(CROSS)})_[{CONFIGURATIONS[0]}-{CONFIGURATIONS[-1]}])_)?"
    rf"setup[{SETUPS[0]}-{SETUPS[-1]}]"
)
"""A name of training data; ``paper_setup1`` is ``setup1`` under another schedule."""


def names(experiment: str, sizes: Iterable[int] = ()) -> list[str]:
    """The names of one of `EXPERIMENTS` or `READINGS`.

    ``sizes`` are those of the learning curve.
    """
    if experiment == CURVE:
        return [f"{CURVE}_{size}_setup1" for size in sizes]
    if experiment in CROSS:
        return [
            f"{experiment}_{configuration}_setup{setup}"
            for configuration in CONFIGURATIONS
            for setup in SETUPS
        ]
    prefix = f"{experiment}_" if experiment in READINGS else ""
    return [f"{prefix}setup{setup}" for setup in SETUPS]


def training_command(name: str) -> str:
    """What trains a set-up, for a row that has no predictions."""
    return f"`snakemake --cores 8 resources/trained/rnn_qe/predictions/{name}.csv.gz`"
