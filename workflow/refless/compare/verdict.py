"""What the tests say, and what to mind: the sentences of `refless compare`.

Stage: table -> words. In: a comparison. Out: lines.

Of the methods that read the text, and somebody else's scores, the one with the greatest Pearson's
r is tested against the best trivial method by a paired bootstrap; p is multiplied by the number of
methods that it is the best of.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from refless.compare.evaluate import (
    LEVEL,
    Comparison,
    Row,
    difference,
    estimate,
    p_value,
    strongest,
)
from refless.compare.predict import COMBINED, NETWORKS, TRIVIAL, label
from refless.compare.read import Rated
from refless.statistics import ENOUGH_UNITS, Estimate

FEW = 200
"""Different texts below which intervals are mostly too wide to decide between methods."""
FEW_SYSTEMS = 10
ITSELF = 0.96
"""Pearson's r with ratings from which on a score may be made from them."""
BETWEEN = 0.1
"""Share of the variance between raters from which on it matters."""
MOST = 3
"""Warnings that are said."""


@dataclass(frozen=True)
class Verdict:
    """Of one split: the best method (None where none ranks), the best trivial one, their difference
    in Pearson's r, its p, corrected for so many ``methods``, and whether it is ``shown``."""

    split: str
    best: Row | None
    rival: Row | None
    r: Estimate
    rival_r: float
    gap: Estimate
    p: float
    corrected: float
    methods: int
    shown: bool


def verdict(found: Comparison, split: str) -> Verdict:
    """By the rule at the top of this module."""
    r = {row: own["pearson"][0] for row, own in found.draws.items() if row[0] == split}
    tried = [row for row, own in r.items() if row[1] not in TRIVIAL and not np.isnan(own)]
    rival, nothing = strongest(split, found.draws), Estimate(np.nan)
    rival_r = 0.0 if rival is None else r[rival]
    if not tried:
        return Verdict(split, None, rival, nothing, rival_r, nothing, np.nan, np.nan, 0, False)
    best = max(tried, key=lambda row: r[row])
    drawn = difference(found, best, rival)
    gap, own, p = estimate(drawn), estimate(found.draws[best]["pearson"]), p_value(drawn)
    corrected = min(1.0, p * len(tried))
    shown = bool(corrected < LEVEL and gap.value > 0 and own.low > 0)
    return Verdict(split, best, rival, own, rival_r, gap, p, corrected, len(tried), shown)


def answer(rated: Rated, found: Comparison) -> list[str]:
    """What was rated, how far raters agree, and the verdict on each split, the main one first."""
    order = [found.main, *(name for name in found.splits if name != found.main)]
    return [*_about(rated), *(_said(verdict(found, name), len(rated)) for name in order)]


def _about(rated: Rated) -> Iterator[str]:
    said = f"{len(rated):,} texts"
    for number, what in ((rated.system, "systems"), (rated.group, "contexts")):
        said += "" if number is None else f", {len(np.unique(number)):,} {what}"
    if rated.guessed:
        low, high = (f"{round(end, 2):,g}" for end in rated.scale)
        said += f"; scale guessed: {low} to {high}{_far(rated)}, --scale gives another"
    yield said
    if (raters := rated.raters) is not None:
        said = f"{raters.number:,} raters, {raters.each:.2g} ratings a text"
        if not np.isnan(raters.one):
            said += f"; agreement of one rating {raters.one:.2f}, of their mean {raters.mean:.2f}"
            said += f" (ICC), so that r can hardly be above {raters.most:.2f}"
        said += f"; {raters.between:.0%} of the variance lies between raters"
        yield said + (": --center-raters takes it off" if raters.between > BETWEEN else "")


def _far(rated: Rated) -> str:
    """What lies at the ends of a scale that a few ratings decide."""
    low, high = np.quantile(rated.quality, [0.01, 0.99])
    if high < 0.5:
        return f" (99% of ratings lie below {rated.in_unit(high):,.3g})"
    return f" (99% of ratings lie above {rated.in_unit(low):,.3g})" if low > 0.5 else ""


def _said(own: Verdict, n: int) -> str:
    where = f"new {own.split}: "
    if own.best is None:
        return where + f"no method ranks these texts ({n:,} texts)."
    rival = "none above 0" if own.rival is None else f"{label(*own.rival[1:])} {own.rival_r:.2f}"
    text = f"{where}{label(*own.best[1:])} r {shown(own.r)}; best trivial: {rival}"
    if np.isnan(own.p):
        return f"{text}; too few different texts for a test ({n:,} texts)."
    text += f"; difference {shown(own.gap)}, p {own.p:.2g}"
    text += f", corrected for {own.methods} methods {own.corrected:.2g}"
    why = "" if own.corrected >= LEVEL or own.r.low > 0 else ", for r may be 0"
    return f"{text}: {'shown' if own.shown else f'not shown{why}'} ({n:,} texts)."


def shown(value: Estimate) -> str:
    """``0.24 (0.10, 0.37)``."""
    interval = "" if np.isnan(value.low) else f" ({value.low:.2f}, {value.high:.2f})"
    return f"{value.value:.2f}{interval}"


def command(found: Comparison, ratings: Sequence[str]) -> str:
    """The next command, ready to copy; ``ratings`` are the files, and how they are read."""
    files, order = shlex.join(map(str, ratings)), [found.main, *found.splits]
    own = next((one for one in (verdict(found, name) for name in order) if one.shown), None)
    if own is None or own.best is None:
        return "next: rate more texts, and compare again"
    method, kernel = own.best[1:]
    first = "next: " if own.split == found.main else f"next, for new {own.split} alone: "
    if method == NETWORKS:
        return f"{first}refless train-qe --ratings {files} --out mine.npz"
    if method in ("bleu", "delta_bleu", COMBINED) or method.startswith("score_"):
        return f"{first}rate new texts by {label(method)}"
    told = f"--kernel {kernel}" if kernel else f"--method {method}"
    return f"{first}refless score --ratings {files} {told} --outputs NEW.tsv --out rated.tsv"


def warnings(rated: Rated, found: Comparison) -> list[str]:
    """The first `MOST` of what a reader has to know before trusting the answer."""
    return list(_warnings(rated, found))[:MOST]


def _warnings(rated: Rated, found: Comparison) -> Iterator[str]:
    yield from found.unread.values()
    if rated.different < ENOUGH_UNITS:
        yield f"{rated.different} different texts are too few for intervals and tests."
    elif rated.different < FEW:
        yield f"{rated.different} different texts are few, so intervals are wide."
    for name in found.splits:
        own = verdict(found, name)
        inside = found.draws[own.best].get("pearson_within") if own.best and own.shown else None
        if inside is not None and own.best and name != "systems" and not estimate(inside).low > 0:
            yield (
                f"New {name}: {label(*own.best[1:])} may only know which systems are good; among"
                f" texts of one system r is {shown(estimate(inside))}."
            )
    for name, score in rated.scores.items():
        known = ~np.isnan(score)
        varies = known.sum() > 2 and np.ptp(score[known]) and np.ptp(rated.quality[known])
        if varies and abs(np.corrcoef(score[known], rated.quality[known])[0, 1]) > ITSELF:
            yield f"{name} is so close to the ratings that it may be made from them."
    if rated.answers is None:
        yield (
            "No column context or mr: texts that answer the same may be in training and in the"
            " test, which flatters every method."
        )
    systems = 0 if rated.system is None else int(rated.system.max()) + 1
    if 0 < systems < FEW_SYSTEMS:
        yield f"The {systems} systems are not drawn anew: intervals say nothing of the next one."
