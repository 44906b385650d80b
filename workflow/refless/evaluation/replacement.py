"""May a method replace a rater? The alternative annotator test.

Source: Calderon, Reichart and Dror (2025), "The Alternative Annotator Test for LLM-as-a-Judge",
sections 3 and 4.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtr
from scipy.stats import false_discovery_control, mode

from refless.evaluation import EPSILON, OTHER_UNIT, RATING
from refless.evaluation.evaluate import LEAST_COVERAGE, LEVEL, Comparison
from refless.evaluation.read import Rated
from refless.methods import column_name, is_candidate

Array = np.ndarray

FEWEST_SHARED_TEXTS = 30
"""Texts of a rater that another one rated, too, without which the rater is left out."""
FEWEST_RATERS = 3
"""Raters with as many texts, without which no method is tested."""
YARDSTICKS = ("constant", "additive")
"""What passes where raters agree little; then a method's passing says nothing."""
REPLACE_COLUMNS = [
    "method",
    "kernel",
    "passes",
    "winning_rate",
    "wins",
    "raters",
    "advantage",
    "texts",
    "ahead",
    "beyond_system",
    "rescaled",
]
"""``ahead``: closer to the raters than each of `YARDSTICKS`, one-sided p below 0.05;
``beyond_system``: the interval of r within systems lies above 0, or is not asked for, by
`refless.evaluation.evaluate.Comparison.within_systems`; ``rescaled``: a score whose location and
spread were brought to those of the ratings."""


class RaterTest(NamedTuple):
    """The test of one candidate."""

    wins: int  # raters against whom it is shown to be no worse than epsilon
    raters: int  # who were left out in turn
    advantage: float  # mean share of texts for which it is as close to the others as the rater is
    texts: int  # with two ratings or more, and an estimate
    closeness: Array  # of each text, the share of raters than whom it is no further, or NaN

    @property
    def winning_rate(self) -> float:
        return self.wins / self.raters if self.raters else float("nan")

    @property
    def passes(self) -> bool:
        return self.winning_rate >= 0.5


def rater_test(
    ratings: Array,
    candidate: Array,
    epsilon: float = EPSILON,
    scoring: Literal["rmse", "accuracy"] = "rmse",
) -> RaterTest:
    """Test a candidate against each rater who is left out.

    ratings : float64 (texts, raters), NaN: not rated
    candidate : float64 (texts,), in the unit of the ratings, NaN: none
    scoring : how close an answer is to those of the other raters: by the root of the mean squared
        difference, or by the share that is equal
    """
    rated = ~np.isnan(ratings)
    unit = np.abs(ratings[rated]).max(initial=0) or 1.0  # what is rounded below has none
    ratings = ratings / unit
    candidate = candidate / unit
    usable = (rated.sum(axis=1) >= 2) & ~np.isnan(candidate)
    p = []
    advantages = []
    no_further = np.full(ratings.shape, np.nan)
    for rater in range(ratings.shape[1]):
        rows = usable & rated[:, rater]
        if rows.sum() < FEWEST_SHARED_TEXTS:
            continue
        others = np.delete(ratings[rows], rater, axis=1)
        method = _distance(candidate[rows], others, scoring)
        person = _distance(ratings[rows, rater], others, scoring)
        no_further[rows, rater] = method <= person
        p.append(_lower_p((person <= method).astype(float) - (method <= person), epsilon))
        advantages.append((method <= person).mean())
    wins = int((false_discovery_control(p, method="by") <= LEVEL).sum()) if p else 0
    advantage = float(np.mean(advantages)) if p else float("nan")
    share = np.nansum(no_further, axis=1) / np.maximum((~np.isnan(no_further)).sum(axis=1), 1)
    closeness = np.where(np.isnan(no_further).all(axis=1), np.nan, share)
    return RaterTest(wins, len(p), advantage, int(usable.sum()), closeness)


def _distance(answer: Array, others: Array, scoring: str) -> Array:
    """Return how far each answer is from the ratings of the others, float64 (texts,).

    answer : one answer a text, float64 (texts,)
    others : the others' ratings, float64 (texts, raters); NaN where somebody did not rate a text
    scoring : ``accuracy`` for the share of ratings that are not equal to the answer; anything else
        for the mean of the squared differences
    """
    if scoring == "accuracy":
        away = np.where(np.isnan(others), np.nan, answer[:, None] != others)
    else:
        away = (answer[:, None] - others) ** 2
    return np.asarray(np.round(np.nanmean(away, axis=1), 12))  # equal ones tie


def _nearest(answers: Array, ratings: Array) -> Array:
    """The nearest rating that there is to each answer, (n,), NaN where it is; the lower of two."""
    ascending = np.unique(ratings[~np.isnan(ratings)])
    between = (ascending[1:] + ascending[:-1]) / 2
    return np.where(np.isnan(answers), np.nan, ascending[np.searchsorted(between, answers)])


def _lower_p(values: Array, bound: float) -> float:
    """One-sided p of Student's t test that the mean is below a bound."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    gap = values.mean() - bound
    return float(stdtr(len(values) - 1, gap / error)) if error else float(gap >= 0)


def replacement_table(
    rated: Rated,
    comparison: Comparison,
    epsilon: float = EPSILON,
    score_unit: str = OTHER_UNIT,
) -> tuple[pd.DataFrame, str]:
    """`REPLACE_COLUMNS` of `YARDSTICKS` and every method that covers half of the texts, with its
    first estimates of new texts. A score is `rescaled` in each fold's training part; with the
    ``score_unit`` `RATING` it is taken as it is. Each answer counts as the nearest rating that
    anybody gave, so that it ties as raters do; the constant is the mean, the median or the mode,
    whichever does best. And why it is empty."""
    if rated.ratings is None:
        return pd.DataFrame(columns=REPLACE_COLUMNS), "the ratings have no column rater"
    by_rater = rated.ratings.pivot_table(index="text", columns="rater", values="quality")
    ratings = by_rater.reindex(range(len(rated))).to_numpy()
    enough = rater_test(ratings, rated.to_user_scale(rated.quality)).raters
    if enough < FEWEST_RATERS:
        number = "no rater has" if enough == 0 else f"{enough} of the raters have"
        reason = f"{number} {FEWEST_SHARED_TEXTS} texts that others rated, too"
        return pd.DataFrame(columns=REPLACE_COLUMNS), f"{reason}; {FEWEST_RATERS} must"
    tests = {}
    for method, kernel in _tested_methods(comparison):
        candidate = _answers(rated, comparison, (method, kernel), score_unit)
        answers = [_nearest(candidate, ratings)]
        if method == "constant":
            single = ratings[~np.isnan(ratings)]
            median = np.quantile(single, 0.5, method="lower")
            for value in (median, mode(single).mode):
                answers.append(np.full(len(rated), value))
        tests[method, kernel] = max(
            (rater_test(ratings, answer, epsilon) for answer in answers),
            key=lambda test: (test.winning_rate, test.advantage),
        )
    yardsticks = [tests[name, ""] for name in YARDSTICKS]
    rows = []
    for (method, kernel), test in tests.items():
        within = comparison.within_systems(("texts", method, kernel))
        row = {
            "method": method,
            "kernel": kernel,
            **test._asdict(),
            "passes": test.passes and test.raters >= FEWEST_RATERS,
            "winning_rate": test.winning_rate,
            "ahead": all(_is_closer(test, yardstick) for yardstick in yardsticks),
            "beyond_system": within is None or within.low > 0,
            "rescaled": method in rated.scores and score_unit != RATING,
        }
        rows.append(row)
    table = pd.DataFrame(rows, columns=REPLACE_COLUMNS)
    return table.sort_values(["winning_rate", "advantage"], ascending=False, kind="stable"), ""


def _tested_methods(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """The methods, with their kernels, that are tested: `YARDSTICKS`, and those that may be the
    best one and cover half of the texts."""
    for (split, method, kernel), draws in comparison.draws.items():
        candidate = is_candidate(method) or method in YARDSTICKS
        if split == "texts" and candidate and draws["coverage"][0] >= LEAST_COVERAGE:
            yield method, kernel


def _answers(
    rated: Rated, comparison: Comparison, of_method: tuple[str, str], score_unit: str
) -> Array:
    """What a method, with its kernel, says of each text in the place of a rater, float64 (n,)."""
    score = rated.scores.get(of_method[0])
    if score is None:
        values = comparison.predictions
        first = values[(values["split"] == "texts") & (values["repeat"] == 0)]
        return first[column_name(*of_method)].to_numpy(np.float64)
    if score_unit == RATING:
        return score
    fold = comparison.splits["texts"][0].fold
    return rescaled(score, rated.to_user_scale(rated.quality), fold)


def _is_closer(test: RaterTest, yardstick: RaterTest) -> bool:
    """Whether a method is shown to be closer to the raters than a yardstick is."""
    gap = yardstick.closeness - test.closeness
    return _lower_p(gap[~np.isnan(gap)], 0) < LEVEL


def rescaled(score: Array, quality: Array, fold: Array) -> Array:
    """A score with the mean and the standard deviation of the ratings, both of each fold's training
    part; of a score that falls as ratings rise there, the sign is turned. A line of least squares
    would shrink it to the mean, which the squared error of the test rewards, so that the unit of a
    score would decide.

    score, quality : float64 (texts,), a score NaN where there is none
    fold : int64 (texts,)

    >>> fold = np.array([0, 0, 1, 1])
    >>> rescaled(np.array([10.0, 30, 20, 40]), np.array([1.0, 3, 2, 4]), fold)
    array([1., 3., 2., 4.])
    """
    values = np.full(len(score), np.nan)
    for number in range(int(fold.max()) + 1):
        training = (fold != number) & ~np.isnan(score)
        if not training.any():
            continue
        x = score[training]
        y = quality[training]
        deviation = x.std()
        slope = np.sign((x - x.mean()) @ (y - y.mean())) * y.std() / deviation if deviation else 0.0
        candidates = fold == number
        values[candidates] = y.mean() + slope * (score[candidates] - x.mean())
    return values


def replacing(table: pd.DataFrame) -> pd.Series:
    """Which methods may replace a rater, bool (methods,): those that pass, are closer to the raters
    than what does not read a text, and tell texts of a system apart; none where one of `YARDSTICKS`
    passes."""
    passes = table["passes"].astype(bool)
    decided = not passes[table["method"].isin(YARDSTICKS)].any()
    return passes & table[["ahead", "beyond_system"]].astype(bool).all(axis=1) & decided
