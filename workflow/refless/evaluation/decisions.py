"""What a comparison decides, as data: which method is best, whether it is shown to be ahead of what
does not look at a text, how scores rank, and what may replace a rater.

Everything that a reader sees of it is made from these: the terminal's table, ``comparison.json``,
the page, and the next command.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from refless.evaluation.evaluate import (
    LEAST_COVERAGE,
    LEAST_LEAD,
    LEVEL,
    Comparison,
    criterion,
    strongest,
    text_blind_rows,
)
from refless.evaluation.measures import FEWEST_SYSTEMS
from refless.evaluation.pairs import ranks
from refless.evaluation.read import Rated
from refless.evaluation.replacement import FEWEST_RATERS, YARDSTICKS, replacing
from refless.methods import SCORE_PREFIX, adds_to_surface, is_candidate
from refless.statistics import IntervalEstimate, interval
from refless.statistics.measure import Measure

NO_METHOD = "no_method"
FEW_SYSTEMS = "few_systems"
FEW_CONTEXTS = "few_contexts"
FEW_TEXTS = "few_texts"
NOT_SIGNIFICANT = "not_significant"
SMALL_LEAD = "small_lead"
R_MAY_BE_0 = "r_may_be_0"
SYSTEM_ALONE = "system_alone"
"""Why a method is not shown: nothing covers half of the texts; there are too few different systems,
contexts or texts for a test; corrected p is `LEVEL` or more; the lead is less than `LEAST_LEAD`;
r's interval is not above 0; that of r within systems is not, so that it may know the system
alone."""
FEW_RATERS = "few_raters"
"""A method may not replace a rater, for it was tested against too few raters."""
NOT_CLOSER = "not_closer"
"""A method may not replace a rater, for it is no closer to them than a text-blind method."""
YARDSTICK_PASSES = "yardstick_passes"
"""A method may not replace a rater, for a text-blind method passes as well."""
TOO_FEW_WINS = "too_few_wins"
"""A method may not replace a rater, for it wins against less than half of them."""
UNDEFINED = IntervalEstimate(float("nan"))
DIGITS = 6
"""Numbers in files have so many digits, since the last bits of a sum hang on the machine."""


@dataclass(frozen=True)
class Decision:
    """What is decided of a method on the texts that a split leaves out.

    split, texts : how texts are left out, and their number
    systems : number of systems within which r is measured, if systems are left out
    method, kernel : the method; empty where none covers half of the texts
    r : its correlation with ratings, by `refless.evaluation.evaluate.criterion`
    coverage, covered_r : the share of texts for which it has an estimate, and r of these
    text_blind_method, text_blind_r : the best text-blind method; empty where none is above 0
    lead : how far r is ahead of the best text-blind one of each draw, or of 0
    p, corrected_p, methods : p of the lead, and p corrected for so many methods that were tried
    within_systems : r within systems; None where it is not asked for, by
        `refless.evaluation.evaluate.Comparison.within_systems`
    shown : whether the lead is significant and large enough, and r above 0, within systems, too
    why_not : why it is not shown, a short code of this module; empty where it is
    """

    split: str
    texts: int
    systems: int | None = None
    method: str = ""
    kernel: str = ""
    r: IntervalEstimate = UNDEFINED
    coverage: float = 0.0
    covered_r: float = float("nan")
    text_blind_method: str = ""
    text_blind_r: IntervalEstimate = UNDEFINED
    lead: IntervalEstimate = UNDEFINED
    p: float = float("nan")
    corrected_p: float = float("nan")
    methods: int = 0
    within_systems: IntervalEstimate | None = None
    why_not: str = NO_METHOD

    @property
    def shown(self) -> bool:
        return not self.why_not


@dataclass(frozen=True)
class ScoreDecision:
    """How a score does on new texts, beside text-blind methods and beside the other scores.

    decision : as of any method
    first_rank, last_rank : the ranks among scores that the tests of each two leave open; None where
        there is one score, or no test
    behind : r of the first score less this one's; undefined for the first
    """

    decision: Decision
    first_rank: int | None = None
    last_rank: int | None = None
    behind: IntervalEstimate = UNDEFINED


@dataclass(frozen=True)
class Candidate:
    """Whether a method may replace a rater.

    wins, raters : against how many of the raters who were left out it wins
    texts : on which it was tested
    advantage : share of texts for which it is as close to the other raters as the rater is
    why_not : a short code of this module, empty where it may
    """

    method: str
    kernel: str
    wins: int
    raters: int
    texts: int
    advantage: float
    why_not: str

    @property
    def may_replace(self) -> bool:
        return not self.why_not


@dataclass(frozen=True)
class RaterDecision:
    """What may replace a rater.

    not_tested : a sentence that says why nothing is; empty where it is tested
    passing_yardstick : what does not look at a text and passes the test, too, so that nothing is
        decided; None where the test decides
    candidates : those that are asked about first, which are scores, then the methods
    """

    not_tested: str = ""
    passing_yardstick: Candidate | None = None
    candidates: Sequence[Candidate] = ()


@dataclass(frozen=True)
class Decisions:
    """All that a comparison decides: of each split, the main one first, which method is best and
    whether reading adds to the surface; of scores; of raters."""

    splits: Sequence[Decision]
    reading: Sequence[Decision] = ()
    scores: Sequence[ScoreDecision] = ()
    raters: RaterDecision | None = None

    @property
    def first_shown(self) -> Decision | None:
        """The decision of the first split in which a method is shown."""
        return next((decision for decision in self.splits if decision.shown), None)


def decide(
    comparison: Comparison,
    pairs: pd.DataFrame,
    replacement: pd.DataFrame,
    not_tested: str,
) -> Decisions:
    """Decide everything once.

    pairs : by `refless.evaluation.pairs.pair_table`
    replacement, not_tested : by `refless.evaluation.replacement.replacement_table`
    """
    has_raters = comparison.rated.ratings is not None
    return Decisions(
        splits=[decide_split(comparison, split) for split in comparison.order],
        reading=[decide_reading(comparison, split) for split in comparison.order],
        scores=decide_scores(comparison, pairs),
        raters=decide_raters(replacement, not_tested) if has_raters else None,
    )


def decide_split(comparison: Comparison, split: str) -> Decision:
    """The decision on the method with the greatest r."""
    methods = decide_methods(comparison, split)
    return methods[0] if methods else Decision(split, texts=len(comparison.rated))


def decide_reading(comparison: Comparison, split: str) -> Decision:
    """Whether reading adds to what the surface of a text says: the decision on the method with the
    greatest r of those that stand beside the surface."""
    methods = decide_methods(comparison, split, adds_to_surface)
    return methods[0] if methods else Decision(split, texts=len(comparison.rated))


def decide_methods(
    comparison: Comparison, split: str, asked: Callable[[str], bool] = is_candidate
) -> list[Decision]:
    """A decision on each method that is ``asked`` about and covers half of the texts, that with the
    greatest r first."""
    measure = criterion(split)
    table = comparison.table[comparison.table["split"] == split].dropna(subset=measure)
    chosen = table["method"].map(asked).astype(bool)
    table = table[chosen & (table["coverage"] >= LEAST_COVERAGE)]
    table = table.sort_values(measure, ascending=False, kind="stable")
    return [_decide_row(comparison, row, len(table)) for row in table.to_dict("records")]


def _decide_row(comparison: Comparison, row: Mapping[Any, Any], methods: int) -> Decision:
    """The decision on a row of the table, one of so many methods."""
    split = row["split"]
    key = (row["split"], row["method"], row["kernel"])
    name, r = _best_text_blind(comparison, key)
    decision = Decision(
        split=split,
        texts=int(row["n"]),
        systems=int(row["systems"]) if split == "systems" else None,
        method=row["method"],
        kernel=row["kernel"],
        r=Measure(criterion(split)).estimate(row),
        coverage=float(row["coverage"]),
        covered_r=float(row["pearson_covered"]),
        text_blind_method=name,
        text_blind_r=r,
        lead=Measure("difference").estimate(row),
        p=float(row["p"]),
        corrected_p=float(np.minimum(1, row["p"] * methods)),
        methods=methods,
        within_systems=comparison.within_systems(key),
    )
    return replace(decision, why_not=why_not_shown(decision, comparison.rated))


def _best_text_blind(
    comparison: Comparison, key: tuple[str, str, str]
) -> tuple[str, IntervalEstimate]:
    """The best text-blind method beside a row, and its r; an empty name where none is above 0."""
    split = key[0]
    rivals = {
        rival: comparison.draws_beside(rival, key)
        for rival in text_blind_rows(split, comparison.draws)
    }
    best = strongest(split, rivals)
    if best is None:
        return "", UNDEFINED
    values = rivals[best][criterion(split)]
    low, high = interval(np.clip(values[1:], -1, 1))
    return best[1], IntervalEstimate(float(values[0]), low, high)


def why_not_shown(decision: Decision, rated: Rated) -> str:
    """The definition of *shown*: a code for the first condition that is not met, or nothing. p is
    below `LEVEL` after the correction, the lead is `LEAST_LEAD` or more, and the intervals of r and
    of r within systems lie above 0."""
    if np.isnan(decision.p):
        return _why_not_tested(decision, rated)
    if decision.corrected_p >= LEVEL:
        return NOT_SIGNIFICANT
    if decision.lead.value < LEAST_LEAD:
        return SMALL_LEAD
    if not decision.r.low > 0:
        return R_MAY_BE_0
    within = decision.within_systems
    return "" if within is None or within.low > 0 else SYSTEM_ALONE


def _why_not_tested(decision: Decision, rated: Rated) -> str:
    """What there are too few of."""
    if decision.systems is not None and decision.systems < FEWEST_SYSTEMS:
        return FEW_SYSTEMS
    if rated.one_context_outweighs:
        return FEW_TEXTS if rated.resampled_contexts is None else FEW_CONTEXTS
    if np.isnan(decision.lead.low):
        return FEW_TEXTS
    # an interval of these contexts is no test of the next one
    return FEW_CONTEXTS if decision.split == "contexts" else FEW_TEXTS


def decide_scores(comparison: Comparison, pairs: pd.DataFrame) -> list[ScoreDecision]:
    """A decision on each single score that covers half of the texts, the best first, with its rank
    among them by their pairs alone."""
    scores = {
        decision.method: decision
        for decision in decide_methods(comparison, "texts")
        if decision.method in comparison.rated.scores
    }
    of_scores = pairs["a"].isin(scores) & pairs["b"].isin(scores)
    among = pairs[(pairs["split"] == "texts") & of_scores]
    open_ranks = ranks(among)
    gap = Measure("difference")
    behind = {
        row["b"]: gap.estimate(row)
        for row in among.to_dict("records")
        if row["a"] == next(iter(scores))
    }
    decisions = []
    for name, decision in scores.items():
        first, last = open_ranks.get(name, (None, None))
        decisions.append(ScoreDecision(decision, first, last, behind.get(name, UNDEFINED)))
    return decisions


def decide_raters(table: pd.DataFrame, not_tested: str) -> RaterDecision:
    """What may replace a rater; nothing is decided where one of `YARDSTICKS` passes.

    table, not_tested : by `refless.evaluation.replacement.replacement_table`
    """
    if not_tested:
        return RaterDecision(not_tested)
    tests = table.assign(may=replacing(table)).to_dict("records")
    candidates = [_candidate(test) for test in tests if test["method"] not in YARDSTICKS]
    passing = [test for test in tests if test["method"] in YARDSTICKS and test["passes"]]
    return RaterDecision(
        passing_yardstick=_candidate(passing[0]) if passing else None,
        candidates=sorted(
            candidates, key=lambda candidate: not candidate.method.startswith(SCORE_PREFIX)
        ),
    )


def _candidate(test: Mapping[Any, Any]) -> Candidate:
    """A row of the table, in which ``may`` says whether the method may replace a rater."""
    why_not = ""
    if test["raters"] < FEWEST_RATERS:
        why_not = FEW_RATERS
    elif not test["passes"]:
        why_not = TOO_FEW_WINS
    elif test["ahead"] and not test["beyond_system"]:
        why_not = SYSTEM_ALONE
    elif not test["ahead"]:
        why_not = NOT_CLOSER
    elif not test["may"]:
        why_not = YARDSTICK_PASSES
    return Candidate(
        method=test["method"],
        kernel=test["kernel"],
        wins=int(test["wins"]),
        raters=int(test["raters"]),
        texts=int(test["texts"]),
        advantage=float(test["advantage"]),
        why_not=why_not,
    )


def as_data(value: Any) -> Any:
    """Decisions as JSON has them: a dictionary for each object, with what follows from it; an
    undefined number is None, and draws are left out.

    >>> as_data(IntervalEstimate(0.5))
    {'value': 0.5, 'low': None, 'high': None}
    """
    if is_dataclass(value):
        names = [field.name for field in fields(value) if field.name != "draws"]
        names += [name for name in ("shown", "may_replace") if name in vars(type(value))]
        return {name: as_data(getattr(value, name)) for name in names}
    if isinstance(value, (list, tuple)):
        return [as_data(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
    return value
