"""A whole comparison: every method under every split."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, stdtr

from refless.errors import SettingError
from refless.evaluation.differences import FixedDraws, Spread, lead
from refless.evaluation.measures import (
    FIXED,
    MOVED,
    WITHIN_SYSTEMS,
    Draws,
    mean_with_spread,
    measure,
)
from refless.evaluation.read import CvSplit, Rated, all_splits
from refless.kernels import unread
from refless.methods import (
    COMBINED,
    METHODS,
    NEIGHBORS,
    NETWORK,
    NETWORKS,
    READS_TEXT,
    SURFACE_PREFIX,
    Making,
    column_name,
    is_candidate,
    is_text_blind,
    label,
    method,
)
from refless.methods.estimators import Folds, cross_fit
from refless.statistics import IntervalEstimate, interval, ratings_saved
from refless.statistics.bootstrap import (
    ENOUGH_UNITS,
    FEWEST_CONTEXTS,
    t_quantile,
)
from refless.statistics.measure import Measure

Array = np.ndarray

Row = tuple[str, str, str]
"""Split, method, kernel."""
Splits = Mapping[str, Sequence[CvSplit]]
"""Name of a split -> its repeats."""
LEVEL = 0.05
"""A corrected p below this level is significant."""
LEAST_COVERAGE = 0.5
"""A method can be the best only if it estimates at least this share of the texts."""
LEAST_LEAD = 0.005
"""Smaller differences of r are printed as 0.00, and are none."""
LEAST_P = 1e-4
"""The smallest p that a tail of Student's t gives."""
PLAIN_MEASURES = ("mse", "mse_of_mean", "coverage", "pearson_covered", "pearson_of_systems")
"""Measures without an interval."""
COLUMNS = [
    "method",
    "kernel",
    "split",
    *Measure("pearson").interval,
    *Measure("spearman").interval,
    *Measure("pearson_by_system").interval,
    "systems",
    *Measure("pairwise_accuracy").interval,
    *PLAIN_MEASURES,
    "ratings_saved",
    "ratings_saved_limit",
    *Measure("difference").interval,
    "p",
    "n",
    "interval_for",
    "reason",
]
"""``difference`` is from the best text-blind method, ``p`` is not corrected (see
`refless.evaluation.decisions`); ``interval_for`` is the ``method``, trained on such a set of
texts, or, of RNN-QE, these ``predictions``."""
KERNELS = ("bleu.char", "bleu.word", "rouge_l.stem")
"""The kernels of neighbors that are compared where nobody names others."""
_MISSING_NAMES = {"context": "context or mr"}
"""What a reader is told of a column that is missing, where that is another word."""


@dataclass(frozen=True)
class ComparisonSettings:
    """What decides a comparison, besides the texts.

    kernels : of neighbors, each with its options
    draws, seed : of the bootstrap; the seed also of the folds
    repeats : of the folds, at most: see `refless.evaluation.read.all_splits`
    left_out : method and kernel, or an empty string -> why it is not tried
    threads : None for as many as the process may use
    networks : what makes RNN-QE's estimates, of the first repeat; None: not tried
    unrated : texts without ratings whose mean predictions would help to estimate
    """

    kernels: Mapping[str, Mapping[str, Any]]
    draws: int = 2000
    seed: int = 0
    repeats: int = 5
    left_out: Mapping[tuple[str, str], str] = field(default_factory=dict)
    threads: int | None = None
    networks: Callable[[Rated, CvSplit], Array] | None = None
    unrated: int | None = None


@dataclass
class Comparison:
    """What a comparison results in.

    table : `COLUMNS`, a row for each split, method and kernel, also if left out
    predictions : a row a text, split and repeat, with a column for each method, empty where it
        abstains
    draws : the measures of each row that has estimates, averaged over repeats
    splits : repeats of each split that there is
    kernel_notes : why kernels are left out
    rated, seed : the texts that were compared, and the seed of what is random
    by_repeat : the measures of each row under each of its repeats
    """

    table: pd.DataFrame
    predictions: pd.DataFrame
    draws: dict[Row, Draws]
    splits: dict[str, list[CvSplit]]
    kernel_notes: list[str]
    rated: Rated
    seed: int
    by_repeat: dict[Row, list[Draws]]
    _means: dict[tuple[Row, int], Draws] = field(default_factory=dict, init=False, repr=False)

    @property
    def order(self) -> list[str]:
        """The splits, the one that matters most first."""
        return [name for name in ("systems", "contexts", "texts") if name in self.splits]

    def draws_beside(self, row: Row, other: Row) -> Draws:
        """The measures of a row, averaged over the repeats that another row has, too."""
        return self.mean_of_first(row, min(len(self.by_repeat[row]), len(self.by_repeat[other])))

    def mean_of_all(self, row: Row) -> Draws:
        """The measures of a row, averaged over all its repeats."""
        return self.mean_of_first(row, len(self.by_repeat[row]))

    def mean_of_first(self, row: Row, n_repeats: int) -> Draws:
        """The measures of a row, averaged over its first repeats."""
        key = row, n_repeats
        if key not in self._means:  # each row is beside many
            repeats = self.by_repeat[row][:n_repeats]
            folds = self.splits[row[0]][0].folds
            learns = method(row[1]).learns
            self._means[key] = mean_with_spread(repeats, self.rated, folds, self.seed, learns)
        return self._means[key]

    def fixed_draws(self, rows: Sequence[Row]) -> list[FixedDraws]:
        """What differences of rows of one split are made of, over the repeats that all have."""
        fewest = min(len(self.by_repeat[row]) for row in rows)
        means = [self.mean_of_first(row, fewest) for row in rows]
        draws = max(len(values[MOVED]) for values in means)
        return [
            FixedDraws(values[FIXED], values[MOVED], method(row[1]).learns).with_draws(draws)
            for row, values in zip(rows, means, strict=True)
        ]

    def spread(self, split: str) -> Spread:
        """How far draws of differences spread under a split."""
        row = next(row for row in self.draws if row[0] == split)
        draws = len(self.draws[row]["pearson"]) - 1
        folds = self.splits[split][0].folds
        units = self.rated.resampling_units.number
        return Spread.of_split(split, folds, units, draws, self.seed)

    def within_systems(self, row: Row) -> IntervalEstimate | None:
        """r within systems, which has to be above 0 where a method is to be shown or to replace a
        rater, since a score that knows its system alone has an r as well; None where systems are
        left out, or most texts are the only ones of their system."""
        if row[0] == "systems" or not self.rated.shares_systems:
            return None
        values = np.clip(self.draws[row][WITHIN_SYSTEMS], -1, 1)
        return IntervalEstimate(float(values[0]), *interval(values[1:]))

    def lead_over_text_blind(self, row: Row) -> Array:
        """How far a row is ahead of the best text-blind method of each draw, or of 0, float64
        (1 + draws,)."""
        candidate, *rivals = self.fixed_draws([row, *text_blind_rows(row[0], self.draws)])
        nothing = FixedDraws.nothing(candidate.draws)
        return np.minimum(lead(candidate, [nothing, *rivals], self.spread(row[0])), 1.0)


def compare(
    rated: Rated,
    settings: ComparisonSettings,
    step: Callable[[int, int, str], None] = lambda done, number, label: None,
) -> Comparison:
    """Compare every method on rated texts; ``step`` is told how many are done, how many there are,
    and what comes next.

    Correlations are within folds, under the split of systems within systems: the mean of each is
    taken off first. A text without an estimate counts with the mean of its training texts;
    ``pearson_covered`` leaves it out. Raises KernelError: a kernel cannot be computed here. Raises
    SettingError: too few draws."""
    splits = all_splits(rated, settings.seed, settings.repeats)
    reasons = _reasons(splits, rated, settings)
    # what the split of texts excludes, every split does
    tried = [row[1:] for row, reason in reasons.items() if row[0] == "texts" and not reason]
    check_draws(settings.draws, sum(is_candidate(name) for name, _ in tried))
    estimates: dict[Row, list[Array]] = {}
    for done, key in enumerate(tried):
        step(done, len(tried), label(*key))
        possible = {name: splits[name] for name in splits if not reasons[name, *key]}
        for name, values in estimate_splits(*key, rated, possible, settings).items():
            estimates[name, *key] = values
    by_repeat = {
        row: _measure_repeats(row, values, rated, splits, settings)
        for row, values in estimates.items()
    }

    comparison = Comparison(
        table=pd.DataFrame(columns=COLUMNS),
        predictions=_predictions(estimates, rated, splits),
        draws={},
        splits=splits,
        kernel_notes=_kernel_notes(reasons),
        rated=rated,
        seed=settings.seed,
        by_repeat=by_repeat,
    )
    # the table is made of the draws, and these of the repeats
    draws = {row: comparison.mean_of_all(row) for row in by_repeat}
    comparison.draws = {row: values for row, values in draws.items() if values["coverage"][0] > 0}
    comparison.table = _table(comparison, reasons, settings)
    return comparison


def _kernel_notes(reasons: Mapping[Row, str]) -> list[str]:
    """Why kernels are left out, each reason once."""
    return list({reason: None for row, reason in reasons.items() if row[1] == NEIGHBORS and reason})


def _table(
    comparison: Comparison, reasons: Mapping[Row, str], settings: ComparisonSettings
) -> pd.DataFrame:
    """`COLUMNS` of each row, measured or left out for a reason."""
    rated = comparison.rated
    draws = comparison.draws
    table = []
    for row, reason in reasons.items():
        cells: dict[str, Any] = dict(zip(("split", "method", "kernel"), row, strict=True))
        cells |= {"n": len(rated), "reason": reason}
        if row in draws:
            cells |= _cells(row, draws[row], rated, settings)
            if not is_text_blind(row[1]) and np.isfinite(draws[row]["pearson"][0]):
                gap = comparison.lead_over_text_blind(row)
                cells |= interval_columns("difference", gap)
                cells["p"] = difference_p(gap, row[0], rated)
            cells["interval_for"] = "predictions" if row[1] == NETWORKS else "method"
        elif not reason:
            cells["reason"] = "it has no estimate for any text"
        table.append(cells)
    return pd.DataFrame(table, columns=COLUMNS)


def check_draws(draws: int, tests: int) -> None:
    """Raises SettingError: too few draws to correct p for so many tests."""
    least = round(2 / LEVEL) * tests
    if draws < least:
        message = f"{draws} draws are too few to correct p for all methods"
        raise SettingError(message, remedy=f"give {least} draws or more")


def compared_methods(rated: Rated, settings: ComparisonSettings) -> list[tuple[str, str]]:
    """Name and kernel of each method that is compared on these texts, in the order of the table."""
    keys: list[tuple[str, str]] = []
    for name in METHODS:
        if name == NEIGHBORS:
            keys += [(NEIGHBORS, kernel) for kernel in settings.kernels]
        elif name == COMBINED:
            keys += [(score, "") for score in rated.scores]
            keys += [(SURFACE_PREFIX + score, "") for score in rated.scores]
            keys += [(COMBINED, "")] * (len(rated.scores) > 1)
        elif name == NETWORKS:
            keys += [(NETWORKS, "")] * (settings.networks is not None)
        elif name != "human" or rated.human is not None:
            keys.append((name, ""))
    return keys


def _reasons(splits: Splits, rated: Rated, settings: ComparisonSettings) -> dict[Row, str]:
    """Return for every row of the table why its method is not tried: a sentence, which is empty
    where the method is tried."""
    keys = dict.fromkeys([*compared_methods(rated, settings), *settings.left_out])
    return {
        (name, *key): reason_not_tried(*key, rated, settings, name)
        for name in splits
        for key in keys
    }


def reason_not_tried(
    name: str, kernel: str, rated: Rated, settings: ComparisonSettings, split: str
) -> str:
    """Why a method is not tried in a split: a sentence, or nothing."""
    if reason := settings.left_out.get((name, kernel)):
        return reason
    if name == NEIGHBORS:
        number, sentence = unread(kernel, rated.texts)
        return sentence if 2 * number > len(rated) else ""
    tried = method(name)
    has_columns = {
        "system": rated.system is not None,
        "references": rated.references is not None,
        "human": rated.human is not None,
        # networks read a context even where all texts have the same
        "context": (rated.prompts if tried.kind == NETWORK else rated.context) is not None,
    }
    if missing := [column for column in tried.needs if not has_columns.get(column, True)]:
        return f"the ratings have no {_MISSING_NAMES.get(missing[0], missing[0])}"
    if split == "systems" and tried.kind == READS_TEXT and tried.system_offset:
        return "a new system has no ratings yet"
    return ""


def estimate_splits(
    name: str, kernel: str, rated: Rated, splits: Splits, settings: ComparisonSettings
) -> dict[str, list[Array]]:
    """Return for each split a method's estimates under each repeat of its folds.

    name, kernel : the method, and its kernel if it is neighbors
    rated : the rated texts
    splits : the name of each split, and its repeats

    An array has an estimate for every text, float64 (texts,), NaN where the method abstains.
    Networks, whose training takes long, are tried under the first repeat alone, and a method that
    takes long on many texts under fewer repeats.
    """
    if name == NETWORKS:
        assert settings.networks is not None
        return {split: [settings.networks(rated, repeats[0])] for split, repeats in splits.items()}
    making = Making(
        kernel=kernel,
        options=settings.kernels.get(kernel, {}),
        all_texts=rated.texts,
        threads=settings.threads,
    )

    def make(new_contexts: bool) -> Any:
        return method(name).make(replace(making, new_contexts=new_contexts))

    most = method(name).most_texts
    number = max(1, most // len(rated)) if most else None
    tried = {split: repeats[:number] for split, repeats in splits.items()}
    folds = [
        Folds(part.fold, new_contexts=split == "contexts")
        for split, repeats in tried.items()
        for part in repeats
    ]
    values = iter(cross_fit(make, rated.table, rated.quality, folds))
    return {split: [next(values) for _ in repeats] for split, repeats in tried.items()}


def _measure_repeats(
    row: Row,
    estimates: Sequence[Array],
    rated: Rated,
    splits: Splits,
    settings: ComparisonSettings,
) -> list[Draws]:
    """The measures of a row under each repeat."""
    split, name, _ = row
    score = rated.scores.get(name)  # a user's score ranks as it is, and not by its fitted line
    return [
        measure(values, rated, part, settings.draws, settings.seed, score)
        for values, part in zip(estimates, splits[split], strict=False)
    ]


def _predictions(estimates: Mapping[Row, Sequence[Array]], rated: Rated, splits: Splits) -> Any:
    """A row a text, split and repeat, on the user's scale."""
    frames = []
    for name, parts in splits.items():
        for number, part in enumerate(parts):
            columns: dict[str, Any] = {
                "row": rated.rows,
                "split": name,
                "repeat": part.repeat,
                "fold": part.fold,
                "quality": rated.to_user_scale(rated.quality),
            }
            for (split, *key), values in estimates.items():
                if split == name and number < len(values):
                    columns[column_name(*key)] = rated.to_user_scale(values[number])
            frames.append(pd.DataFrame(columns).dropna(axis=1, how="all"))
    return pd.concat(frames, ignore_index=True)


def criterion(split: str) -> str:
    """The correlation that decides a split."""
    return "pearson_by_system" if split == "systems" else "pearson"


def text_blind_rows(split: str, draws: Mapping[Row, Draws]) -> list[Row]:
    """The text-blind methods that rank texts and cover enough of them to be a rival."""
    return [
        row
        for row, values in draws.items()
        if row[0] == split
        and is_text_blind(row[1])
        and values["coverage"][0] >= LEAST_COVERAGE
        and np.isfinite(values[criterion(split)][0])
    ]


def strongest(split: str, draws: Mapping[Row, Draws]) -> Row | None:
    """The best text-blind method; None where none is above 0, which is what a constant has."""
    values = {row: draws[row][criterion(split)][0] for row in text_blind_rows(split, draws)}
    return max((row for row in values if values[row] > 0), key=values.__getitem__, default=None)


def _cells(
    row: Row,
    values: Draws,
    rated: Rated,
    settings: ComparisonSettings,
) -> dict[str, Any]:
    """The measures of a row."""
    # the mean of a context leaves out a text's own system, and falls as that rises
    if row[1] == "context_mean":
        apart = "pairwise_accuracy", "pearson_of_systems"
        values = {name: value for name, value in values.items() if name not in apart}
    cells: dict[str, Any] = {
        name: float(values[name][0]) for name in PLAIN_MEASURES if name in values
    }
    for name in ("pearson", "spearman", "pearson_by_system", "pairwise_accuracy"):
        if name in values:
            cells |= interval_columns(name, np.clip(values[name], -1, 1))
    if rated.system is not None:
        cells["systems"] = int(rated.system.max()) + 1
    r = float(values["pearson"][0])
    cells["ratings_saved_limit"] = ratings_saved(r)
    if settings.unrated is not None:
        cells["ratings_saved"] = ratings_saved(r, len(rated), settings.unrated)
    return cells


def interval_columns(name: str, values: Array) -> dict[str, float]:
    """The first number with the 95% interval of the others, as columns."""
    low, high = interval(values[1:])
    return Measure(name).cells(IntervalEstimate(float(values[0]), low, high))


def difference_p(gap: Array, split: str, rated: Rated, least: float = LEAST_P) -> float:
    """`p_value` of a difference of correlations under a split, by Student's t with the systems less
    one, or where there are few, the units less one, as degrees of freedom; NaN where texts are
    resampled in place of few contexts, which says nothing of the next context."""
    if split == "contexts" and rated.contexts < FEWEST_CONTEXTS:
        return float("nan")
    freedom = np.inf
    if split == "systems" and rated.system is not None:
        freedom = int(rated.system.max())  # their number less one
    elif rated.resampling_units.number < ENOUGH_UNITS:
        freedom = rated.resampling_units.number - 1
    return p_value(gap, freedom, least)


def p_value(gap: Array, freedom: float = np.inf, least: float = LEAST_P) -> float:
    """Two-sided bootstrap p of a difference, from its draws on the other side of 0; where there are
    none, from Student's t with the width of its interval, but at least ``least``; NaN without
    draws. ``freedom`` is of Student's t."""
    draws = gap[1:]
    if len(draws) == 0:
        return float("nan")
    beyond = min((draws <= 0).sum(), (draws >= 0).sum())
    p = min(1.0, 2 * (beyond + 1) / (len(draws) + 1))
    if beyond:
        return float(p)
    low, high = interval(draws)
    # an interval as narrow as rounding has no width
    error = max((high - low) / 2 / t_quantile(freedom), abs(gap[0]) * 1e-9)
    if error == 0:
        return 1.0
    ratio = -abs(gap[0]) / error
    tail = ndtr(ratio) if np.isinf(freedom) else stdtr(freedom, ratio)
    return float(max(least, min(p, 2 * tail)))
