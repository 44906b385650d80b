"""What a comparison says: the sentences of `refless compare`, and its files, in which there is no
text, no time and no path: the same ratings, settings and seed give the same bytes."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refless import __version__
from refless.evaluation import EPSILON, TABLES
from refless.evaluation.answer import Answer, missing_scores
from refless.evaluation.evaluate import (
    LEAST_COVERAGE,
    LEAST_LEAD,
    LEVEL,
    Comparison,
    ComparisonSettings,
    criterion,
    learning_curve,
    strongest,
    trivial_rows,
)
from refless.evaluation.measures import FEWEST_SYSTEMS, score_direction
from refless.evaluation.pairs import ranks, significant
from refless.evaluation.read import Rated
from refless.evaluation.replacement import FEWEST_RATERS, YARDSTICKS, replacing
from refless.methods import METHODS, NETWORKS, column_name, is_text_blind, label
from refless.statistics.bootstrap import FEWEST_CONTEXTS, interval
from refless.statistics.measure import Measure
from refless.statistics.printed_p import printed_p
from refless.store.files import json_text, write_together

BETWEEN = 0.1
"""Share of the variance between raters from which on it matters."""
NAMED = 8
"""Scores or methods that a line names."""
DIGITS = "%.6g"
"""The last bits of a sum hang on the machine."""
NOTE = (
    "Each estimate is of a text that the method has not seen. In brackets: 95% intervals, from the"
    " same draws for all methods. Methods of one rank are not significantly different from its best"
    " (Holm, over all pairs). In the matrix: r of the row less r of the column, * where p is below"
    " 0.05 by Holm. Grey in the picture: trivial methods, which do not read the text. Errors are in"
    " the unit of the ratings, squared."
)


@dataclass(frozen=True, kw_only=True)
class ComparisonAnswer(Answer):
    """What `refless compare` answers; ``table`` is `Comparison.table`."""

    rated: Rated
    comparison: Comparison
    settings: ComparisonSettings
    replacement: pd.DataFrame = field(default_factory=pd.DataFrame)
    epsilon: float = EPSILON

    def to_html(self) -> str:
        from refless.report.figures import as_address, intervals_figure  # matplotlib takes a second

        comparison, views, parts = self.comparison, {}, []
        for split in comparison.order:
            part = _decisive(comparison.table[comparison.table["split"] == split], split)
            pairs = self.pairs[self.pairs["split"] == split]
            parts.append(part.assign(method=list(map(label, part["method"], part["kernel"]))))
            views[f"new {split}"] = _view(part, ranks(pairs))
            views[f"new {split}: each two methods"] = _matrix(pairs)
        rows = pd.concat(parts)
        picture = as_address(intervals_figure(rows, comparison.order, _text_blind_labels()))
        return self._page("Which method predicts these ratings?", views, picture, NOTE)

    def next_command(self, options: Sequence[str]) -> str:
        """As `command`."""
        return command(self.comparison, options)

    def write(self, folder: Path) -> None:
        """Write `FILES`, or none. Raises OutputError: a file cannot be written."""
        comparison, settings = self.comparison, self.settings
        _, no_systems = self.rated.system_grid
        record = {
            "refless": __version__,
            "scale": list(self.rated.scale),
            "kernels": list(settings.kernels),
            "draws": settings.draws,
            "seed": settings.seed,
            "epsilon": self.epsilon,
            "repeats": {name: len(splits) for name, splits in comparison.splits.items()},
            "shown": {
                name: verdict(comparison, name).get("shown", False) for name in comparison.splits
            },
            "no_pairwise_accuracy": no_systems,
            "answer": self.answer.splitlines(),
            "warnings": self.warnings,
        }
        files = {"comparison.json": json_text(record), "report.html": self.to_html()}
        curve = learning_curve(self.rated, comparison, settings)
        tables = self.table, self.pairs, self.replacement, comparison.predictions, curve
        for name, table in zip(TABLES, tables, strict=True):
            files[name] = table.to_csv(index=False, lineterminator="\n", float_format=DIGITS)
        write_together({folder / name: text for name, text in files.items()})


def _text_blind_labels() -> list[str]:
    return [entry.label for name, entry in METHODS.items() if is_text_blind(name)]


def verdict(comparison: Comparison, split: str) -> dict[Any, Any]:
    """The first of `verdicts`, or nothing."""
    rows = verdicts(comparison, split)
    return {} if rows.empty else rows.iloc[0].to_dict()


def verdicts(comparison: Comparison, split: str) -> pd.DataFrame:
    """The rows of the methods that are not trivial and cover half of the texts, the greatest
    correlation (`criterion`) first; with the number of these ``methods``, p ``corrected`` for it,
    and whether a method is ``shown`` to be ahead of the best trivial one."""
    table, measure = comparison.table, criterion(split)
    rows = table[table["split"] == split].dropna(subset=measure)
    blind = rows["method"].map(is_text_blind).astype(bool)
    rows = rows[~blind & (rows["coverage"] >= LEAST_COVERAGE)]
    corrected = (rows["p"] * len(rows)).clip(upper=1)
    ahead = (rows["difference"] >= LEAST_LEAD) & (rows[Measure(measure).low] > 0)
    rows = rows.assign(methods=len(rows), corrected=corrected, shown=(corrected < LEVEL) & ahead)
    return rows.sort_values(measure, ascending=False, kind="stable")


def answer(
    rated: Rated,
    comparison: Comparison,
    pairs: pd.DataFrame,
    replacement: pd.DataFrame,
    no_replacement: str,
) -> list[str]:
    """What was rated, how far raters agree, the verdict on each split, the main one first, the
    scores beside each other, and whether a method may replace a rater."""
    lines = [*about(rated), *(_verdict_line(comparison, name) for name in comparison.order)]
    lines += scores_line(rated, comparison, pairs)
    if rated.ratings is not None:
        lines.append(replacement_line(replacement, no_replacement))
    return lines


def scores_line(rated: Rated, comparison: Comparison, pairs: pd.DataFrame) -> list[str]:
    """One score against the best trivial method on new texts, if another method is the best, two
    against each other, or the ranks of several."""
    names = {*rated.scores}
    tried = verdicts(comparison, "texts")
    if tried["method"].isin(names).sum() == 1:
        return [
            f"{row['method']}, new texts: r {_shown(row, 'pearson')}; difference from the best"
            f" trivial method {_shown(row, 'difference')}, p corrected for {row['methods']} methods"
            f" {printed_p(row['corrected'], LEVEL)}: {'shown' if row['shown'] else 'not shown'}"
            for row in tried[1:].dropna(subset="p").to_dict("records")
            if row["method"] in names
        ]
    rows = pairs[(pairs["split"] == "texts") & pairs["a"].isin(names) & pairs["b"].isin(names)]
    if rows.empty or rows["p_holm"].isna().all():
        return []
    if len(rows) == 1:
        row = rows.iloc[0].to_dict()
        outcome = "" if significant(rows)[0] else "not "
        line = f"{row['a']} against {row['b']}, new texts: difference {_shown(row, 'difference')},"
        corrected = printed_p(row["p_holm"], LEVEL)
        line += f" p {row['p']:.2g}, corrected for all pairs {corrected}"
        return [f"{line}: {outcome}significantly different"]
    by_rank: dict[int, list[str]] = {}
    for name, rank in [*ranks(rows).items()][:NAMED]:
        by_rank.setdefault(rank, []).append(name)
    parts = [f"{rank} {', '.join(scores)}" for rank, scores in by_rank.items()]
    more = len({*rows["a"], *rows["b"]}) - NAMED
    rest = f"; {more} more in pairs.csv" if more > 0 else ""
    return [
        f"scores by rank, new texts (of one rank, not significantly different): "
        f"{'; '.join(parts)}{rest}"
    ]


def replacement_line(table: pd.DataFrame, reason: str) -> str:
    """Who may replace a rater, and who may not; nobody where a constant may."""
    start = "may replace a rater: "
    if reason:
        return f"{start}not tested, for {reason}"
    wins = table["wins"].astype(str) + " of " + table["raters"].astype(str)
    all_texts = table["texts"] == table["texts"].max()
    tested = table.assign(
        name=list(map(label, table["method"], table["kernel"])),
        wins=wins.where(all_texts, wins + ", of " + table["texts"].astype(str) + " texts"),
        may=replacing(table),
        learned=~table["method"].str.startswith("score_"),
    ).sort_values("learned", kind="stable")  # scores are what is asked about
    yardstick = tested["method"].isin(YARDSTICKS)
    constant = tested[tested["passes"].astype(bool) & yardstick]
    if len(constant):
        first = constant.iloc[0]
        name = "a constant" if first["method"] == "constant" else first["name"]
        return f"{start}not decided, so would {name} ({first['wins']} raters)"
    parts = []
    for may, before in ((True, ""), (False, "not ")):
        rows = tested[(tested["may"] == may) & ~yardstick].to_dict("records")
        listed = [f"{row['name']} ({row['wins']}{_reservation(row)})" for row in rows]
        if listed or may:
            parts.append(before + (", ".join(listed[: NAMED // 2]) or "none"))
        if (more := len(rows) - NAMED // 2) > 0:
            parts[-1] += f", {more} more in replace.csv"
    return f"{start}{'; '.join(parts)} (wins against so many raters)"


def _reservation(test: Mapping[Any, Any]) -> str:
    """Why a method may not replace a rater, whatever it wins."""
    if test["raters"] < FEWEST_RATERS:
        return ", of too few raters"
    return ", no closer than what reads no text" if test["passes"] and not test["may"] else ""


def about(rated: Rated) -> Iterator[str]:
    """What was rated, and how far raters agree."""
    line = f"{len(rated):,} texts"
    for number, noun in ((rated.system, "system"), (rated.context_group, "context")):
        if number is not None:
            groups = len(np.unique(number))
            line += f", {groups:,} {noun}" + "s" * (groups > 1)
    if rated.guessed:
        low, high = (f"{round(end, 2):,g}" for end in rated.scale)
        line += f"; scale guessed: {low} to {high}{_far(rated)}, --scale gives another"
    yield line
    if (raters := rated.raters) is not None:
        sentence = f"{raters.number:,} raters, {raters.ratings_per_text:.2g} ratings a text"
        if np.isnan(raters.icc_single.value):
            sentence += (
                f"; only {raters.repeated} texts have two: too few to say how far they agree"
            )
        else:
            one, mean = (
                _interval(icc.value, icc.low, icc.high)
                for icc in (raters.icc_single, raters.icc_mean)
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


def _verdict_line(comparison: Comparison, split: str) -> str:
    best = verdict(comparison, split)
    texts, measure = f"({comparison.table['n'][0]:,} texts)", criterion(split)
    if not best:
        return f"new {split}: no method that covers half of the texts ranks them {texts}."
    trivial, row = "none above 0", (split, best["method"], best["kernel"])
    rivals = trivial_rows(split, comparison.draws)
    draws = {rival: comparison.draws_beside(rival, row) for rival in rivals}
    if (rival := strongest(split, draws)) is not None:
        trivial = f"{label(*rival[1:])} {draws[rival][measure][0]:.2f}"
    sentence = f"new {split}: {label(best['method'], best['kernel'])} r {_shown(best, measure)}"
    if split == "systems":
        sentence += f", the mean within {best['systems']:.0f} systems"
    if best["coverage"] < 1:
        sentence += f", covers {best['coverage']:.0%} (r {best['pearson_covered']:.2f} there)"
    sentence += f"; best trivial: {trivial}"
    if np.isnan(best["p"]):
        few_systems = split == "systems" and best["systems"] < FEWEST_SYSTEMS
        # an interval of these contexts is no test of the next one
        lacking = split if few_systems or np.isfinite(best["difference_low"]) else "texts"
        return f"{sentence}; too few different {lacking} for a test {texts}."
    sentence += f"; difference {_shown(best, 'difference')}, p {best['p']:.2g}"
    corrected = printed_p(best["corrected"], LEVEL)
    sentence += f", corrected for {best['methods']} methods {corrected}"
    if best["shown"]:
        return f"{sentence}: shown {texts}."
    why = ""
    if best["corrected"] < LEVEL and 0 < best["difference"] < LEAST_LEAD:
        why = f", for the difference is below {LEAST_LEAD:g}"
    elif best["corrected"] < LEVEL and not best[Measure(measure).low] > 0:
        why = ", for r may be 0"
    return f"{sentence}: not shown{why} {texts}."


def _shown(row: Mapping[Any, float], name: str) -> str:
    return _interval(*(row[column] for column in Measure(name).interval))


def _interval(value: float, low: float, high: float) -> str:
    """``0.24 (0.10, 0.37)``."""
    return f"{value:.2f}" + ("" if np.isnan(low) else f" ({low:.2f}, {high:.2f})")


def command(comparison: Comparison, options: Sequence[str]) -> str:
    """The next command, ready to copy; ``options`` are the files, and how they are read."""
    best_of = {name: verdict(comparison, name) for name in comparison.order}
    decided = [name for name, best in best_of.items() if best.get("shown")]
    if not decided:
        return "next: rate more texts, and compare again"
    split, best = decided[0], best_of[decided[0]]
    first = "next" if split == comparison.order[0] else f"next, shown for new {split}"
    if best["method"] == NETWORKS:
        return f"{first}: refless train-qe --ratings {shlex.join(options)} --out mine.npz"
    kernel, method = best["kernel"], best["method"]
    choice = f"--kernel {kernel}" if kernel else f"--method {shlex.quote(method)}"
    choice += " --new-contexts" if split == "contexts" else ""
    ratings, out = f"{shlex.join(options)} {choice}", "predicted.tsv"
    while out in map(os.path.basename, options):
        out = f"new_{out}"
    return f"{first}: refless score --ratings {ratings} --outputs NEW.tsv --out {out}"


def warnings(rated: Rated, comparison: Comparison, replacement: pd.DataFrame) -> Iterator[str]:
    """What a reader has to know before trusting the answer: three lines at most."""
    if comparison.kernel_notes:
        yield "; ".join(comparison.kernel_notes)
    notes = [*_score_notes(rated, comparison)]
    if mapped := [*replacement.loc[replacement["mapped"].astype(bool), "method"]]:
        notes.append(f"{', '.join(mapped)}: of another unit, mapped to ratings by a line")
    if notes:
        yield "; ".join(notes)
    if rated.prompts is None:
        yield (
            "No column context or mr: texts that answer the same may be in training and in the"
            " test, which flatters every method."
        )
    if 1 < (number := rated.contexts) < FEWEST_CONTEXTS:
        yield f"{number} contexts are too few to be resampled: intervals hold for these alone."


def _score_notes(rated: Rated, comparison: Comparison) -> Iterator[str]:
    """Scores that fall as ratings rise, and those that some texts lack."""
    fold = comparison.splits["texts"][0].fold
    turned: list[str] = []
    for name, score in rated.scores.items():
        draws = comparison.draws.get(("texts", name, ""))
        against = score_direction(score, rated.quality, fold) < 0
        if draws is not None and against and interval(draws["pearson"][1:])[0] > 0:
            turned.append(name)
    if turned:
        yield f"{', '.join(turned)}: lower for better texts, so the sign is turned"
    yield from missing_scores(pd.DataFrame(rated.scores))


def _decisive(table: pd.DataFrame, split: str) -> pd.DataFrame:
    """Rows whose ``pearson`` is the correlation that decides the split."""
    columns = zip(Measure("pearson").interval, Measure(criterion(split)).interval, strict=True)
    return table.assign(**{name: table[decisive] for name, decisive in columns})


def _view(table: pd.DataFrame, rank: Mapping[str, int]) -> str:
    """Rows as HTML, the best first; what covers few texts, or was not tried, is last."""
    keys = map(column_name, table["method"], table["kernel"])
    view = pd.DataFrame(
        {
            "method": list(map(label, table["method"], table["kernel"])),
            "rank": [str(rank.get(key, "")) for key in keys],
            "r": _intervals(table, "pearson"),
            "ahead of trivial": _intervals(table, "difference"),
            **{name: table[name] for name in ("p", "mse", "mse_of_mean", "coverage")},
            "pairs of systems": _intervals(table, "pairwise_accuracy"),
            "saves at most": table["ratings_saved_limit"],
            "why not": table["reason"],
        }
    )
    few = table["coverage"].fillna(0) < LEAST_COVERAGE
    order = np.lexsort([-table["pearson"].fillna(-2), few])
    view = view.iloc[order].replace("", np.nan).dropna(axis=1, how="all")
    return view.to_html(index=False, border=0, na_rep="", float_format="{:.3g}".format)


def _intervals(table: pd.DataFrame, name: str) -> list[str]:
    rows = table[Measure(name).interval].astype(float).to_numpy()
    return ["" if np.isnan(value) else _interval(value, low, high) for value, low, high in rows]


def _matrix(pairs: pd.DataFrame) -> str:
    """Differences of r as HTML, the best method first."""
    if pairs.empty:
        return ""
    cells = [
        f"{gap:.2f}" + (" *" if differs else "")
        for gap, differs in zip(pairs["difference"], significant(pairs), strict=True)
    ]
    names = list(dict.fromkeys([*pairs["a"], *pairs["b"]]))
    table = pairs.assign(cell=cells).pivot_table("cell", "a", "b", aggfunc="first")
    table = table.reindex(index=names[:-1], columns=names[1:]).rename_axis(None, axis=1)
    return table.rename_axis(None).to_html(border=0, na_rep="")
