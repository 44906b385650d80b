"""What RNN-QE is trained on and how, by name: ``setup4``, ``cross_domain_1_setup4``,
``curve_50_setup1``; by the paper's schedule ``paper_setup1``.

Stage: none. Settings, rules and tables share these names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from refless.errors import SettingError

SETUPS = (1, 2, 3, 4, 5, 6)
CONFIGURATIONS = (1, 2, 3)
CROSS = ("cross_domain", "cross_system")
"""The experiments of tables 4 and 5."""
CURVE = "curve"
EXPERIMENTS = ("cross_validation", *CROSS, CURVE)
"""What tables 3 to 5 and the learning curve want."""
PAPER = "paper"
"""Before any other name: the same by the paper's schedule of training, which takes days."""

_NAME = re.compile(
    rf"(?:(?P<way>{PAPER})_)?(?:(?:{CURVE}_(?P<size>[1-9]\d*)"
    rf"|(?P<cross>{'|'.join(CROSS)})_(?P<configuration>[{CONFIGURATIONS[0]}-{CONFIGURATIONS[-1]}]))_)?"
    rf"setup(?P<setup>[{SETUPS[0]}-{SETUPS[-1]}])"
)


class Name(NamedTuple):
    """What a name says.

    way : `PAPER`, or empty for the short schedule
    experiment : of `EXPERIMENTS`
    number : configuration of an experiment of `CROSS`, size of a learning curve, else 0
    setup : of `SETUPS`
    """

    way: str
    experiment: str
    number: int
    setup: int


def parse(name: str) -> Name:
    """Read a name.

    Raises
    ------
    SettingError : nothing is called so.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise SettingError(
            f"no data set-up is called {name!r}",
            remedy="write setup1, curve_100_setup1 or cross_domain_1_setup1, or with other numbers;"
            f" before it may stand {PAPER}_",
        )
    experiment = found["cross"] or (CURVE if found["size"] else EXPERIMENTS[0])
    number = int(found["configuration"] or found["size"] or 0)
    return Name(found["way"] or "", experiment, number, int(found["setup"]))


def data_name(name: str) -> str:
    """The name of the data that a training reads: without what only decides how it is trained."""
    return name.removeprefix(f"{parse(name).way}_")


def names(experiment: str, sizes: Iterable[int] = ()) -> list[str]:
    """The names of one of `EXPERIMENTS`; ``sizes`` are those of the learning curve."""
    if experiment == CURVE:
        return [f"{CURVE}_{size}_setup1" for size in sizes]
    if experiment in CROSS:
        return [
            f"{experiment}_{configuration}_setup{setup}"
            for configuration in CONFIGURATIONS
            for setup in SETUPS
        ]
    return [f"setup{setup}" for setup in SETUPS]


def training_command(name: str) -> str:
    """What trains a set-up, for a row that has no predictions."""
    return f"`snakemake --cores 8 resources/trained/rnn_qe/predictions/{name}.csv.gz`"
