"""Where a score is wrong: by how much, mapped to ratings, it misses each system (`error`), and what
a system, length or punctuation gets from it at equal true quality (`favour`).

Stage: comparison. In: scores and ratings of the same texts. Out: one table, and a line a score.

An error contains regression to the mean: any estimate of that correlation overrates weak systems
and underrates strong ones. Favour does not. A score is impartial if what is expected of it at a
given true quality depends on neither system nor length. A mean rating is quality with noise, so a
regression on ratings would leave to the systems what noise hides of their quality; it is corrected
for the noise that shows where a text was rated twice, and a score may be a curve of quality.

What it cannot see: where one rater alone rates a system, their severity is favour, too; where
nobody rated a text twice, favour is as if ratings were exact, and an impartial score is called
partial as soon as systems differ and ratings are noisy.

Source: `refless.statistics.measurement_error` and `refless.statistics.clustered`.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtr

from refless.evaluation.evaluate import LEVEL, Comparison
from refless.methods import NETWORK, READS_TEXT, column_name
from refless.methods import method as method_of
from refless.models.baselines import Line
from refless.statistics.bootstrap import (
    IntervalEstimate,
    ResamplingUnits,
    t_quantile,
    training_factor,
)
from refless.statistics.clustered import clustered_covariance, ratio_interval
from refless.statistics.correlation import NOISE
from refless.statistics.measure import Measure
from refless.statistics.measurement_error import (
    DEGREE,
    CorrectedRegression,
    corrected_regression,
    rating_noise,
)
from refless.statistics.multiple_tests import holm

Array = np.ndarray

SYSTEM = "system"
LENGTH = "length"
"""Favour of long texts is given per `WORDS` words."""
PUNCTUATION = "punctuation"
"""Favour of punctuation is given per `CHARACTERS`, a share of a text's characters."""
WORDS = 10
CHARACTERS = 0.01
FEWEST_UNITS = 6.0
"""Resampling units of equal weight that an interval takes at least."""
EXACT = "if ratings were exact"
"""Note of a favour where no noise of raters could be estimated."""
BIAS_COLUMNS = [
    "method",
    "kind",
    "group",
    "n",
    *Measure("error").interval,
    *Measure("error_left_out").interval,
    *Measure("favour").interval,
    "p",
    "p_holm",
    "reliability",
    "note",
]
"""``error`` is the mean of estimate less rating, ``error_left_out`` the same where no text of the
system was in training; ``p`` is that the favour is 0, ``p_holm`` corrected over the whole table;
``reliability`` is the share of true quality in the variance of mean ratings within systems and
lengths, NaN where it is not known."""


@dataclass(frozen=True)
class BiasTexts:
    """Rated texts, each array with one entry a text, (n,), in the unit of the ratings.

    quality : float64, the mean of its ratings
    units : what is resampled whole, such as contexts
    words : number of words; punctuation : share of characters, in [0, 1]
    system : its name; None: one system, or nobody says
    ratings : single ratings with ``text``, from 0, ``rater`` and ``quality``; None: not known
    """

    quality: Array
    units: ResamplingUnits
    words: Array
    punctuation: Array
    system: Array | None = None
    ratings: pd.DataFrame | None = None

    def __len__(self) -> int:
        return len(self.quality)

    @property
    def system_number(self) -> Array:
        """The number of each text's system in the order of names, int64 (n,)."""
        if self.system is None:
            return np.zeros(len(self), np.int64)
        return np.unique(self.system, return_inverse=True)[1]

    def select(self, chosen: Array) -> "BiasTexts":
        """The texts that are ``chosen``, bool (n,)."""
        crossed = None if self.units.crossed is None else self.units.crossed[chosen]
        ratings = self.ratings
        if ratings is not None:
            place = np.cumsum(chosen) - 1
            ratings = ratings[chosen[ratings["text"]]]
            ratings = ratings.assign(text=place[ratings["text"]])
        return replace(
            self,
            quality=self.quality[chosen],
            units=ResamplingUnits(self.units.primary[chosen], crossed),
            words=self.words[chosen],
            punctuation=self.punctuation[chosen],
            system=None if self.system is None else self.system[chosen],
            ratings=ratings,
        )


class BySplit(NamedTuple):
    """One array where texts are left out and one where systems are: the fold of each text, int64
    (n,), or its estimate, float64 (n,), NaN where a method abstains. ``systems`` is None where no
    system can be left out."""

    texts: Array
    systems: Array | None = None


def punctuation_shares(texts: Sequence[str]) -> Array:
    """The share of each text's characters that are punctuation, float64 (n,); 0 of an empty text.

    >>> punctuation_shares(["So?!", "so", ""])
    array([0.5, 0. , 0. ])
    """
    shares = []
    for text in texts:
        marks = sum(unicodedata.category(character).startswith("P") for character in text)
        shares.append(marks / max(len(text), 1))
    return np.array(shares, np.float64)


# ---- favour --------------------------------------------------------------------------------------


class Effect(NamedTuple):
    """What may be favoured, and its column among the covariates."""

    kind: str
    group: str
    n: int  # texts
    column: int = -1
    reason: str = ""  # why it has no favour


def covariates_of(texts: BiasTexts) -> tuple[Array, list[Effect]]:
    """A column for each system, or one constant, and for length and punctuation as far as they
    differ within systems, float64 (n, covariates); and what each is."""
    n = len(texts)
    system = texts.system_number
    columns = [(system == number).astype(np.float64) for number in range(system.max() + 1)]
    effects = []
    if texts.system is not None:
        for column, name in enumerate(np.unique(texts.system)):
            written = columns[column]
            spread = clustered_covariance(np.zeros((n, 1)), written, texts.units)
            few = spread.freedom + 1 < FEWEST_UNITS
            reason = "too few independent texts" if few else ""
            effects.append(Effect(SYSTEM, str(name), int(written.sum()), column, reason))
    for kind, per, values in (
        (LENGTH, f"{WORDS} words", texts.words / WORDS),
        (PUNCTUATION, f"{CHARACTERS:.0%} of characters", texts.punctuation / CHARACTERS),
    ):
        values = values - values.mean()
        others = np.column_stack(columns)
        if _is_sum(values, others):
            effects.append(Effect(kind, per, n, reason="does not differ within systems"))
        else:
            effects.append(Effect(kind, per, n, len(columns)))
            columns.append(values)
    return np.column_stack(columns), effects


def favours(score: Array, texts: BiasTexts) -> list[dict[str, Any]]:
    """What each system, length and punctuation get from a score at equal true quality, in the unit
    of ratings: rows with ``kind``, ``group``, ``n``, the columns of ``favour``, ``p``,
    ``reliability`` and ``note``, which says why there is no favour. A system's is relative to the
    mean of those that have one.

    score : float64 (n,), higher or lower for better texts; NaN: none

    A favour is the effect on the score divided by that of true quality, so that it does not depend
    on the unit of the score, and a score that is compressed is not favourable to weak systems.
    """
    scored = np.isfinite(score)
    texts = texts.select(scored)
    score = score[scored]
    if not len(score):
        return []
    covariates, effects = covariates_of(texts)
    noise = rating_noise(texts.ratings, texts.system_number)
    regression = None
    reason = ""
    if len(score) < covariates.shape[1] + DEGREE + FEWEST_UNITS:
        reason = "too few texts"
    elif np.ptp(score) <= NOISE * np.abs(score).max():
        reason = "the score is constant"
    elif _is_sum(score, covariates):
        reason = "the score follows from system, length and punctuation"
    else:
        try:
            regression = corrected_regression(score, texts.quality, covariates, noise)
        except np.linalg.LinAlgError as error:
            reason = str(error)
    systems = [effect.column for effect in effects if effect.kind == SYSTEM and not effect.reason]
    rows = []
    for effect in effects:
        row: dict[str, Any] = {"kind": effect.kind, "group": effect.group, "n": effect.n}
        row["note"] = reason or effect.reason
        if regression is not None:
            row["reliability"] = regression.reliability if noise else float("nan")
            if not row["note"]:
                contrast = np.zeros(len(regression.effects))
                contrast[effect.column] = 1
                if effect.kind == SYSTEM:
                    contrast[systems] -= 1 / len(systems)
                row |= _favour(regression, contrast, texts.units)
                row["note"] = row["note"] or ("" if noise else EXACT)
        rows.append(row)
    return rows


def _is_sum(values: Array, covariates: Array) -> bool:
    """Whether values, float64 (n,), are a constant and a sum of effects of the covariates, float64
    (n, covariates), so that nothing is left beside them.

    >>> words = np.array([[1.0, 3.0], [1.0, 5.0], [1.0, 4.0]])
    >>> _is_sum(np.array([6.0, 10.0, 8.0]), words), _is_sum(np.array([6.0, 10.0, 9.0]), words)
    (True, False)
    """
    away = values - values.mean()
    left = away - covariates @ np.linalg.lstsq(covariates, away, rcond=None)[0]
    return bool(left @ left <= NOISE * (away @ away))


def _favour(
    regression: CorrectedRegression, contrast: Array, units: ResamplingUnits
) -> dict[str, Any]:
    """The cells of one contrast of effects, divided by the effect of true quality."""
    top = float(contrast @ regression.effects)
    slope = float(regression.effects[-1])
    influence = np.column_stack([regression.influence @ contrast, regression.influence[:, -1]])
    spread = clustered_covariance(influence, regression.weight @ contrast, units)
    if spread.freedom + 1 < FEWEST_UNITS:
        return {"note": "too few independent texts"}
    ratio = ratio_interval(top, slope, spread)
    if ratio is None:
        return {"note": "the score is not shown to follow quality within systems"}
    error = np.sqrt(spread.covariance[0, 0])
    p = 2 * stdtr(spread.freedom, -abs(top) / error) if error > 0 else float(top == 0)
    return {**Measure("favour").cells(ratio), "p": float(p)}


# ---- error ---------------------------------------------------------------------------------------


def line_estimates(score: Array, quality: Array, fold: Array) -> Array:
    """A score mapped to ratings by a least squares line, fitted for each fold on the other folds,
    float64 (n,); NaN where there is no score.

    >>> score, fold = np.array([1.0, 2, 3, 4]), np.array([0, 0, 1, 1])
    >>> line_estimates(score, 10 * score, fold)
    array([10., 20., 30., 40.])
    """
    estimates = np.full(len(score), np.nan)
    for k in np.unique(fold):
        line = Line().fit(score[fold != k], quality[fold != k])
        estimates[fold == k] = line.predict(score[fold == k])
    return estimates


def errors(
    estimates: Array, texts: BiasTexts, fold: Array, score: Array | None = None
) -> dict[str, IntervalEstimate]:
    """The mean of estimate less rating of each system, with a 95% interval by Student's t over
    resampling units; without an interval where a system has fewer than `FEWEST_UNITS`.

    estimates : float64 (n,), NaN where a method abstains
    fold : of each text, int64 (n,): none of its texts is in the training of its estimates
    score : what a line was fitted to, float64 (n,), of `line_estimates`: other training texts would
        have given another line, and what each moves it by is in the interval. Of other methods
        (None) it is widened by the share of texts (Nadeau and Bengio 2003, see `training_factor`)
    """
    means: dict[str, IntervalEstimate] = {}
    if texts.system is None:
        return means
    estimated = np.isfinite(estimates)
    names = np.unique(texts.system[estimated])
    written = (texts.system[:, None] == names) & estimated[:, None]  # (n, systems)
    number = written.sum(axis=0)
    gap = np.where(written, (estimates - texts.quality)[:, None], 0)
    values = gap.sum(axis=0) / number
    influence = np.where(written, gap - values, 0) / number
    weight = written / number
    if score is not None:
        of_line, weight_of_line = _line_influence(score, texts.quality, fold, weight)
        influence = influence + of_line
        weight = weight_of_line - weight
    for column, name in enumerate(names):
        value = float(values[column])
        spread = clustered_covariance(influence[:, [column]], weight[:, column], texts.units)
        means[str(name)] = IntervalEstimate(value)
        if spread.freedom + 1 >= FEWEST_UNITS:
            half = t_quantile(spread.freedom) * float(np.sqrt(spread.covariance[0, 0]))
            if score is None:
                folds = np.unique(fold[written[:, column]])
                training = np.mean([(fold != k).sum() for k in folds])
                half *= training_factor(float(training / number[column]))
            means[str(name)] = IntervalEstimate(value, value - half, value + half)
    return means


def _line_influence(score: Array, quality: Array, fold: Array, share: Array) -> tuple[Array, Array]:
    """By how much each text, in the training of lines, moves the mean estimate of each system, of
    which a text is the ``share``, (n, systems); and the weight of its rating there: both (n,
    systems)."""
    influence, weight = np.zeros((2, *share.shape))
    scored = np.isfinite(score)
    for k in np.unique(fold):
        training = (fold != k) & scored
        candidates = (fold == k) & scored
        x = score[training]
        away = x - x.mean()
        left = quality[training] - quality[training].mean()
        squares = away @ away
        leverage = np.tile(share[candidates].sum(axis=0) / len(x), (len(x), 1))
        if squares > 0:
            left = left - (away @ left / squares) * away
            distance = (score[candidates] - x.mean()) @ share[candidates]
            leverage += np.outer(away, distance / squares)
        influence[training] += leverage * left[:, None]
        weight[training] += leverage
    return influence, weight


# ---- the answer ----------------------------------------------------------------------------------


def bias_table(
    texts: BiasTexts,
    scores: Mapping[str, Array],
    folds: BySplit,
    learned: Mapping[str, BySplit] | None = None,
) -> pd.DataFrame:
    """`BIAS_COLUMNS`: of each score, a row for each system, for length and for punctuation; of each
    method that learns from ratings, the errors of each system.

    scores : somebody's, float64 (n,) each, in any unit; NaN: none
    folds : in which texts, and systems, are left out of the training of lines and methods
    learned : the methods' estimates of the texts of each fold, in the unit of ratings
    """
    rows: list[dict[str, Any]] = []
    for method, score in scores.items():
        estimates = BySplit(line_estimates(score, texts.quality, folds.texts))
        if folds.systems is not None:
            left_out = line_estimates(score, texts.quality, folds.systems)
            estimates = estimates._replace(systems=left_out)
        cells = _error_cells(estimates, texts, folds, score)
        for row in favours(score, texts):
            of_error = cells.get(row["group"], {}) if row["kind"] == SYSTEM else {}
            rows.append({"method": method, **row, **of_error})
    for method, estimates in (learned or {}).items():
        for name, cells_of_system in _error_cells(estimates, texts, folds).items():
            written = np.isfinite(estimates.texts) & (texts.system == name)
            row = {"method": method, "kind": SYSTEM, "group": name, "n": int(written.sum())}
            rows.append(row | cells_of_system)
    table = pd.DataFrame(rows, columns=BIAS_COLUMNS)
    table = table.assign(p_holm=holm(table["p"]))
    return table.assign(note=table["note"].fillna(""))


def _error_cells(
    estimates: BySplit, texts: BiasTexts, folds: BySplit, score: Array | None = None
) -> dict[str, dict[str, Any]]:
    """The columns of both errors of each system."""
    cells: dict[str, dict[str, Any]] = {}
    for name, values, fold in zip(("error", "error_left_out"), estimates, folds, strict=True):
        if values is None or fold is None:
            continue
        for system, mean in errors(values, texts, fold, score).items():
            cells.setdefault(system, {}).update(Measure(name).cells(mean))
    return cells


def bias_of_scores(comparison: Comparison) -> pd.DataFrame:
    """`bias_table` of the scores of a comparison, and of the methods that learn from ratings, by
    the folds and estimates of its first repeats; empty without a score."""
    rated = comparison.rated
    if not rated.scores:
        return pd.DataFrame(columns=BIAS_COLUMNS)
    names = None
    if rated.system is not None:
        known = rated.system_names or [str(number) for number in range(rated.system.max() + 1)]
        names = np.array(known, object)[rated.system]
    texts = BiasTexts(
        quality=rated.to_user_scale(rated.quality),
        units=rated.resampling_units,
        words=np.array([len(text.split()) for text in rated.texts], np.float64),
        punctuation=punctuation_shares(rated.texts),
        system=names,
        ratings=rated.ratings,
    )
    first = {split: repeats[0].fold for split, repeats in comparison.splits.items()}
    folds = BySplit(first["texts"], first.get("systems"))
    return bias_table(texts, rated.scores, folds, _learned_estimates(comparison))


def _learned_estimates(comparison: Comparison) -> dict[str, BySplit]:
    """The estimates of methods that read texts and learn from ratings, by the names of files."""
    values = comparison.predictions
    values = values[values["repeat"] == 0]
    by_split = {str(split): rows for split, rows in values.groupby("split")}
    learned = {}
    for split, name, kernel in comparison.draws:
        column = column_name(name, kernel)
        reads = method_of(name).kind in (READS_TEXT, NETWORK)
        if split == "texts" and reads and column in by_split["texts"]:
            systems = by_split.get("systems", pd.DataFrame()).get(column)
            left_out = None if systems is None else systems.to_numpy(np.float64)
            learned[column] = BySplit(by_split["texts"][column].to_numpy(np.float64), left_out)
    return learned


NAMED = 3
"""Groups that a line names, at most, on either side."""
MORE = {LENGTH: "longer texts", PUNCTUATION: "more punctuation"}
LESS = {LENGTH: "shorter texts", PUNCTUATION: "less punctuation"}


def favour_line(table: pd.DataFrame, score: str) -> str:
    """One line about a score of `bias_table`: whom it favours after correction for all tests; else
    that none is shown, with the end of the widest interval, so that this has a size."""
    rows = table[table["method"] == score]
    estimated = rows[rows["favour_low"].notna()]
    if estimated.empty:
        reasons = [note for note in rows["note"] if note]
        reason = reasons[0] if reasons else "no texts"
        return f"{score}: whom it favours cannot be estimated: {reason}"
    exact = f", {EXACT}" if (estimated["note"] == EXACT).any() else ""
    significant = estimated[estimated["p_holm"] < LEVEL]
    if significant.empty:
        return f"{score}: no favour shown ({_widest(estimated)}){exact}"
    significant = significant.sort_values("favour", key=abs, ascending=False, kind="stable")
    significant = significant.sort_values("kind", key=lambda kind: kind != SYSTEM, kind="stable")
    # length and punctuation have a direction, systems a sign
    favoured = significant[(significant["favour"] > 0) | (significant["kind"] != SYSTEM)]
    others = significant.drop(favoured.index)
    parts = [
        f"{verb} {_listed(part)}"
        for verb, part in (("favours", favoured), ("disfavours", others))
        if len(part)
    ]
    return f"{score} {' and '.join(parts)}{exact}"


def _listed(rows: pd.DataFrame) -> str:
    """Each with its interval, but only the first `NAMED` of the systems."""
    systems = rows[rows["kind"] == SYSTEM]
    more = len(systems) - NAMED
    named = rows.drop(systems.index[NAMED:])
    parts = [_described(row) for _, row in named.iterrows()]
    if more > 0:
        parts.insert(NAMED, "one more system" if more == 1 else f"{more} more systems")
    return ", ".join(parts)


def _described(row: Any) -> str:
    """Who gets how much: a size without its sign, which the words have."""
    sign = -1 if row["favour"] < 0 else 1
    name = row["group"]
    per = ""
    if row["kind"] != SYSTEM:
        name = (MORE if sign > 0 else LESS)[row["kind"]]
        per = f" per {row['group']}"
    value = sign * row["favour"]
    low, high = sorted((sign * row["favour_low"], sign * row["favour_high"]))
    numbers = [f"{number:.{_decimals(high - low)}f}" for number in (value, low, high)]
    return f"{name} by {numbers[0]} ({numbers[1]}, {numbers[2]}){per}"


def _decimals(width: float) -> int:
    """Decimals with which an interval of a width has two digits or more.

    >>> [_decimals(width) for width in (40, 4, 0.4, 0.04)]
    [0, 1, 2, 3]
    """
    return int(max(0, 1 - np.floor(np.log10(width)))) if width > 0 else 2


def _widest(rows: pd.DataFrame) -> str:
    """Within what systems, or where there are none, length and punctuation, are alike."""
    ends = rows[["favour_low", "favour_high"]].abs().max(axis=1)
    width = rows["favour_high"] - rows["favour_low"]
    parts = []
    for kind, of_kind in rows.groupby("kind", sort=False):
        number = f"{ends[of_kind.index].max():.{_decimals(width[of_kind.index].max())}f}"
        if kind == SYSTEM:
            return f"systems to within {number}"
        parts.append(f"{kind} to within {number} per {of_kind['group'].iloc[0]}")
    return ", ".join(parts)
