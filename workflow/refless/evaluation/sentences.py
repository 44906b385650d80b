"""The words of a comparison: its answer as short tables, and what to know before trusting it."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

import numpy as np
import pandas as pd

from refless.evaluation import decisions
from refless.evaluation.answer import missing_scores
from refless.evaluation.bias import favour_line
from refless.evaluation.decisions import (
    Candidate,
    Decision,
    Decisions,
    RaterDecision,
    ScoreDecision,
)
from refless.evaluation.evaluate import LEAST_LEAD, LEVEL, Comparison
from refless.evaluation.grid import WIDTH, Grid, cut_middle, grid_lines
from refless.evaluation.measures import score_direction
from refless.evaluation.read import Rated
from refless.methods import SCORE_PREFIX, label
from refless.statistics import IntervalEstimate
from refless.statistics.bootstrap import FEWEST_CONTEXTS, FEWEST_EFFECTIVE
from refless.statistics.printed_p import printed_p

MOST_LINES = 30
"""The answer has so many lines at most."""
MOST_ROWS = 8
"""Scores, or candidates for a rater, that the answer lists if it lists one of the two kinds."""
MOST_ROWS_OF_TWO = 5
"""Scores, and candidates for a rater, that it lists if it lists both."""
MOST_OF_A_NAME = 30
"""Columns of a name within a sentence."""
BETWEEN = 0.1
"""Share of the variance between raters from which on it matters."""
VERDICTS = {
    "": "shown",
    decisions.NO_METHOD: "no method that covers half of the texts ranks them",
    decisions.NOT_SIGNIFICANT: "not shown",
    decisions.SMALL_LEAD: f"not shown, the lead is below {LEAST_LEAD:g}",
    decisions.R_MAY_BE_0: "not shown, r may be 0",
    decisions.SYSTEM_ALONE: "not shown, may know its system alone",
    decisions.FEW_SYSTEMS: "not tested, too few systems",
    decisions.FEW_CONTEXTS: "not tested, too few contexts",
    decisions.FEW_TEXTS: "not tested, too few different texts",
}
"""What a reader is told by `Decision.why_not`."""
MAY_REPLACE = {
    "": "yes",
    decisions.FEW_RATERS: "no, of too few raters",
    decisions.NOT_CLOSER: "no, no closer than a text-blind method",
    decisions.SYSTEM_ALONE: "no, may know its system alone",
    decisions.YARDSTICK_PASSES: "no, a text-blind method passes, too",
    decisions.TOO_FEW_WINS: "no",
}
"""What a reader is told by `Candidate.why_not`."""


def answer_lines(rated: Rated, decided: Decisions, bias: pd.DataFrame) -> list[str]:
    """The answer: what was rated, the verdict on each split, scores, whom they favour, and
    raters."""
    lines = [*about(rated)]
    tables = grids(decided)
    for grid in tables:
        lines += grid_lines(grid)
    sentences = [*system_sentences(decided), *rater_sentences(decided.raters)]
    most = MOST_LINES - len(lines) - len(sentences)
    return [*lines, *favour_lines(bias, most), *sentences]


def favour_lines(bias: pd.DataFrame, most: int = 1000) -> list[str]:
    """A sentence a score, of which ``most`` lines may be; the scores that are left are counted."""
    methods = bias["method"].astype(str)
    scores = methods[methods.str.startswith(SCORE_PREFIX)].unique()
    lines: list[str] = []
    for number, score in enumerate(scores):
        wrapped = wrap(favour_line(bias, score), WIDTH, subsequent_indent="  ")
        last = number == len(scores) - 1
        if len(lines) + len(wrapped) + (not last) > most:
            return [*lines, f"{len(scores) - number} more scores in bias.csv"]
        lines += wrapped
    return lines


def grids(decided: Decisions) -> list[Grid]:
    """The tables of the answer: splits, and as far as there are any, scores and raters."""
    tables = [splits_grid(decided.splits)]
    if any(decision.method for decision in decided.reading):
        tables.append(reading_grid(decided.reading))
    candidates: Sequence[Candidate] = ()
    if decided.raters is not None and decided.raters.passing_yardstick is None:
        candidates = decided.raters.candidates
    most = MOST_ROWS_OF_TWO if decided.scores and candidates else MOST_ROWS
    if decided.scores:
        tables.append(scores_grid(decided.scores, most))
    if candidates:
        tables.append(raters_grid(candidates, most))
    return tables


def splits_grid(splits: Sequence[Decision]) -> Grid:
    """Return a grid with a row for each split: the best method and the best text-blind one, each
    with its r. Below each row stands the lead of the first over the second."""
    rows = []
    for decision in splits:
        best = label(decision.method, decision.kernel) if decision.method else "none"
        rows.append(
            (
                decision.split,
                best,
                interval_words(decision.r),
                f"{decision.coverage:.0%}" if 0 < decision.coverage < 1 else "",
                label(decision.text_blind_method) if decision.text_blind_method else "none above 0",
                number_words(decision.text_blind_r.value),
            )
        )
    header = ("left out", "best method", "r", "covers", "best text-blind method", "r")
    return Grid(header, rows, names=(1, 4), below=[*map(lead_words, splits)])


def reading_grid(reading: Sequence[Decision]) -> Grid:
    """Return a grid with a row for each split: what reading a text adds to the best method that
    does not look at it."""
    rows = [
        (
            decision.split,
            label(decision.method) if decision.method else "none",
            short_lead_words(decision),
        )
        for decision in reading
    ]
    header = ("left out", "reading beside the surface", "lead over text-blind, corrected p")
    return Grid(header, rows, names=(1,))


def lead_words(decision: Decision) -> str:
    """The lead, its p, and the verdict."""
    words = []
    if decision.method:
        words.append(f"lead {interval_words(decision.lead)}")
    if not np.isnan(decision.corrected_p):
        corrected = printed_p(decision.corrected_p, LEVEL)
        words.append(f"corrected p {corrected} ({decision.methods} methods)")
    return ": ".join(filter(None, (", ".join(words), VERDICTS[decision.why_not])))


def short_lead_words(decision: Decision) -> str:
    """``0.18 (0.02, 0.32), p 0.22: not shown``; p is corrected."""
    verdict = VERDICTS[decision.why_not].partition(",")[0]
    p = decision.corrected_p
    corrected = "" if np.isnan(p) else f", p {printed_p(p, LEVEL)}"
    lead = interval_words(decision.lead)
    return f"{lead}{corrected}: {verdict}" if lead else verdict


def scores_grid(scores: Sequence[ScoreDecision], most: int = MOST_ROWS) -> Grid:
    """Return a grid with a row for each score: its r, its rank among scores, how far it is behind
    the first, and its lead over text-blind methods. Scores beyond ``most`` are only counted."""
    rows = []
    for score in scores[:most]:
        decision = score.decision
        rows.append(
            (
                decision.method,
                interval_words(decision.r),
                rank_words(score.first_rank, score.last_rank),
                interval_words(score.behind),
                short_lead_words(decision),
            )
        )
    header = (
        "score, new texts",
        "r",
        "rank",
        "behind the first",
        "lead over text-blind, corrected p",
    )
    return Grid(header, rows, rest=_rest(len(scores) - most, "scores in pairs.csv"))


def raters_grid(candidates: Sequence[Candidate], most: int = MOST_ROWS) -> Grid:
    """Which candidates may replace a rater."""
    rows = [
        (
            label(candidate.method, candidate.kernel),
            MAY_REPLACE[candidate.why_not],
            f"{candidate.wins} of {candidate.raters} raters",
            f"{candidate.advantage:.0%} of {candidate.texts:,} texts",
        )
        for candidate in candidates[:most]
    ]
    header = ("method", "may replace a rater", "wins against", "as close as a rater on")
    return Grid(header, rows, rest=_rest(len(candidates) - most, "methods in replace.csv"))


def _rest(number: int, what: str) -> str:
    return f"{number} more {what}" if number > 0 else ""


def rater_sentences(raters: RaterDecision | None) -> Iterator[str]:
    """Why it is not decided what may replace a rater, where it is not."""
    if raters is None:
        return
    if raters.not_tested:
        yield f"may replace a rater: not tested, for {raters.not_tested}"
    elif (passing := raters.passing_yardstick) is not None:
        name = "a constant" if passing.method == "constant" else label(passing.method)
        wins = f"{passing.wins} of {passing.raters} raters"
        yield f"may replace a rater: not decided, so would {name} (it wins against {wins})"


def system_sentences(decided: Decisions) -> Iterator[str]:
    """r within systems of the first method that is not shown since it may know its system alone;
    the others are counted."""
    every = [*decided.splits, *decided.reading, *(score.decision for score in decided.scores)]
    failing = {
        label(decision.method, decision.kernel): decision.within_systems
        for decision in every
        if decision.why_not == decisions.SYSTEM_ALONE and decision.within_systems is not None
    }
    if not failing:
        return
    name, within = next(iter(failing.items()))
    r = interval_words(within) or "has no interval"
    line = f"{cut_middle(name, MOST_OF_A_NAME)} may know its system alone: r within systems {r}"
    rest = len(failing) - 1
    yield f"{line}; {rest} more" if rest else line


def number_words(value: float) -> str:
    """``0.24``; nothing for NaN."""
    return "" if np.isnan(value) else f"{value:.2f}"


def interval_words(estimate: IntervalEstimate) -> str:
    """``0.24 (0.10, 0.37)``; nothing for NaN."""
    ends = "" if np.isnan(estimate.low) else f" ({estimate.low:.2f}, {estimate.high:.2f})"
    return number_words(estimate.value) + ends if not np.isnan(estimate.value) else ""


def rank_words(first: int | None, last: int | None) -> str:
    """``1``, or ``2 to 3``."""
    if first is None or last is None:
        return ""
    return f"{first}" if first == last else f"{first} to {last}"


def about(rated: Rated) -> Iterator[str]:
    """What was rated, and how far raters agree."""
    line = f"{len(rated):,} texts"
    for number, noun in ((rated.system, "system"), (rated.context_group, "context")):
        if number is not None:
            groups = len(np.unique(number))
            line += f", {groups:,} {noun}" + "s" * (groups > 1)
    yield line
    if (raters := rated.raters) is not None:
        line = f"{raters.number:,} raters, {raters.ratings_per_text:.2g} ratings a text"
        if np.isnan(raters.icc_single.value):
            yield f"{line}; {raters.repeated} texts with two ratings are too few for an agreement"
        else:
            one, mean = map(interval_words, (raters.icc_single, raters.icc_mean))
            yield f"{line}; ICC of one {one}, of the mean {mean}"


def warnings(rated: Rated, comparison: Comparison) -> Iterator[str]:
    """What a reader has to know before trusting the answer."""
    yield from comparison.kernel_notes
    yield from _scale_and_raters(rated)
    yield from _score_notes(rated, comparison)
    if rated.prompts is None:
        yield (
            "no column context or mr: texts that answer the same may be in training and in the"
            " test, which flatters every method"
        )
    if 1 < (number := rated.contexts) < FEWEST_CONTEXTS:
        yield f"{number} contexts are too few to be resampled: intervals hold for these alone"
    if rated.one_context_outweighs:
        worth = rated.resampling_units.effective
        yield (
            "no intervals and no verdict: one context, or one text, has so many of the rows that"
            f" all are worth {worth:.1f} of one size, fewer than {FEWEST_EFFECTIVE:.0f}"
        )


def _scale_and_raters(rated: Rated) -> Iterator[str]:
    """A scale that nobody gave, and raters who use it differently."""
    if rated.guessed:
        low, high = (f"{round(end, 2):,g}" for end in rated.scale)
        yield f"scale guessed: {low} to {high}{_far(rated)}; --scale gives another"
    if rated.raters is not None and rated.raters.between > BETWEEN:
        share = f"{rated.raters.between:.0%}"
        yield f"{share} of the variance lies between raters: --center-raters takes it off"


def _far(rated: Rated) -> str:
    """What lies at the ends of a scale that a few ratings decide."""
    low, high = np.quantile(rated.quality, [0.01, 0.99])
    if high < 0.5:
        return f" (99% of ratings lie below {rated.to_user_scale(high):,.3g})"
    return f" (99% of ratings lie above {rated.to_user_scale(low):,.3g})" if low > 0.5 else ""


def _score_notes(rated: Rated, comparison: Comparison) -> Iterator[str]:
    """Scores that fall as ratings rise, and those that some texts lack."""
    turned = [
        name
        for name, score in rated.scores.items()
        if ("texts", name, "") in comparison.draws and score_direction(score, rated.quality) < 0
    ]
    if turned:
        yield f"{', '.join(turned)}: lower for better texts, so the sign is turned"
    yield from missing_scores(pd.DataFrame(rated.scores))
