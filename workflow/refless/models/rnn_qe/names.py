"""What RNN-QE is trained on and how, by name: ``setup4``, ``cross_domain_1_setup4``,
``curve_50_setup1``; by the paper's schedule ``paper_setup1``.

Stage: none. Settings, rules and tables share these names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from refless.errors import SettingError

SETUPS = (1, 2, 3, 4, 5, 6)
CONFIGURATIONS = (1, 2, 3)
CROSS = ("cross_domain", "cross_system")
"""The experiments of tables 4 and 5."""
CURVE = "curve"
CURVE_SIZES, CURVE_SUBSETS = (50, 100, 200, 400, 800), 5
"""Of the learning curve: numbers of rated training outputs, beside the whole; random subsets."""
EXPERIMENTS = ("cross_validation", *CROSS, CURVE)
"""What tables 3 to 5 and the learning curve want."""
PAPER = "paper"
"""Before any other name: the same by the paper's schedule of training, which takes days."""
PAPER_SEEDS, PLATEAU = 3, 60
"""Seeds of the paper's schedule; it ends when no model of a stack improved for so many passes."""

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


def seeds_of(name: str, seeds: int) -> int:
    """Number of seeds of what a name says. Of a learning curve the random subsets do what
    elsewhere the seeds do."""
    found = parse(name)
    return 1 if found.experiment == CURVE else PAPER_SEEDS if found.way else seeds


def training_of(name: str, seeds: int) -> dict[str, Any]:
    """How what a name says is trained.

    Returns
    -------
    dict : ``schedule`` as `refless.experiments.rnn_qe.trainer.write_training` wants it, ``seeds``,
        ``models`` (how many there are) and ``long`` (whether the schedule is the paper's)
    """
    found, count = parse(name), seeds_of(name, seeds)
    folds = 1 if found.experiment in CROSS else 5
    subsets = CURVE_SUBSETS if found.experiment == CURVE else 1
    return {
        "schedule": {"name": "paper", "plateau": PLATEAU} if found.way else {"name": "fast"},
        "seeds": list(range(count)),
        "models": folds * subsets * count,
        "long": bool(found.way),
    }


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
