"""What RNN-QE is trained on and how, by name: ``setup4``, ``cross_domain_1_setup4``,
``curve_50_setup1``; by the paper's schedule ``paper_setup1``.

Stage: none. Settings, rules and tables share these names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

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
SHORT, PAPER = "short", "paper"
"""Schedules of training; the paper's stands in a name."""
FOLDS = 5
INSTANCES = dict(zip(SETUPS, (1476, 3936, 12417, 44102, 56781, 79941), strict=True))
"""Training instances of a fold by set-up, about, and `MILLISECONDS` of one core for a pass over
one: from these a run says beforehand how long it will train."""
MILLISECONDS = 1.3


@dataclass(frozen=True)
class Schedule:
    """How long and how fast.

    pretrain, train : passes over everything, and at most over rated rows
    rate, batch : Adam's rate, rows of a batch
    plateau : passes over rated rows without an improvement that end training; 0: all are made
    """

    pretrain: int
    train: int
    rate: float
    batch: int
    plateau: int = 0


SCHEDULES = {
    # The batch size is not in the paper; 50 is that of the authors' published configuration. The
    # plateau gives what all passes give, unless a best pass follows one.
    PAPER: Schedule(pretrain=20, train=500, rate=1e-4, batch=50, plateau=60),
    # Chosen on validation parts alone, five folds and one seed: Pearson plus Spearman of set-up 4
    # is 0.750 by pass 7; 0.747 with 4 and 16 passes in batches of 100, 0.705 with 2 and 10 at 2e-3.
    SHORT: Schedule(pretrain=2, train=12, rate=1e-3, batch=50),
}

_NAME = re.compile(
    rf"(?:(?P<schedule>{PAPER})_)?(?:(?:{CURVE}_(?P<size>[1-9]\d*)"
    rf"|(?P<cross>{'|'.join(CROSS)})_(?P<configuration>[1-3]))_)?setup(?P<setup>[1-6])"
)


class Name(NamedTuple):
    """What a name says.

    schedule : `SHORT` or `PAPER`
    experiment : of `EXPERIMENTS`
    number : configuration of an experiment of `CROSS`, size of a learning curve, else 0
    setup : of `SETUPS`
    """

    schedule: str
    experiment: str
    number: int
    setup: int

    @property
    def networks(self) -> int:
        """How many are trained with one seed."""
        subsets = CURVE_SUBSETS if self.experiment == CURVE else 1
        return 1 if self.experiment in CROSS else FOLDS * subsets


def parse(name: str) -> Name:
    """Read a name.

    Raises
    ------
    SettingError : nothing is called so.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise SettingError(
            f"no set-up of RNN-QE is called {name!r}",
            remedy=f"write setup1, curve_100_setup1, cross_domain_1_setup1 or {PAPER}_setup1",
        )
    experiment = found["cross"] or (CURVE if found["size"] else EXPERIMENTS[0])
    number = int(found["configuration"] or found["size"] or 0)
    return Name(found["schedule"] or SHORT, experiment, number, int(found["setup"]))


def names(experiment: str, schedule: str = SHORT) -> list[str]:
    """The names of one of `EXPERIMENTS`; a learning curve has the short schedule alone."""
    if experiment == CURVE:
        return [f"{CURVE}_{size}_setup1" for size in CURVE_SIZES] if schedule == SHORT else []
    data = [f"{experiment}_{k}_" for k in CONFIGURATIONS] if experiment in CROSS else [""]
    first = f"{PAPER}_" if schedule == PAPER else ""
    return [f"{first}{own}setup{setup}" for own in data for setup in SETUPS]


def trainings(*schedules: str) -> list[str]:
    """Every name by these schedules."""
    return [
        name for one in schedules for experiment in EXPERIMENTS for name in names(experiment, one)
    ]


def seeds_of(name: str, seeds: int) -> list[int]:
    """The seeds of a name: of a learning curve, the random subsets do what seeds do elsewhere."""
    return list(range(1 if parse(name).experiment == CURVE else seeds))


def hours(trained: Iterable[str]) -> float:
    """About how many hours of one core these trainings take, one entry a name and seed.

    By the paper's schedule at most so many: it ends early on a plateau.
    """
    total = 0.0
    for name in map(parse, trained):
        how = SCHEDULES[name.schedule]
        synthetic = INSTANCES[name.setup] * (name.setup > 1)
        total += name.networks * (how.pretrain * synthetic + how.train * INSTANCES[1])
    return total * MILLISECONDS / 3.6e6
