"""What a comparison says: the sentences of `refless compare`, and its files, in which there is no
text, no time and no path: the same ratings, settings and seed give the same bytes."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Template

from refless import __version__
from refless.evaluation.evaluate import (
    LEAST_COVERAGE,
    LEVEL,
    Comparison,
    criterion,
    learning_curve,
    strongest,
)
from refless.evaluation.measures import FEWEST_SYSTEMS
from refless.evaluation.predict import NETWORKS, TRIVIAL, ComparisonSettings, label
from refless.evaluation.read import Rated
from refless.statistics.bootstrap import FEWEST_CONTEXTS
from refless.store.files import json_text, write_together

BETWEEN = 0.1
"""Share of the variance between raters from which on it matters."""
TABLES = ("comparison.csv", "predictions.csv", "learning_curve.csv")
FILES = (*TABLES, "comparison.json", "report.html")
SHOWN = [
    *("method", "pearson", "pearson_low", "pearson_high", "difference", "p", "mse", "mse_of_mean"),
    *("coverage", "ratings_saved", "ratings_saved_limit", "reason"),
]
"""Columns of the page."""
DIGITS = "%.6g"
"""The last bits of a sum hang on the machine."""


def verdict(comparison: Comparison, split: str) -> dict[Any, Any]:
    """The row of the method with the greatest correlation (`criterion`), of those that are not
    trivial and cover half of the texts; with how many ``methods`` it is the best of, p
    ``corrected`` for them, and whether it is ``shown`` to be ahead of the best trivial one; empty
    where there is none."""
    table, measure = comparison.table, criterion(split)
    rows = table[table["split"] == split].dropna(subset=measure)
    tried = rows[~rows["method"].isin(TRIVIAL) & (rows["coverage"] >= LEAST_COVERAGE)]
    if tried.empty:
        return {}
    best = tried.nlargest(1, measure).iloc[0].to_dict()
    corrected = min(1.0, best["p"] * len(tried))
    above = best["difference"] > 0 and best[f"{measure}_low"] > 0
    shown = bool(corrected < LEVEL and above)
    return {**best, "methods": len(tried), "corrected": corrected, "shown": shown}


def answer(rated: Rated, found: Comparison) -> list[str]:
    """What was rated, how far raters agree, and the verdict on each split, the main one first."""
    return [*about(rated), *(_said(found, name) for name in found.order)]


def about(rated: Rated) -> Iterator[str]:
    """What was rated, and how far raters agree."""
    said = f"{len(rated):,} texts"
    for number, what in ((rated.system, "systems"), (rated.context_group, "contexts")):
        if number is not None:
            many = len(np.unique(number))
            said += f", {many:,} {what if many > 1 else what[:-1]}"
    if rated.guessed:
        low, high = (f"{round(end, 2):,g}" for end in rated.scale)
        said += f"; scale guessed: {low} to {high}{_far(rated)}, --scale gives another"
    yield said
    if (raters := rated.raters) is not None:
        sentence = f"{raters.number:,} raters, {raters.each:.2g} ratings a text"
        if np.isnan(raters.one.value):
            sentence += f"; only {raters.several} texts have two: too few to say how far they agree"
        else:
            one, mean = (
                _interval(icc.value, icc.low, icc.high) for icc in (raters.one, raters.mean)
            )
            sentence += f"; agreement of one rating {one}, of their mean {mean} (ICC)"
        sentence += f"; {raters.between:.0%} of the variance lies between raters"
        yield sentence + (": --center-raters takes it off" if raters.between > BETWEEN else "")


def _far(rated: Rated) -> str:
    """What lies at the ends of a scale that a few ratings decide."""
    low, high = np.quantile(rated.quality, [0.01, 0.99])
    if high < 0.5:
        return f" (99% of ratings lie below {rated.to_user_scale(high):,.3g})"
    return f" (99% of ratings lie above {rated.to_user_scale(low):,.3g})" if low > 0.5 else ""


def _said(comparison: Comparison, split: str) -> str:
    best, rival = verdict(comparison, split), strongest(split, comparison.draws)
    texts, measure = f"({comparison.table['n'][0]:,} texts)", criterion(split)
    if not best:
        return f"new {split}: no method that covers half of the texts ranks them {texts}."
    trivial = "none above 0"
    if rival is not None:
        trivial = f"{label(*rival[1:])} {comparison.draws[rival][measure][0]:.2f}"
    sentence = f"new {split}: {label(best['method'], best['kernel'])} r {_shown(best, measure)}"
    if split == "systems":
        sentence += f", the mean within {best['systems']:.0f} systems"
    sentence += f"; best trivial: {trivial}"
    if np.isnan(best["p"]):
        few_systems = split == "systems" and best["systems"] < FEWEST_SYSTEMS
        # an interval of these contexts is no test of the next one
        few = split if few_systems or np.isfinite(best["difference_low"]) else "texts"
        return f"{sentence}; too few different {few} for a test {texts}."
    sentence += f"; difference {_shown(best, 'difference')}, p {best['p']:.2g}"
    sentence += f", corrected for {best['methods']} methods {best['corrected']:.2g}"
    if best["shown"]:
        return f"{sentence}: shown {texts}."
    close = best["corrected"] >= LEVEL or best[f"{measure}_low"] > 0
    why = "" if close else ", for r may be 0"
    return f"{sentence}: not shown{why} {texts}."


def _shown(row: Mapping[str, float], name: str) -> str:
    return _interval(*(row[f"{name}{end}"] for end in ("", "_low", "_high")))


def _interval(value: float, low: float, high: float) -> str:
    """``0.24 (0.10, 0.37)``."""
    return f"{value:.2f}" + ("" if np.isnan(low) else f" ({low:.2f}, {high:.2f})")


def command(found: Comparison, told: Sequence[str]) -> str:
    """The next command, ready to copy; ``told`` are the files, and how they are read."""
    shown = [own for name in found.order if (own := verdict(found, name)) and own["shown"]]
    if not shown:
        return "next: rate more texts, and compare again"
    split, method, kernel = (shown[0][name] for name in ("split", "method", "kernel"))
    first = "next:" if split == found.order[0] else f"next, for new {split} alone:"
    if method == NETWORKS:
        return f"{first} refless train-qe --ratings {shlex.join(told)} --out mine.npz"
    if kernel or method in ("ridge", "ridge_system"):
        how = f"--kernel {kernel}" if kernel else f"--method {method}"
        ratings, out = f"{shlex.join(told)} {how}", "predicted.tsv"
        while out in map(os.path.basename, told):
            out = f"new_{out}"
        return f"{first} refless score --ratings {ratings} --outputs NEW.tsv --out {out}"
    return f"{first} rate new texts by {label(method)}"


def warnings(rated: Rated, found: Comparison) -> Iterator[str]:
    """What a reader has to know before trusting the answer: three lines at most."""
    if found.unread:
        yield "; ".join(found.unread)
    if rated.prompts is None:
        yield (
            "No column context or mr: texts that answer the same may be in training and in the"
            " test, which flatters every method."
        )
    if 1 < (number := rated.contexts) < FEWEST_CONTEXTS:
        yield f"{number} contexts are too few to be resampled: intervals hold for these alone."


def write_comparison(
    rated: Rated, found: Comparison, settings: ComparisonSettings, folder: Path
) -> None:
    """Write `FILES`, or none of them. Raises OutputError: a file cannot be written."""
    from refless.report.figures import as_address, intervals_figure  # matplotlib takes a second

    said = {"answer": answer(rated, found), "warnings": [*warnings(rated, found)]}
    record = {
        "refless": __version__,
        "scale": list(rated.scale),
        "kernels": list(settings.kernels),
        "draws": settings.draws,
        "seed": settings.seed,
        "repeats": {name: len(own) for name, own in found.splits.items()},
        "shown": {name: verdict(found, name).get("shown", False) for name in found.splits},
        **said,
    }
    named = list(map(label, found.table["method"], found.table["kernel"]))
    table = found.table.assign(method=named)
    parts = {name: _decisive(table[table["split"] == name], name) for name in found.order}
    drawn = pd.concat(list(parts.values()))
    picture = as_address(intervals_figure(drawn, found.order, [*TRIVIAL.values()]))
    views = {name: _view(part) for name, part in parts.items()}
    page = Template(Path(__file__).with_name("report.html").read_text("utf-8"), autoescape=True)
    files = {
        "comparison.json": json_text(record),
        "report.html": page.render(**said, views=views, picture=picture),
    }
    tables = found.table, found.predictions, learning_curve(rated, found, settings)
    for name, table in zip(TABLES, tables, strict=True):
        files[name] = table.to_csv(index=False, lineterminator="\n", float_format=DIGITS)
    write_together({folder / name: text for name, text in files.items()})


def _decisive(table: pd.DataFrame, split: str) -> pd.DataFrame:
    """Rows whose ``pearson`` is the correlation that decides the split."""
    ends = "", "_low", "_high"
    return table.assign(**{f"pearson{end}": table[f"{criterion(split)}{end}"] for end in ends})


def _view(table: pd.DataFrame) -> str:
    """Rows as HTML, the best first."""
    best = table.sort_values("pearson", ascending=False, kind="stable")
    return best[SHOWN].to_html(index=False, border=0, na_rep="", float_format="{:.3g}".format)
