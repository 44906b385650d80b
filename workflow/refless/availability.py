"""The plan of a run: of each result, whether it is computed, taken as shipped, or cannot be had.

Stage: none. In: what can be had (`Facts`), what is shipped, what each result is computed from.
Out: a `Plan`, made once when the rules are read and asked for nothing but data: no file is looked
at and no address asked after that. Tested without Snakemake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

COMPUTED, SHIPPED, ABSENT = "computed", "shipped", "absent"
TRAINED = "rnn_qe:"
"""Before the name of a training of RNN-QE, where `Facts.kernels` says why it does not run; alone,
why nothing of RNN-QE can be had."""
COMPARED = "comparison"
"""In place of that name: the networks of the comparison."""


@dataclass(frozen=True)
class Reason:
    """Why something cannot be had.

    code : one word for programs, e.g. ``raw_file_missing``
    sentence : what is missing, without a full stop
    remedy : what a user can do about it, as an instruction without a full stop
    """

    code: str
    sentence: str
    remedy: str = ""

    def __str__(self) -> str:
        return said(asdict(self))


def said(reason: Mapping[str, Any]) -> str:
    """A reason, as plain data, in words."""
    return "; ".join(filter(None, (reason["sentence"], reason["remedy"])))


NOT_SHIPPED = Reason(
    "not_shipped", "it does not come with refless", "set `numbers: computed` to compute it"
)
AFTER_OTHERS = "do what the other reasons say, then set `numbers: auto`"
LEFT_OUT = Reason(
    "left_out",
    "the configuration leaves this kernel out for this data set",
    "take it off the data set's `skip_kernels`",
)

NO_DATA_SET = Reason(
    "no_data_set",
    "no data set of the configuration takes part in this",
    "add it to the `experiments` of one under `data`",
)


@dataclass(frozen=True)
class Facts:
    """What can be had, as data for JSON: a cluster's jobs get it from the run that started them.

    numbers : ``computed``, ``auto`` or ``shipped``
    tasks : data set -> why its raw data cannot be had; empty if they can
    kernels : kernel -> why it cannot be computed; empty if it can
    left_out : data set -> kernels that the configuration leaves out
    """

    numbers: str
    tasks: Mapping[str, Collection[Reason]]
    kernels: Mapping[str, Collection[Reason]]
    left_out: Mapping[str, Collection[str]] = field(default_factory=dict)

    def to_json(self) -> str:
        """The facts as one line."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, line: str) -> Facts:
        """The facts of a line by `to_json`."""
        raw = json.loads(line)
        for part in ("tasks", "kernels"):
            raw[part] = {
                name: [Reason(**one) for one in reasons] for name, reasons in raw[part].items()
            }
        return cls(**raw)


@dataclass(frozen=True)
class Need:
    """What a kind of result is computed from, by names or by the wildcards of its path.

    tasks : data sets whose raw data are needed
    kernels : kernels that are computed on the way
    """

    tasks: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()


class Plan:
    """Where each result comes from.

    Parameters
    ----------
    facts : what can be had
    needs : pattern of a path, with wildcards like ``{task}`` -> what it is computed from
    shipped : paths that come with refless, under the names that they have in ``results``
    """

    def __init__(self, facts: Facts, needs: Mapping[str, Need], shipped: Collection[str]) -> None:
        self.facts = facts
        self._shipped = frozenset(shipped)
        self._needs = [(path_pattern(path), need) for path, need in needs.items()]

    def origin(self, path: str) -> str:
        """``computed``, ``shipped`` or ``absent``."""
        if not self._against(path):
            return COMPUTED
        # what the configuration leaves out is not taken either
        left_out = {LEFT_OUT, NO_DATA_SET} & set(self._against(path))
        return SHIPPED if path in self._shipped and not left_out else ABSENT

    def there(self, paths: Iterable[str]) -> list[str]:
        """Those of the results that are computed or taken."""
        return [path for path in paths if self.origin(path) != ABSENT]

    def computed(self, paths: Iterable[str]) -> list[str]:
        """Those of the results that this run computes."""
        return [path for path in paths if self.origin(path) == COMPUTED]

    def missing(self, paths: Iterable[str]) -> list[dict[str, Any]]:
        """Why results cannot be had, for `refless.report.publish`: plain data, one entry a reason.

        ``of`` has what the result is about (the wildcards of its path); ``code``, ``sentence`` and
        ``remedy`` are the reason's.
        """
        return [
            {"of": self._match(path)[0], **asdict(reason)}
            for path in paths
            if self.origin(path) == ABSENT
            for reason in self._against(path)
        ]

    def lacking(self, kernels: Iterable[str]) -> list[dict[str, Any]]:
        """The same for kernels that a result does without."""
        return [
            {"of": {"kernel": kernel}, **asdict(reason)}
            for kernel in kernels
            for reason in self.facts.kernels.get(kernel, ())
        ]

    @cached_property
    def taken(self) -> list[str]:
        """The shipped files that this run takes."""
        return sorted(path for path in self._shipped if self._taken(path))

    def _taken(self, path: str) -> bool:
        return any(pattern.fullmatch(path) for pattern, _ in self._needs) and (
            self.origin(path) == SHIPPED
        )

    def _match(self, path: str) -> tuple[dict[str, str], Need]:
        for pattern, need in self._needs:
            found = pattern.fullmatch(path)
            if found:
                return found.groupdict(), need
        raise KeyError(f"nothing is known about how {path} is made; see workflow/rules/common.smk")

    def _against(self, path: str) -> list[Reason]:
        """Why a result cannot be computed, each reason once."""
        names, need = self._match(path)
        tasks = [task.format(**names) for task in need.tasks]
        kernels = [kernel.format(**names) for kernel in need.kernels]
        # a shipped file may be of a data set that was taken out of the configuration
        if not tasks or not set(tasks) <= set(self.facts.tasks):
            return [NO_DATA_SET]
        reasons: list[Reason] = []
        for task in tasks:
            if set(kernels) & set(self.facts.left_out.get(task, ())):
                reasons.append(LEFT_OUT)
        others = [why for task in tasks for why in self.facts.tasks[task]]
        others += [why for kernel in kernels for why in self.facts.kernels.get(kernel, ())]
        if self.facts.numbers == SHIPPED:
            reasons.append(replace(NOT_SHIPPED, remedy=AFTER_OTHERS) if others else NOT_SHIPPED)
        return list(dict.fromkeys(reasons + others))


def needs(settings: Any) -> dict[str, Need]:
    """What each kind of result is computed from; results made of others alone are not here.

    ``settings`` is `refless.settings.Settings`. A new kind of result that may be shipped, or may
    be impossible, is one line here.
    """
    essays = tuple(settings.tasks("essays"))
    rnn_qe = tuple(settings.tasks("rnn_qe"))
    first = settings.bleu_neighbors.models["bleu"].kernels[0]
    return {
        "results/ratings/{task}/texts.csv": Need(("{task}",)),
        "results/ratings/{task}/ratings.csv": Need(("{task}",)),
        "results/neighbors/{task}/{kernel}.csv": Need(("{task}",), ("{kernel}",)),
        "results/curves/{task}/data_size.csv": Need(("{task}",), (first,)),
        "results/cross_task/{source}.{target}.csv": Need(("{source}", "{target}")),
        "results/essays/estimates.csv": Need(essays),
        "results/delta_bleu/{task}/units.csv": Need(("{task}",)),
        "results/comparison/{task}.csv": Need(("{task}",)),
        "results/comparison/networks/{task}.csv": Need(("{task}",), (f"{TRAINED}{COMPARED}",)),
        "results/rnn_qe/outputs.csv": Need(rnn_qe, (TRAINED,)),
        "results/rnn_qe/curve.csv": Need(rnn_qe, (TRAINED,)),
        "results/rnn_qe/predictions/{name}.csv.gz": Need(rnn_qe, (TRAINED, f"{TRAINED}{{name}}")),
    }


def path_pattern(path: str) -> re.Pattern[str]:
    """A path with wildcards as a regular expression; a wildcard holds anything but a slash."""
    parts = re.split(r"\{(\w+)\}", path)
    named = [f"(?P<{part}>[^/]+)" if i % 2 else re.escape(part) for i, part in enumerate(parts)]
    return re.compile("".join(named))
