"""What the tests say, and what to mind: the sentences of `refless compare`.

Stage: table -> words. In: a comparison. Out: lines.

Of the methods that read the text, and somebody else's scores, the one with the greatest Pearson's
r is tested against the best trivial method by a paired bootstrap; p is multiplied by the number of
methods that it is the best of.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from refless.compare.evaluate import Comparison, Settings
from refless.compare.predict import NETWORKS, TRIVIAL, label
from refless.compare.read import Rated

LEVEL = 0.05
FEW_SYSTEMS = 10
BETWEEN = 0.1
"""Share of the variance between raters from which on it matters."""


def verdict(found: Comparison, split: str) -> dict[Any, Any]:
    """By the rule at the top of this module, the row of the best method, with how many ``methods``
    it is the best of, p ``corrected`` for them, and whether it is ``shown`` to be ahead; empty
    where no method ranks the texts."""
    table = found.table[found.table["split"] == split]
    tried = table[~table["method"].isin(TRIVIAL) & table["pearson"].notna()]
    if tried.empty:
        return {}
    best = tried.nlargest(1, "pearson").iloc[0].to_dict()
    corrected = min(1.0, best["p"] * len(tried))
    shown = bool(corrected < LEVEL and best["difference"] > 0 and best["pearson_low"] > 0)
    return {**best, "methods": len(tried), "corrected": corrected, "shown": shown}


def answer(rated: Rated, found: Comparison) -> list[str]:
    """What was rated, how far raters agree, and the verdict on each split, the main one first."""
    return [*about(rated), *(_said(found, name, len(rated)) for name in found.order)]


def about(rated: Rated) -> Iterator[str]:
    """What was rated, and how far raters agree."""
    said = f"{len(rated):,} texts"
    for number, what in ((rated.system, "systems"), (rated.group, "contexts")):
        if number is not None:
            many = len(np.unique(number))
            said += f", {many:,} {what if many > 1 else what[:-1]}"
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


def _said(found: Comparison, split: str, n: int) -> str:
    own, rival = verdict(found, split), found.rivals[split]
    if not own:
        return f"new {split}: no method ranks these texts ({n:,} texts)."
    trivial = "none above 0"
    if rival is not None:
        trivial = f"{label(*rival[1:])} {found.draws[rival]['pearson'][0]:.2f}"
    best = label(own["method"], own["kernel"])
    text = f"new {split}: {best} r {_shown(own, 'pearson')}; best trivial: {trivial}"
    if np.isnan(own["p"]):
        return f"{text}; too few different texts for a test ({n:,} texts)."
    text += f"; difference {_shown(own, 'difference')}, p {own['p']:.2g}"
    text += f", corrected for {own['methods']} methods {own['corrected']:.2g}"
    why = "" if own["corrected"] >= LEVEL or own["pearson_low"] > 0 else ", for r may be 0"
    return f"{text}: {'shown' if own['shown'] else f'not shown{why}'} ({n:,} texts)."


def _shown(row: Mapping[str, float], name: str) -> str:
    """``0.24 (0.10, 0.37)``."""
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    return f"{value:.2f}" + ("" if np.isnan(low) else f" ({low:.2f}, {high:.2f})")


def command(
    found: Comparison, settings: Settings, ratings: Sequence[str], score: Sequence[str]
) -> str:
    """The next command, ready to copy.

    ratings : the files, and how every command reads them; score : options of ``refless score``
    """
    shown = [own for name in found.order if (own := verdict(found, name)) and own["shown"]]
    if not shown:
        return "next: rate more texts, and compare again"
    split, method, kernel = (shown[0][name] for name in ("split", "method", "kernel"))
    first = "next:" if split == found.order[0] else f"next, for new {split} alone:"
    if method == NETWORKS:
        return f"{first} refless train-qe --ratings {shlex.join(ratings)} --out mine.npz"
    if kernel or method in ("ridge", "ridge_system"):
        told = ["--kernel", kernel] if kernel else ["--method", method]
        for name, value in settings.options.get(kernel, {}).items():
            told += [f"--{name}", str(value)]
        told = [*ratings, *score, *told]
        return (
            f"{first} refless score --ratings {shlex.join(told)} --outputs NEW.tsv --out rated.tsv"
        )
    return f"{first} rate new texts by {label(method)}"


def warnings(rated: Rated, found: Comparison) -> list[str]:
    """What a reader has to know before trusting the answer: three lines at most."""
    said = ["; ".join(found.unread)] if found.unread else []
    if rated.answers is None:
        said.append(
            "No column context or mr: texts that answer the same may be in training and in the"
            " test, which flatters every method."
        )
    systems = 0 if rated.system is None else int(rated.system.max()) + 1
    if 0 < systems < FEW_SYSTEMS:
        said.append(
            f"The {systems} systems are not drawn anew: intervals say nothing of the next one."
        )
    return said
