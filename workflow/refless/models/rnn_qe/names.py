"""What RNN-QE is trained on and how, by name: ``setup4``, ``cross_domain_1_setup4``,
``curve_50_setup1``, ``paper_setup1``, ``authors_layers_setup1``.

Stage: none. Settings, rules and tables share these names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from refless.errors import SettingError
from refless.models.rnn_qe.variants import DIFFERENCES, changes

SETUPS = (1, 2, 3, 4, 5, 6)
CONFIGURATIONS = (1, 2, 3)
CROSS = ("cross_domain", "cross_system")
"""The experiments of tables 4 and 5."""
CURVE = "curve"
EXPERIMENTS = ("cross_validation", *CROSS, CURVE)
"""What tables 3 to 5 and the learning curve want."""
APART, PAPER, LONGER, AUTHORS = "apart", "paper", "longer", "authors"
READINGS = (APART, PAPER, AUTHORS)
"""Further questions of table 3: folds that are harder, the paper's schedule of training, the
network of the authors' code."""
WAYS = (PAPER, LONGER, AUTHORS)
"""Before any other name: how the same is trained. ``longer`` is ``paper`` with twice the plateau, a
check on it."""

_NAME = re.compile(
    rf"(?:(?P<way>{'|'.join(WAYS)})_)?(?:(?P<difference>{'|'.join(DIFFERENCES)})_)?"
    rf"(?:(?:(?P<apart>{APART})|{CURVE}_(?P<size>[1-9]\d*)"
    rf"|(?P<cross>{'|'.join(CROSS)})_(?P<configuration>[{CONFIGURATIONS[0]}-{CONFIGURATIONS[-1]}]))_)?"
    rf"setup(?P<setup>[{SETUPS[0]}-{SETUPS[-1]}])"
)


class Name(NamedTuple):
    """What a name says.

    way : how it is trained, of `WAYS`; empty for the schedule of the configuration
    difference : of ``authors``, the only difference (`variants.DIFFERENCES`); empty for all
    experiment : of `EXPERIMENTS`, or `APART`
    number : configuration of an experiment of `CROSS`, size of a learning curve, else 0
    setup : of `SETUPS`
    """

    way: str
    difference: str
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
    if found is None or (found["difference"] and found["way"] != AUTHORS):
        raise SettingError(
            f"no data set-up is called {name!r}",
            remedy="write setup1, apart_setup1, curve_100_setup1 or cross_domain_1_setup1, or with"
            f" other numbers; before it may stand {', '.join(f'{way}_' for way in WAYS)} and after"
            f" authors_ one of {', '.join(f'{one}_' for one in DIFFERENCES)}",
        )
    experiment = found["apart"] or found["cross"] or (CURVE if found["size"] else EXPERIMENTS[0])
    number = int(found["configuration"] or found["size"] or 0)
    way, difference = found["way"] or "", found["difference"] or ""
    return Name(way, difference, experiment, number, int(found["setup"]))


def data_name(name: str) -> str:
    """The name of the data that a training reads: without what only decides how it is trained."""
    found = parse(name)
    plain = name.removeprefix(f"{found.way}_").removeprefix(f"{found.difference}_")
    own = found.way == AUTHORS and found.setup > 1 and changes(found.difference)["data"]
    return name if own else plain


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


def single_differences() -> list[str]:
    """The names of the authors' differences one at a time: on set-up 1, or on set-up 2 where they
    need synthetic rows."""
    return [
        f"{AUTHORS}_{one}_setup{2 if changes(one)['data'] or one == 'onward' else 1}"
        for one in DIFFERENCES
    ]


def pairs() -> list[tuple[str, str]]:
    """(name, what it is compared with): the paper's schedule with that of the configuration, twice
    the plateau, the authors' network and each of its differences with the paper's schedule."""
    plain = [*names("cross_validation"), *(name for one in CROSS for name in names(one))]
    found = [(f"{PAPER}_{name}", name) for name in plain]
    found.append((f"{LONGER}_setup1", f"{PAPER}_setup1"))
    found += [(name, f"{PAPER}_setup{parse(name).setup}") for name in single_differences()]
    return found + [(f"{AUTHORS}_setup{k}", f"{PAPER}_setup{k}") for k in SETUPS]


def training_command(name: str) -> str:
    """What trains a set-up, for a row that has no predictions."""
    return f"`snakemake --cores 8 resources/trained/rnn_qe/predictions/{name}.csv.gz`"
